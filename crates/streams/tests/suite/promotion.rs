//! Automatic promotion (R36), and follower shards for large accounts (R39).

use roundtable_domain::{FeedSettings, NewPromotion, PromotionSettings, Promotions, Settings};
use roundtable_model::entities::{Promotion, User};
use roundtable_model::{ActorId, PromotionReason, Role, Shards};
use roundtable_testkit::Town;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const FANS: [&str; 6] = ["f1", "f2", "f3", "f4", "f5", "f6"];

/// A town in which four followers or three activities a day suffice for promotion, and more than
/// five followers are too many.
async fn town() -> Town {
    let promotion = PromotionSettings { followers_min: 4, followers_max: 5, per_day_min: 3 };
    let feed = FeedSettings { promotion, ..FeedSettings::default() };
    let town = Town::with(Settings { feed, ..Town::settings() }, FANS).await;
    town.add_user("ana", |_| {}).await;
    town
}

async fn promotion(town: &Town, subject: &ActorId) -> Option<(bool, PromotionReason)> {
    let found: Option<Promotion> = town.context().core().promotion(subject).get().await.unwrap();
    let found = found.map(|found| (found.fanout_enabled, found.reason));
    let heads = town.context().core().actor_heads(std::slice::from_ref(subject)).get().await;
    let promoted = heads.unwrap().into_iter().flatten().any(|head| head.promoted);
    assert_eq!(promoted, found.is_some_and(|(enabled, _)| enabled), "the head matches");
    found
}

fn ana() -> ActorId {
    "ana".parse().unwrap()
}

async fn unfollow(town: &Town, fan: &str) {
    town.follows().unfollow(&town.caller(fan), &town.id("ana"), None).await.unwrap();
    town.settle().await;
}

async fn follow(town: &Town, fan: &str) {
    town.follow(fan, "ana").await;
    town.settle().await;
}

/// R36
#[tokio::test]
async fn a_user_with_many_followers_is_promoted_until_they_have_few_or_too_many() {
    let town = town().await;
    for fan in &FANS[..3] {
        follow(&town, fan).await;
    }
    assert_eq!(promotion(&town, &ana()).await, None);
    follow(&town, "f4").await;
    assert_eq!(promotion(&town, &ana()).await, Some((true, PromotionReason::Followers)));
    unfollow(&town, "f1").await;
    unfollow(&town, "f2").await;
    assert_eq!(promotion(&town, &ana()).await, Some((true, PromotionReason::Followers)));
    unfollow(&town, "f3").await;
    assert_eq!(promotion(&town, &ana()).await, Some((false, PromotionReason::Followers)));
    for fan in &FANS {
        follow(&town, fan).await;
    }
    assert_eq!(promotion(&town, &ana()).await, Some((false, PromotionReason::Followers)));
}

/// R36: many changes at once lead to one decision about the current state.
#[tokio::test]
async fn a_decision_follows_from_the_current_state() {
    let town = town().await;
    for fan in FANS {
        town.follow(fan, "ana").await;
    }
    town.settle().await;
    assert_eq!(promotion(&town, &ana()).await, None, "six are too many");
}

/// R36
#[tokio::test]
async fn a_group_with_many_members_is_promoted() {
    let town = town().await;
    let group = town.create_group("ana", "runners").await;
    let subject = ActorId::from(&group);
    for fan in &FANS[..2] {
        town.join(fan, &group).await;
    }
    town.settle().await;
    assert_eq!(promotion(&town, &subject).await, None);
    town.join("f3", &group).await;
    town.settle().await;
    assert_eq!(promotion(&town, &subject).await, Some((true, PromotionReason::Followers)));
    for fan in &FANS[..3] {
        town.groups().leave(&town.caller(fan), &group, None).await.unwrap();
    }
    town.settle().await;
    assert_eq!(promotion(&town, &subject).await, Some((false, PromotionReason::Followers)));
}

/// R36: a busy day promotes, and a quiet day demotes once it has ended.
#[tokio::test]
async fn an_active_user_is_promoted_until_a_quiet_day() {
    let town = town().await;
    let posts = async |count: usize| {
        for number in 0..count {
            town.post("ana", &format!("post {number}")).await;
        }
        town.settle().await;
        promotion(&town, &ana()).await
    };
    assert_eq!(posts(2).await, None);
    let promoted = Some((true, PromotionReason::Volume));
    assert_eq!(posts(1).await, promoted);
    town.advance_ms(DAY_MS);
    assert_eq!(posts(2).await, promoted, "the day before was busy");
    town.advance_ms(DAY_MS);
    assert_eq!(posts(1).await, promoted, "two are more than half of three");
    town.advance_ms(DAY_MS);
    assert_eq!(posts(1).await, Some((false, PromotionReason::Volume)));
    assert_eq!(posts(2).await, promoted);
}

/// R36: for a user whose thresholds an admin has set, the rule follows those, at once and from then on.
#[tokio::test]
async fn an_admin_sets_the_thresholds_of_one_user() {
    let town = town().await;
    town.add_user("ada", |_| {}).await;
    town.add_user("bo", |_| {}).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    let promotions = Promotions::new(town.context().clone());
    let set = async |thresholds: Option<&str>| {
        let input = NewPromotion {
            subject_id: ana(),
            fanout_enabled: false,
            reason: PromotionReason::Followers,
            thresholds: thresholds.map(|json| json.parse().unwrap()),
        };
        promotions.set(&ada, &input, None).await.unwrap();
        town.settle().await;
    };
    set(Some(r#"{"followers":2,"activitiesPerDay":2}"#)).await;
    follow(&town, "f1").await;
    assert_eq!(promotion(&town, &ana()).await, Some((false, PromotionReason::Followers)));
    follow(&town, "f2").await;
    assert_eq!(promotion(&town, &ana()).await, Some((true, PromotionReason::Followers)));
    let decided = town.context().core().promotion(&ana()).get().await.unwrap().unwrap();
    let expected = r#"{"followers":2,"followersMax":5,"activitiesPerDay":2}"#;
    assert_eq!(decided.thresholds.unwrap().as_str(), expected);
    for fan in ["f1", "f2"] {
        town.follow(fan, "bo").await;
    }
    for text in ["one", "two"] {
        town.post("bo", text).await;
    }
    town.settle().await;
    let bo = ActorId::from(&town.id("bo"));
    assert_eq!(promotion(&town, &bo).await, None, "others have those of the settings");

    set(None).await;
    assert_eq!(promotion(&town, &ana()).await, Some((false, PromotionReason::Followers)));
    follow(&town, "f3").await;
    assert_eq!(promotion(&town, &ana()).await, Some((false, PromotionReason::Followers)));
    set(Some(r#"{"followers":3}"#)).await;
    assert_eq!(promotion(&town, &ana()).await, Some((true, PromotionReason::Followers)), "at once");
}

/// R36: an admin's decision overrides the rule.
#[tokio::test]
async fn a_manual_decision_overrides_the_rule() {
    let town = town().await;
    town.add_user("ada", |_| {}).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    let manual = PromotionReason::Manual;
    let input = |fanout_enabled, reason| NewPromotion {
        subject_id: ana(),
        fanout_enabled,
        reason,
        thresholds: None,
    };
    let promotions = Promotions::new(town.context().clone());
    promotions.set(&ada, &input(false, manual), None).await.unwrap();
    for fan in &FANS[..5] {
        follow(&town, fan).await;
    }
    for text in ["one", "two", "three", "four"] {
        town.post("ana", text).await;
    }
    town.settle().await;
    assert_eq!(promotion(&town, &ana()).await, Some((false, manual)));
    promotions.set(&ada, &input(true, manual), None).await.unwrap();
    for fan in &FANS[..5] {
        unfollow(&town, fan).await;
    }
    assert_eq!(promotion(&town, &ana()).await, Some((true, manual)));
    // Once the rule applies again, the next change decides.
    promotions.set(&ada, &input(true, PromotionReason::Followers), None).await.unwrap();
    for fan in &FANS[..2] {
        follow(&town, fan).await;
    }
    unfollow(&town, "f1").await;
    assert_eq!(promotion(&town, &ana()).await, Some((true, PromotionReason::Volume)));
}

/// A deleted account is neither promoted nor demoted.
#[tokio::test]
async fn a_deleted_account_leaves_no_promotion_behind() {
    let town = town().await;
    for fan in &FANS[..5] {
        town.follow(fan, "ana").await;
    }
    town.post("ana", "hello").await;
    let accounts = town.accounts();
    accounts.delete_account(&town.caller("ana"), &"ana".parse().unwrap()).await.unwrap();
    town.settle().await;
    assert!(town.rows("PROMO#ana", "").await.is_empty());
    assert!(town.rows("ACTIVITY#ana", "").await.is_empty());
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// R39: shards are added as followers increase.
#[tokio::test]
async fn shards_are_added_as_followers_increase() {
    let mut settings = Town::settings();
    settings.shards.followers_per_shard = 2;
    let town = Town::with(settings, FANS).await;
    town.add_user("star", |_| {}).await;
    let shards = async || {
        let star: Option<User> =
            town.context().core().profile(&town.id("star")).strong().get().await.unwrap();
        star.unwrap().follower_shards.count()
    };
    for (fan, expected) in FANS.into_iter().zip([1, 1, 2, 2, 3, 3]) {
        town.follow(fan, "star").await;
        town.settle().await;
        assert_eq!(shards().await, expected, "after {fan}");
    }
    // Shards are never removed, and all followers are still found and counted.
    for fan in &FANS[..5] {
        town.follows().unfollow(&town.caller(fan), &town.id("star"), None).await.unwrap();
    }
    town.settle().await;
    assert_eq!(shards().await, 3);
    let page = roundtable_domain::PageInput::first();
    let left = town.follows().followers(None, &town.id("star"), &page).await.unwrap();
    assert_eq!(left.into_items().len(), 1);
}

/// R39: many new followers at once are one step.
#[tokio::test]
async fn shards_grow_to_what_is_needed() {
    let mut settings = Town::settings();
    settings.shards.followers_per_shard = 1;
    let town = Town::with(settings, FANS).await;
    town.add_user("star", |_| {}).await;
    for fan in FANS {
        town.follow(fan, "star").await;
    }
    town.settle().await;
    let star = town.context().core().profile(&town.id("star")).strong().get().await.unwrap();
    assert_eq!(star.unwrap().follower_shards, Shards::new(6).unwrap());
}
