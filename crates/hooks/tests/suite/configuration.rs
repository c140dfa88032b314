//! What a hook can be configured to be, and what is refused before anything is sent.

use std::time::Duration;

use roundtable_domain::HookSettings;
use roundtable_hooks::{Courier, Misconfigured, WebhookJudge};
use roundtable_model::Secret;

use crate::sending::clock;

const SECRET: &str = "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0";
const SECOND: Duration = Duration::from_secs(1);

fn refused(to: &str, secret: Option<&str>, patience: Duration) -> Option<Misconfigured> {
    let secret = secret.map(Secret::new);
    Courier::new(to, secret.as_ref(), patience, clock()).err()
}

#[test]
fn addresses_are_of_the_web_and_name_a_host() {
    for fine in ["http://localhost:8080", "http://[::1]/judge", "https://hook.example/a?b=c"] {
        assert_eq!(refused(fine, None, SECOND), None, "{fine}");
    }
    for (wrong, what) in [
        ("", "is no URL"),
        ("https://", "is no URL"),
        ("http:// hook.example", "is no URL"),
        ("hook.example/judge", "is no URL"),
        ("/judge", "must begin with"),
        ("hook.example", "must begin with"),
        ("ftp://hook.example/", "must begin with"),
        ("file:///etc/passwd", "is no URL"),
        ("https://ana:hush@hook.example/", "must have no name and password"),
        ("https://:8080/", "has no host"),
    ] {
        let told = refused(wrong, None, SECOND).map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains(what), "{wrong}: {told}");
        assert!(!told.contains("hush"));
    }
}

#[test]
fn secrets_are_those_of_the_specification() {
    let url = "http://localhost/";
    assert_eq!(refused(url, Some(SECRET), SECOND), None);
    let (short, long) = ("MTIz".repeat(7), "MTIz".repeat(22));
    for wrong in ["hush", &SECRET[6..], "whsec_", "whsec_%%%%", "whsk_MTIz"]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("whsec_{short}"), format!("whsec_{long}")])
    {
        assert_eq!(refused(url, Some(&wrong), SECOND), Some(Misconfigured::Secret), "{wrong}");
    }
}

#[test]
fn nobody_is_waited_for_for_ever_or_not_at_all() {
    for wrong in [Duration::ZERO, Duration::from_secs(61)] {
        let refused = refused("http://localhost/", None, wrong);
        assert_eq!(refused, Some(Misconfigured::Patience(wrong)));
    }
}

#[test]
fn the_judge_is_the_configured_one() {
    let none = HookSettings::default();
    assert!(WebhookJudge::configured(&none, clock()).unwrap().is_none());
    let url = Some(String::from("https://hook.example/token-of-ana"));
    let hook = HookSettings { url, secret: Some(Secret::new(SECRET)), ..none };
    let judge = WebhookJudge::configured(&hook, clock()).unwrap().unwrap();
    let shown = format!("{judge:?}");
    assert!(shown.contains("hook.example") && shown.contains("5s"), "{shown}");
    assert!(!shown.contains("token-of-ana") && !shown.contains("MTIz"), "{shown}");
    let unsafe_secret = HookSettings { secret: Some(Secret::new("hush")), ..hook };
    assert!(WebhookJudge::configured(&unsafe_secret, clock()).is_err());
}
