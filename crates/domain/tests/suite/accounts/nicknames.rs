//! The rule for new nicknames.

use roundtable_domain::{AccountError, Code, Edit, ProfileChange, Refusal, SignUp};
use roundtable_testkit::Town;

/// Names that look like others or cannot be typed, and the part of the rule that they break. The first has
/// a Cyrillic letter.
const REFUSED: [(&str, &str); 8] = [
    ("аdmin", "letters of one script"),
    ("admin", "not reserved"),
    ("сосо", "cannot be read as Latin letters"),
    ("ana\u{202e}nimda", "letters, digits, `_`, `.` and `-`, found U+202E"),
    ("ana b", "letters, digits, `_`, `.` and `-`, found U+0020"),
    ("<b>ana</b>", "letters, digits, `_`, `.` and `-`, found \"<\""),
    ("ana.", "begins and ends with a letter, a digit or `_`"),
    ("___", "with a letter or digit"),
];

fn renamed(nickname: &str) -> ProfileChange {
    ProfileChange { nickname: Some(nickname.parse().unwrap()), ..ProfileChange::default() }
}

/// The error says which part of the rule was broken.
#[tokio::test]
async fn new_nicknames_follow_the_rule() {
    let town = Town::of(["ana"]).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    for (name, part) in REFUSED {
        let form = SignUp { nickname: name.parse().unwrap(), ..town.sign_up_form("new") };
        let registered = accounts.register(&form, None, None).await.unwrap_err();
        let changed = accounts.update_profile(&ana, &renamed(name), None).await.unwrap_err();
        for refused in [registered, changed] {
            assert_eq!(refused.code(), Code::BadRequest, "{name}");
            assert!(refused.to_string().contains(part), "{name}: {refused}");
        }
    }
    let form = SignUp { nickname: "мария-1".parse().unwrap(), ..town.sign_up_form("new") };
    accounts.register(&form, None, None).await.unwrap();
    accounts.update_profile(&ana, &renamed("Zoë.W_2"), None).await.unwrap();
}

#[tokio::test]
async fn display_names_stay_free() {
    let town = Town::of(["ana"]).await;
    for name in ["admin", "аna б", "Ana <3 😀"] {
        let change = ProfileChange {
            display_name: Edit::Set(name.to_owned()),
            full_name: Edit::Set(name.to_owned()),
            ..ProfileChange::default()
        };
        let ana = town.accounts().update_profile(&town.caller("ana"), &change, None).await.unwrap();
        assert_eq!(ana.display_name.as_deref(), Some(name));
    }
}

/// A name from before the rule is found, signs in, stays through changes of the profile and may change
/// its case; another such name is refused.
#[tokio::test]
async fn existing_nicknames_keep_working() {
    let town = Town::of([]).await;
    town.add_user("ana", |ana| ana.nickname = "Ana #1".parse().unwrap()).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    let found = accounts.by_nickname(None, &"ana #1".parse().unwrap()).await.unwrap();
    assert_eq!(found.unwrap().id, town.id("ana"));
    let change = ProfileChange { bio: Edit::Set(String::from("tea")), ..renamed("Ana #1") };
    accounts.update_profile(&ana, &change, None).await.unwrap();
    let user = accounts.update_profile(&ana, &renamed("ANA #1"), None).await.unwrap();
    assert_eq!((user.nickname.as_str(), user.bio.as_deref()), ("ANA #1", Some("tea")));
    let other = accounts.update_profile(&ana, &renamed("Ana #2"), None).await;
    assert!(matches!(other, Err(AccountError::Failed(_))), "{other:?}");
    accounts.delete_account(&ana, &"ana #1".parse().unwrap()).await.unwrap();
}
