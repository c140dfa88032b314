//! Profile updates (R6, R31, R32).

use roundtable_domain::{
    Code, Edit, PageInput, ProfileChange, Settings, ShardCount, ShardSettings,
};
use roundtable_model::entities::User;
use roundtable_model::{FollowStatus, Shards, Tag};
use roundtable_testkit::Town;

use super::{code, request};

fn text(text: &str) -> Edit<String> {
    Edit::Set(text.to_owned())
}

fn tags(tags: &[&str]) -> ProfileChange {
    let tags = tags.iter().map(|tag| tag.parse().unwrap()).collect();
    ProfileChange { tags: Some(tags), ..ProfileChange::default() }
}

async fn update(town: &Town, name: &str, change: &ProfileChange) -> User {
    town.accounts().update_profile(&town.caller(name), change, None).await.unwrap()
}

/// R31: absent fields stay, null clears.
#[tokio::test]
async fn an_update_changes_what_it_mentions() {
    let town = Town::of(["ana"]).await;
    let before = town.accounts().me(&town.caller("ana")).await.unwrap().unwrap();
    town.advance_ms(5);
    let nothing = update(&town, "ana", &ProfileChange::default()).await;
    let expected = User { version: before.version + 1, updated_at: town.now(), ..before.clone() };
    assert_eq!(nothing, expected);

    let change = ProfileChange {
        full_name: text("Ana F."),
        display_name: Edit::Clear,
        bio: text("   "),
        birth_date: Edit::Set("2000-02-29".parse().unwrap()),
        country: text("BR"),
        language: Edit::Clear,
        gender: text("woman"),
        pronouns: text("they/them"),
        is_private: Some(true),
        ..ProfileChange::default()
    };
    let after = update(&town, "ana", &change).await;
    assert_eq!(after.full_name.as_deref(), Some("Ana F."));
    assert_eq!((&after.display_name, &after.bio, &after.language), (&None, &None, &None));
    assert_eq!(after.birth_date, Some("2000-02-29".parse().unwrap()));
    assert_eq!((after.is_private, after.country.as_deref()), (true, Some("BR")));
    assert_eq!(after.pronouns.as_deref(), Some("they/them"));
    assert_eq!((&after.nickname, &after.email), (&before.nickname, &before.email));
    let stored = town.accounts().me(&town.caller("ana")).await.unwrap().unwrap();
    assert_eq!(stored, after);
}

/// Users are found by their tags.
#[tokio::test]
async fn tags_are_listed_with_the_profile() {
    let town = Town::of([]).await;
    let ana = town.sign_up("ana").await;
    let (accounts, caller) = (town.accounts(), &ana.caller);
    let change = tags(&["Running", "#running", "tea"]);
    let after = accounts.update_profile(caller, &change, None).await.unwrap();
    assert_eq!(after.tags.iter().map(Tag::as_str).collect::<Vec<_>>(), ["Running", "tea"]);
    let row = format!("User#{} title=ana", ana.user.id);
    assert_eq!(town.rows("TAG#running", "").await, [row.as_str()]);
    let change = tags(&["TEA", "books"]);
    accounts.update_profile(caller, &change, None).await.unwrap();
    assert!(town.rows("TAG#running", "").await.is_empty());
    assert_eq!(town.rows("TAG#tea", "").await, [row.as_str()]);
    assert_eq!(town.rows("TAG#books", "").await, [row.as_str()]);
    let change = ProfileChange { nickname: "anna".parse().ok(), ..ProfileChange::default() };
    accounts.update_profile(caller, &change, None).await.unwrap();
    assert_eq!(town.rows("TAG#tea", "").await, [row.replace("ana", "anna")]);

    // Shards can be added; existing references stay in their shard.
    let many = ShardCount(Shards::new(64).unwrap());
    let shards = ShardSettings { tags: many, ..ShardSettings::default() };
    let settings = Settings { shards, ..Town::settings() };
    let store = town.context().store().clone();
    let accounts = Town::on(store, town.clock().clone(), settings, 2).await.accounts();
    let change = tags(&[]);
    accounts.update_profile(caller, &change, None).await.unwrap();
    assert!(town.rows("TAG#tea", "").await.is_empty());
    assert!(town.rows("TAG#books", "").await.is_empty());
}

/// R32: requests are idempotent.
#[tokio::test]
async fn a_repeated_update_has_the_effect_of_one() {
    let town = Town::of(["ana"]).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    let (first, second) = (request("update-1"), request("update-2"));
    let bio = |bio: &str| ProfileChange { bio: text(bio), ..ProfileChange::default() };
    accounts.update_profile(&ana, &bio("one"), Some(&first)).await.unwrap();
    accounts.update_profile(&ana, &bio("two"), Some(&second)).await.unwrap();
    let again = accounts.update_profile(&ana, &bio("one"), Some(&first)).await.unwrap();
    assert_eq!(again.bio.as_deref(), Some("two"), "as it is now");
    let other = accounts.update_profile(&ana, &bio("three"), Some(&first)).await;
    assert_eq!(code(other), Code::IdempotencyMismatch);
}

/// R7: making an account public accepts no pending request.
#[tokio::test]
async fn requests_stay_pending_when_an_account_becomes_public() {
    let town = Town::of(["bo"]).await;
    town.add_user("ana", |ana| ana.is_private = true).await;
    town.follow("bo", "ana").await;
    let change = ProfileChange { is_private: Some(false), ..ProfileChange::default() };
    update(&town, "ana", &change).await;
    let requests = town.follows().requests(&town.caller("ana"), &PageInput::first()).await.unwrap();
    let requests = requests.into_items();
    assert_eq!((requests.len(), requests[0].status), (1, FollowStatus::Pending));
}

#[tokio::test]
async fn invalid_profile_changes_are_refused() {
    let town = Town::of(["ana"]).await;
    let long = |chars: usize| text(&"x".repeat(chars));
    let many: Vec<String> = (0..31).map(|n| format!("tag{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let default = ProfileChange::default;
    for wrong in [
        ProfileChange { full_name: long(101), ..default() },
        ProfileChange { display_name: long(101), ..default() },
        ProfileChange { bio: long(2_001), ..default() },
        ProfileChange { country: long(101), ..default() },
        ProfileChange { language: long(101), ..default() },
        ProfileChange { gender: long(101), ..default() },
        ProfileChange { pronouns: long(101), ..default() },
        tags(&many),
        ProfileChange { birth_date: Edit::Set("2025-01-28".parse().unwrap()), ..default() },
    ] {
        let refused = town.accounts().update_profile(&town.caller("ana"), &wrong, None).await;
        assert_eq!(code(refused), Code::BadRequest, "{wrong:?}");
    }
    let today = ProfileChange { birth_date: Edit::Set("2025-01-27".parse().unwrap()), ..default() };
    update(&town, "ana", &today).await;
    let stranger = town.caller("stranger");
    let refused = town.accounts().update_profile(&stranger, &default(), None).await;
    assert_eq!(code(refused), Code::Unauthenticated);
}
