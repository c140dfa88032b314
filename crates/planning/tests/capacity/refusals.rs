//! Invalid rates and prices, and their error messages.

use roundtable_planning::capacity::{CapacityError, Prices, RequestRates};

use super::close;

fn refused(rates: &str) -> String {
    RequestRates::parse(rates).unwrap_err().to_string()
}

/// An unknown name is refused, with the nearest known ones.
#[test]
fn unknown_names_are_refused() {
    assert!(
        refused("[reads]\ntimline = 1").starts_with(
            "reads.timline: there is no such access pattern; the nearest are timeline, "
        )
    );
    assert!(
        refused("[writes]\ncreatepost = 1").starts_with(
            "writes.createpost: there is no such mutation; the nearest are createPost, "
        )
    );
    assert!(refused("[writes]\ncreatePost = { rate = 1, tag = 2 }").starts_with(
        "writes.createPost.tag: there is no such setting here; the nearest are tags, "
    ));
    assert!(
        refused("[[plan]]\nname = 'a'\n[plan.reads]\nprofil = 1")
            .starts_with("plan a: reads.profil: ")
    );
    assert!(refused("[rates]").contains("unknown field `rates`"));
    let twice = "[[plan]]\nname = 'a'\n[[plan]]\nname = 'a'";
    assert!(
        matches!(RequestRates::parse(twice), Err(CapacityError::NamedTwice { name }) if name == "a")
    );
}

/// A setting without effect is refused.
#[test]
fn settings_without_effect_are_refused() {
    for rate in [
        "timeline = { rate = 1, strong = true }",
        "activities = { rate = 1, strong = true }",
        "profile = { rate = 1, partitions = 2 }",
        "profile = { rate = 1, items = 2 }",
        "following = { rate = 1, found = 0.5 }",
    ] {
        let refused = refused(&format!("[reads]\n{rate}"));
        assert!(refused.contains("there is no such setting here"), "{rate}: {refused}");
    }
}

/// Invalid numbers are refused with their key.
#[test]
fn bad_numbers_are_refused() {
    for (rates, key) in [
        ("[reads]\nprofile = -1", "reads.profile: "),
        ("[reads]\nprofile = nan", "reads.profile: "),
        ("[writes]\nlikePost = inf", "writes.likePost: "),
        ("[writes]\nlikePost = 'often'", "writes.likePost: "),
        ("[reads]\nprofile = {}", "reads.profile.rate: "),
        ("[reads]\nprofile = { rate = 1, found = 1.5 }", "reads.profile.found: "),
        ("[reads]\nreplies = { rate = 1, found = 0 }", "reads.replies.found: "),
        ("[reads]\nposts = { rate = 1, items = 0 }", "reads.posts.items: "),
        ("[reads]\nposts = { rate = 1, items = 2.5 }", "reads.posts.items: "),
        ("[reads]\npost = [{ rate = 1 }, { rate = -1 }]", "reads.post[1].rate: "),
        ("[writes]\ncreatePost = { rate = 1, tags = -1 }", "writes.createPost.tags: "),
        ("[[plan]]\nname = 'a'\nrequest_ids = 2", "plan a: request_ids: "),
        ("[[plan]]\nname = 'a'\nestimate_read = 1", "plan a: estimate_write: "),
    ] {
        let refused = refused(rates);
        assert!(refused.starts_with(&format!("{key}expected ")), "{rates}: {refused}");
    }
}

/// Prices are configuration and checked as such.
#[test]
fn prices_are_read_and_checked() {
    let prices = Prices::published().unwrap();
    assert_eq!((prices.region.as_str(), prices.date.as_str()), ("us-east-1", "2024-11-01"));
    close(prices.monthly_read_cost(1.0), 2.628 * 0.125);
    close(prices.monthly_write_cost(1.0), 2.628 * 0.625);
    let bad =
        "region = 'x'\ndate = 'y'\ncurrency = 'EUR'\nread_per_million = -1\nwrite_per_million = 1";
    let refused = Prices::parse(bad).unwrap_err().to_string();
    assert_eq!(refused, "read_per_million: expected a price of zero or more, found -1");
    assert!(
        Prices::parse("region = 'x'").unwrap_err().to_string().contains("missing field `date`")
    );
}
