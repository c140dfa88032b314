use proptest::prelude::*;
use rand::Rng;
use rand::rngs::SmallRng;
use roundtable_table::{Value, item, limits};

use super::*;
use crate::attribute::{
    Attribute, Sample, is_control, round_trips, sample_of, sample_text, seeded,
};
use crate::id::UserId;
use crate::part::key_text;

/// Returns a random name of this rule: long and plain, or with unusual characters, or with an `@`.
pub(super) fn sample_name<T: FromStr>(rule: &NameRule, random: &mut SmallRng) -> T {
    const PLAIN: &[u8] = b"abcXYZ019_.-";
    loop {
        let max = rule.chars_max;
        let text = match random.random_range(0..4) {
            0 => sample_of(random, b"aB9#%", max, max),
            1 => sample_of(random, PLAIN, 1, max),
            2 => {
                format!("{}@{}", sample_text(random, max / 4), sample_of(random, PLAIN, 1, max / 2))
            }
            _ => sample_text(random, max),
        };
        if let Ok(name) = text.parse() {
            return name;
        }
    }
}

impl Sample for RequestCaller {
    fn sample(random: &mut SmallRng) -> Self {
        if random.random() { UserId::sample(random).into() } else { Email::sample(random).into() }
    }
}

fn name<T: FromStr<Err = InvalidValue>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn refused<T: FromStr<Err = InvalidValue> + fmt::Debug>(text: &str) -> String {
    text.parse::<T>().unwrap_err().found
}

#[test]
fn names_are_displayed_as_given_and_folded_in_keys() {
    let nickname: Nickname = name("  Ana #1 ");
    assert_eq!((nickname.to_string(), nickname.as_str()), ("Ana #1".into(), "Ana #1"));
    assert_eq!(format!("{nickname:?}"), "\"Ana #1\"");
    assert_eq!(key_text(&nickname), "ana %231");
    assert_eq!(nickname.fold(), "ana #1");
    let other: Nickname = name("ANA ＃1");
    assert!(nickname.same_as(&other) && nickname != other);
    assert_eq!(key_text(&nickname), key_text(&other));
    assert_eq!(nickname.to_value(), Some(Value::from("Ana #1")));
    assert_eq!(key_text(&name::<RequestId>("Try#1 of 100%")), "Try%231 of 100%25");
    assert!(!name::<InviteCode>("AbC").same_as(&name("abc")));
}

#[test]
fn empty_long_and_control_characters_are_refused() {
    assert_eq!(refused::<Nickname>("  "), "an empty text");
    assert_eq!(refused::<Nickname>("\u{200b}\u{ad}"), "only invisible characters");
    assert_eq!(refused::<Nickname>("a\tb"), "the control character U+0009 in \"a\\tb\"");
    assert_eq!(
        refused::<RequestId>("a\u{2028}b"),
        "the control character U+2028 in \"a\\u{2028}b\""
    );
    assert_eq!(refused::<Nickname>(&"x".repeat(65)), "65 characters");
    assert_eq!(refused::<Nickname>(&"ﬁ".repeat(33)), "66 characters");
    assert_eq!(name::<Nickname>(&"é".repeat(64)).as_str().chars().count(), 64);
    assert_eq!(refused::<RequestId>(&"x".repeat(129)), "129 characters");
    let error = "".parse::<Tag>().unwrap_err();
    assert_eq!(error.to_string(), "expected a tag of 1 to 100 characters, found an empty text");
}

#[test]
fn email_addresses_have_one_at_sign_with_text_on_both_sides() {
    assert_eq!(key_text(&name::<Email>("Ana@Example.ORG")), "ana@example.org");
    for (text, wrong) in [
        ("ana", "no `@`"),
        ("@x.org", "nothing on one side of the `@`"),
        ("ana@", "nothing on one side of the `@`"),
        ("a@b@c", "more than one `@`"),
        ("a＠b@c", "more than one `@`"),
        ("a b@c", "a space"),
    ] {
        assert_eq!(refused::<Email>(text), format!("{wrong} in \"{text}\""));
    }
    let long = format!("{}@x.org", "é".repeat(125));
    assert!(refused::<Email>(&long).starts_with("over 254 bytes"));
    assert!(format!("{}@x.org", "é".repeat(124)).parse::<Email>().is_ok());
}

#[test]
fn tags_begin_after_their_hash() {
    for text in [
        "#Rust",
        "Rust",
        " ＃rust",
        "## rust",
        "# #rust",
        "\u{200b}#rust",
        "#\u{200b}rust",
        "#\u{200d}#\u{feff} rust",
        "\u{2060}rust\u{200b}",
    ] {
        assert_eq!(key_text(&name::<Tag>(text)), "rust", "{text}");
    }
    assert_eq!(name::<Tag>("#C#").as_str(), "C#");
    assert_eq!(key_text(&name::<Tag>("C#")), "c%23");
    assert_eq!(refused::<Tag>("# #"), "an empty text");
    assert_eq!(refused::<Tag>("#\u{200b}#"), "an empty text");
}

#[test]
fn media_keys_cannot_leave_their_directory() {
    assert_eq!(key_text(&name::<MediaKey>("u/01J/Photo-1_a.JPG")), "u/01J/Photo-1_a.JPG");
    assert_eq!(refused::<MediaKey>("a b"), "an invalid character in \"a b\"");
    for text in
        ["u/../secret", "..", ".", "/", "/etc/passwd", "./x", "u/./x", "a//b", "a/", "//", "../x"]
    {
        let wrong = format!("an empty, `.` or `..` segment in \"{text}\"");
        assert_eq!(refused::<MediaKey>(text), wrong);
        let stored = item! { "x" => text };
        assert_eq!(MediaKey::from_value(stored.get("x")).unwrap_err().found, wrong);
    }
    for text in ["u/a..b", "...", "a", ".hidden/x."] {
        assert!(text.parse::<MediaKey>().is_ok(), "{text}");
    }
    assert_eq!(refused::<MediaKey>(&"x".repeat(257)), "257 characters");
}

#[test]
fn stored_names_are_checked_for_what_keys_depend_on() {
    fn stored<T: Attribute>(text: &str) -> Result<T, String> {
        T::from_value(item! { "x" => text }.get("x")).map_err(|error| error.found)
    }
    for text in ["Ana #1", "Zoë", "日本", "e\u{301}", "a\u{200b}b"] {
        assert_eq!(stored::<Nickname>(text), Ok(name(text)));
    }
    for text in ["", " ", "\u{200b}\u{ad}", "a\tb", "é\nb", "é\u{85}b", "b\u{2028}é", "\u{7f}"] {
        assert_eq!(stored::<Nickname>(text), Err(refused::<Nickname>(text)), "{text:?}");
    }
    assert_eq!(stored::<Nickname>(&"é".repeat(65)), Err("65 characters".into()));
    // An id in full-width letters must not be accepted as the e-mail address of a sign-up.
    assert_eq!(stored::<RequestCaller>("ａｎａ"), Err(refused::<RequestCaller>("ａｎａ")));
    assert_eq!(stored::<Email>("ａｎａ"), Err(refused::<Email>("ａｎａ")));
    assert_eq!(stored::<Email>("Zoë@x.org"), Ok(name("Zoë@x.org")));
    assert_eq!(stored::<Tag>("#Rust").map(|tag| tag.to_string()), Ok("Rust".into()));
    assert_eq!(stored::<Queue>("a#b"), Err(refused::<Queue>("a#b")));
}

#[test]
fn the_global_feed_has_a_reserved_name() {
    assert!(FeedName::GLOBAL.is_global() && name::<FeedName>("GLOBAL").is_global());
    assert!(!name::<FeedName>("global").is_global());
    assert_eq!(name::<FeedName>("GLOBAL"), FeedName::GLOBAL);
}

#[test]
fn callers_are_users_or_sign_ups() {
    let (user, email): (UserId, Email) = (name("Ana"), name("Ana@x.org"));
    assert_eq!(key_text(&RequestCaller::from(&user)), "Ana");
    assert_eq!(key_text(&RequestCaller::from(&email)), "ana@x.org");
    assert_eq!(name::<RequestCaller>("Ana"), RequestCaller::from(user));
    assert_eq!(name::<RequestCaller>("Ana@x.org"), RequestCaller::SignUp(email));
    assert_eq!(refused::<RequestCaller>("a#b"), "`#` in \"a#b\"");
}

#[test]
fn all_spellings_of_a_login_name_share_one_key() {
    assert_eq!(key_text(&LoginName::from(&name::<Email>("Ana@X.org"))), "ana@x.org");
    assert_eq!(key_text(&name::<LoginName>("ANA@x.org")), "ana@x.org");
    let address = |text: &str| key_text(&LoginName::from(text.parse::<IpAddr>().unwrap()));
    assert_eq!(address("::ffff:10.0.0.1"), address("10.0.0.1"));
    assert_eq!(address("2001:DB8:0::1"), "2001:db8::1");
}

#[test]
fn issuers_and_subjects_are_those_of_openid_connect() {
    let issuer: IssuerName = name("https://login.example.org/realms/town");
    assert_eq!(key_text(&issuer), "https://login.example.org/realms/town");
    for wrong in
        ["https://login.example.org/#x", "https://login.example.org/%41", "https://ü.example"]
    {
        let found = format!("a character that no issuer has in \"{wrong}\"");
        assert_eq!(refused::<IssuerName>(wrong), found);
    }
    assert_eq!(key_text(&name::<IssuerSubject>("Ana#1 of 100%")), "Ana%231 of 100%25");
    assert_ne!(name::<IssuerSubject>("a"), name("A"));
    assert_eq!(refused::<IssuerSubject>("é"), "a character that is not ASCII in \"é\"");
    assert_eq!(refused::<IssuerSubject>(&"x".repeat(256)), "256 characters");
}

// Identities are listed by both.
const _: () = assert!(
    IssuerName::BYTES_MAX + IssuerSubject::BYTES_MAX < limits::SORT_KEY_BYTES_MAX - 50,
    "the listing key of an identity has a prefix and a time as well"
);

#[test]
fn static_names_are_constants() {
    const FANOUT: Queue = Queue::from_static("fan-out");
    assert_eq!(name::<Queue>("fan-out"), FANOUT);
    assert_eq!(Purpose::from_static("access_token.v1").as_str(), "access_token.v1");
    let wrong = "a character other than `A-Za-z0-9_.-` in \"fan out\"";
    assert_eq!(refused::<ProcessorName>("fan out"), wrong);
}

#[test]
fn names_serialize_as_text() {
    let email: Email = name("Ana@x.org");
    assert_eq!(serde_json::to_string(&email).unwrap(), "\"Ana@x.org\"");
    assert_eq!(serde_json::from_str::<Email>("\"Ana@x.org\"").unwrap(), email);
    assert!(serde_json::from_str::<Email>("\"Ana\"").is_err());
}

// The longest keys of the schema still have room for their prefixes.
const _: () = assert!(
    RequestCaller::BYTES_MAX + RequestId::BYTES_MAX < limits::PARTITION_KEY_BYTES_MAX - 100
);
const _: () = assert!(MediaKey::BYTES_MAX < limits::SORT_KEY_BYTES_MAX - 100);

/// Checks the properties of every name type.
fn holds<T>(random: &mut SmallRng) -> Result<(), TestCaseError>
where
    T: Attribute + Sample + KeyPart + FromStr<Err = InvalidValue> + Ord + fmt::Display + fmt::Debug,
{
    let one = round_trips::<T>(random)?;
    let key = key_text(&one);
    prop_assert!(!key.is_empty() && key.len() <= T::BYTES_MAX, "{:?}", one);
    prop_assert!(!key.contains('#') && !key.chars().any(is_control), "{:?}", key);
    prop_assert!(one.to_string().parse::<T>().is_ok_and(|same| same == one), "{:?}", one);
    let other = T::sample(random);
    match key.cmp(&key_text(&other)) {
        Ordering::Equal => {}
        order => prop_assert_eq!(one.cmp(&other), order),
    }
    prop_assert_eq!(one.cmp(&other) == Ordering::Equal, one == other);
    Ok(())
}

proptest! {
    #[test]
    fn every_name_fits_into_keys_and_reads_back(seed: u64) {
        let random = &mut seeded(seed);
        holds::<Email>(random)?;
        holds::<Nickname>(random)?;
        holds::<Handle>(random)?;
        holds::<Tag>(random)?;
        holds::<FeedName>(random)?;
        holds::<InviteCode>(random)?;
        holds::<MediaKey>(random)?;
        holds::<RequestId>(random)?;
        holds::<LoginName>(random)?;
        holds::<IssuerName>(random)?;
        holds::<IssuerSubject>(random)?;
        holds::<Queue>(random)?;
        holds::<ProcessorName>(random)?;
        holds::<StreamShard>(random)?;
        holds::<Purpose>(random)?;
        holds::<RequestCaller>(random)?;
    }

    #[test]
    fn no_stored_text_makes_a_key_that_parsing_would_refuse(
        text in "[ -~\t\u{85}é＃﹟ａ＠\u{200b}\u{2028}日]{0,12}|\\PC{0,12}"
    ) {
        fn same<T: Attribute + KeyPart + FromStr<Err = InvalidValue>>(text: &str) -> Result<(), TestCaseError> {
            let stored = T::from_value(item! { "x" => text }.get("x"));
            let parsed = text.parse::<T>();
            prop_assert_eq!(stored.map(|name| key_text(&name)), parsed.map(|name| key_text(&name)));
            Ok(())
        }
        same::<Email>(&text)?;
        same::<Nickname>(&text)?;
        same::<Tag>(&text)?;
        same::<FeedName>(&text)?;
        same::<MediaKey>(&text)?;
        same::<RequestId>(&text)?;
        same::<Queue>(&text)?;
        same::<RequestCaller>(&text)?;
    }

    #[test]
    fn any_text_is_a_name_or_refused(text: String) {
        if let Ok(nickname) = text.parse::<Nickname>() {
            prop_assert_eq!(nickname.as_str(), text.trim());
            prop_assert!(key_text(&nickname).len() <= Nickname::BYTES_MAX);
            let folded: Nickname = name(&nickname.fold());
            prop_assert_eq!(key_text(&folded), key_text(&nickname));
        }
        if let Ok(tag) = text.parse::<Tag>() {
            prop_assert!(!tag.fold().starts_with('#'), "{:?}", tag);
        }
        let _ = (text.parse::<Email>(), text.parse::<MediaKey>());
    }
}
