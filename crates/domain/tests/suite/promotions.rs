//! Promotions, through the service, as rows, and in activities (R14, R32, R33, R36).

use roundtable_domain::{
    Caller, FeedSettings, NewPromotion, PromotionError, PromotionSettings, Promotions, Refusal,
    Settings,
};
use roundtable_model::entities::{ActorHead, Promotion};
use roundtable_model::table::{Transaction, Write};
use roundtable_model::{ActorId, PromotionReason, RequestId, Role, Time, UserStatus};
use roundtable_testkit::Town;

use PromotionReason::{Followers, Manual, Volume};

fn promotions(town: &Town) -> Promotions {
    Promotions::new(town.context().clone())
}

fn new_promotion(subject: &str, fanout_enabled: bool, reason: PromotionReason) -> NewPromotion {
    NewPromotion { subject_id: actor(subject), fanout_enabled, reason, thresholds: None }
}

fn actor(name: &str) -> ActorId {
    name.parse().unwrap()
}

/// A town with the admin ada.
async fn town_of<const N: usize>(names: [&str; N]) -> (Town, Caller) {
    town_with(Town::settings(), names).await
}

async fn town_with<const N: usize>(settings: Settings, names: [&str; N]) -> (Town, Caller) {
    let town = Town::with(settings, names).await;
    town.add_user("ada", |_| {}).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    (town, ada)
}

async fn promotion(promotions: &Promotions, admin: &Caller) -> Option<Promotion> {
    promotions.promotions(admin, &[actor("ana")]).await.unwrap().remove(0)
}

async fn head(town: &Town, actor: &ActorId) -> Option<ActorHead> {
    let heads = town.context().core().actor_heads(std::slice::from_ref(actor)).strong().get();
    heads.await.unwrap().into_iter().flatten().next()
}

fn code<T: std::fmt::Debug>(refused: Result<T, PromotionError>) -> &'static str {
    refused.unwrap_err().code().as_str()
}

/// R14: the operator needs no account, and the audit entry names no actor.
#[tokio::test]
async fn the_operator_promotes_and_demotes_without_an_account() {
    let (town, ada) = town_of(["ana"]).await;
    let promotions = promotions(&town);
    let promoted = promotions.set_as_operator(&actor("ana"), true).await.unwrap();
    assert!(promoted.fanout_enabled && promoted.reason == Manual);
    assert_eq!(promotion(&promotions, &ada).await, Some(promoted));
    assert!(head(&town, &actor("ana")).await.unwrap().promoted);
    assert!(!promotions.set_as_operator(&actor("ana"), false).await.unwrap().fanout_enabled);
    assert_eq!(code(promotions.set_as_operator(&actor("nobody"), true).await), "NOT_FOUND");
}

/// R14, R36: the head changes with the promotion, and the next activity uses it.
#[tokio::test]
async fn activities_follow_a_manual_promotion() {
    let (town, ada) = town_of(["ana"]).await;
    let promotions = promotions(&town);
    assert_eq!(promotion(&promotions, &ada).await, None);
    let promoted = promotions.set(&ada, &new_promotion("ana", true, Manual), None).await.unwrap();
    assert_eq!(promotion(&promotions, &ada).await, Some(promoted));
    assert_eq!(
        town.rows("PROMO#ana", "").await,
        ["PROMO#ana userId=ana fanoutEnabled=true reason=manual"]
    );
    assert!(head(&town, &actor("ana")).await.unwrap().promoted);
    town.post("ana", "one").await;
    promotions.set(&ada, &new_promotion("ana", false, Manual), None).await.unwrap();
    town.post("ana", "two").await;
    let copied = |row: &&String| row.contains("fanout=true");
    let rows = town.rows("ACTIVITY#ana", "TS#").await;
    assert_eq!(rows.iter().map(|row| copied(&row)).collect::<Vec<_>>(), [true, false]);
    let head = head(&town, &actor("ana")).await.unwrap();
    assert_eq!((head.promoted, head.since, head.intervals.len()), (false, None, 1));
}

/// R14: a group is promoted like a user.
#[tokio::test]
async fn a_group_is_promoted() {
    let (town, ada) = town_of(["ana"]).await;
    let group = town.create_group("ana", "runners").await;
    let promotion =
        NewPromotion { subject_id: (&group).into(), ..new_promotion("ana", true, Manual) };
    let promoted = promotions(&town).set(&ada, &promotion, None).await.unwrap();
    assert_eq!((promoted.user_id, promoted.group_id.as_ref()), (None, Some(&group)));
    town.post_into("ana", &group, "hello").await;
    let rows = town.rows(&format!("ACTIVITY#{group}"), "TS#").await;
    assert!(rows.len() == 1 && rows[0].contains("fanout=true"));
}

/// R33: a decision writes an audit entry; repeating it does not.
#[tokio::test]
async fn a_decision_writes_an_audit_entry() {
    let (town, ada) = town_of(["ana", "mo"]).await;
    let promotions = promotions(&town);
    let thresholds = Some(r#"{"followers":10}"#.parse().unwrap());
    let promotion = NewPromotion { thresholds, ..new_promotion("ana", true, Followers) };
    promotions.set(&ada, &promotion, None).await.unwrap();
    promotions.set(&ada, &promotion, None).await.unwrap();
    let detail = r#"{"fanoutEnabled":true,"reason":"followers","thresholds":{"followers":10}}"#;
    assert_eq!(town.audit_trail().await, [format!("ada setPromotion {detail}")]);
}

/// R32, I8: requests are idempotent.
#[tokio::test]
async fn a_repeated_request_has_the_effect_of_one() {
    let (town, ada) = town_of(["ana"]).await;
    let promotions = promotions(&town);
    let request: RequestId = "request-1".parse().unwrap();
    let promote = new_promotion("ana", true, Manual);
    promotions.set(&ada, &promote, Some(&request)).await.unwrap();
    promotions.set(&ada, &new_promotion("ana", false, Manual), None).await.unwrap();
    let again = promotions.set(&ada, &promote, Some(&request)).await.unwrap();
    assert!(!again.fanout_enabled, "as it is now");
    let other = promotions.set(&ada, &new_promotion("ana", false, Volume), Some(&request)).await;
    assert_eq!(code(other), "IDEMPOTENCY_MISMATCH");
}

#[tokio::test]
async fn invalid_promotions_are_refused() {
    let (town, ada) = town_of(["ana", "mo", "gone"]).await;
    let promotions = promotions(&town);
    let mo = town.grant_role("mo", Role::Moderator).await;
    // A caller that claims to be an admin, and is not.
    let ana = town.staff("ana", Role::Admin);
    for caller in [&mo, &ana, &town.caller("ana")] {
        assert_eq!(
            code(promotions.set(caller, &new_promotion("ana", true, Manual), None).await),
            "FORBIDDEN"
        );
        assert_eq!(code(promotions.promotions(caller, &[actor("ana")]).await), "FORBIDDEN");
    }
    let stranger = town.staff("stranger", Role::Admin);
    let refused = promotions.set(&stranger, &new_promotion("ana", true, Manual), None).await;
    assert_eq!(code(refused), "UNAUTHENTICATED");
    town.set_status("gone", UserStatus::Deleted).await;
    for missing in ["nobody", "gone"] {
        let refused = promotions.set(&ada, &new_promotion(missing, true, Manual), None).await;
        assert!(matches!(refused, Err(PromotionError::NoSuchSubject)));
        assert!(town.rows(&format!("ACTIVITY#{missing}"), "").await.is_empty());
    }
    let long = format!("[{}0]", "0,".repeat(500));
    let promotion = NewPromotion {
        thresholds: Some(long.parse().unwrap()),
        ..new_promotion("ana", true, Manual)
    };
    assert_eq!(code(promotions.set(&ada, &promotion, None).await), "BAD_REQUEST");
    assert!(town.rows("PROMO#ana", "").await.is_empty());
}

/// Admins can promote themselves: their profile is in the transaction only once.
#[tokio::test]
async fn admins_can_be_promoted() {
    let (town, ada) = town_of([]).await;
    let promoted =
        promotions(&town).set(&ada, &new_promotion("ada", true, Manual), None).await.unwrap();
    assert!(promoted.fanout_enabled);
}

/// A promotion or demotion keeps the copies made so far.
#[tokio::test]
async fn a_decision_leaves_the_watermark_alone() {
    let (town, ada) = town_of(["ana"]).await;
    let promotions = promotions(&town);
    promotions.set(&ada, &new_promotion("ana", true, Manual), None).await.unwrap();
    let at = Some(Time::from_ms(1_000));
    let patch = Promotion::at(&actor("ana")).patch();
    let patch = patch.set(Promotion::WATERMARK, &at).set(Promotion::WATERMARK_SINCE, &at);
    town.context().core().table().update(patch.into()).await.unwrap();
    let demoted = promotions.set(&ada, &new_promotion("ana", false, Manual), None).await.unwrap();
    assert_eq!((demoted.watermark, demoted.watermark_since), (at, at));
    let stored = promotion(&promotions, &ada).await.unwrap();
    assert_eq!((stored.watermark, stored.watermark_since), (at, at));
}

/// Settings with thresholds of two followers or three activities.
fn small() -> Settings {
    let promotion = PromotionSettings { followers_min: 2, followers_max: 4, per_day_min: 3 };
    let feed = FeedSettings { promotion, ..FeedSettings::default() };
    Settings { feed, ..Town::settings() }
}

async fn write(town: &Town, writes: Vec<Write>) -> bool {
    let core = town.context().core().table();
    let all = writes.into_iter().fold(Transaction::new(), |all, write| all.with(core, write));
    town.context().store().transact(all).await.is_ok()
}

/// R36: by followers; demoted below half of the threshold, and above the maximum.
#[tokio::test]
async fn the_rule_promotes_and_demotes_by_followers() {
    let (town, ada) = town_with(small(), ["ana", "f1", "f2", "f3", "f4", "f5"]).await;
    let promotions = promotions(&town);
    let decided = async || {
        let writes = promotions.rule_writes(&actor("ana"), None).await.unwrap();
        let any = !writes.is_empty();
        assert!(!any || write(&town, writes).await);
        any
    };
    town.follow("f1", "ana").await;
    assert!(!decided().await && promotion(&promotions, &ada).await.is_none());
    town.follow("f2", "ana").await;
    assert!(decided().await && !decided().await, "once");
    let thresholds = r#"thresholds={"followers":2,"followersMax":4,"activitiesPerDay":3}"#;
    let row = |enabled| {
        [format!("PROMO#ana userId=ana fanoutEnabled={enabled} reason=followers {thresholds}")]
    };
    assert_eq!(town.rows("PROMO#ana", "").await, row(true));
    assert!(head(&town, &actor("ana")).await.unwrap().promoted);
    for fan in ["f3", "f4", "f5"] {
        town.follow(fan, "ana").await;
    }
    assert!(decided().await);
    assert_eq!(town.rows("PROMO#ana", "").await, row(false));
    assert!(!head(&town, &actor("ana")).await.unwrap().promoted);
    // An admin's decision stands until an admin returns it to the rule.
    promotions.set(&ada, &new_promotion("ana", true, Manual), None).await.unwrap();
    assert!(!decided().await);
    promotions.set(&ada, &new_promotion("ana", true, Followers), None).await.unwrap();
    assert!(decided().await);
    assert_eq!(town.rows("PROMO#ana", "").await, row(false));
}

/// R36: by activities per day, groups included.
#[tokio::test]
async fn the_rule_promotes_by_volume() {
    let (town, _) = town_with(small(), ["ana"]).await;
    let group = town.create_group("ana", "runners").await;
    let promotions = promotions(&town);
    let subjects = [actor("ana"), (&group).into()];
    for text in ["one", "two", "three"] {
        for subject in &subjects {
            assert!(promotions.rule_writes(subject, None).await.unwrap().is_empty());
        }
        town.post("ana", text).await;
        town.post_into("ana", &group, text).await;
    }
    for subject in &subjects {
        assert!(write(&town, promotions.rule_writes(subject, None).await.unwrap()).await);
        let stored = town.context().core().promotion(subject).get().await.unwrap().unwrap();
        assert_eq!((stored.fanout_enabled, stored.reason), (true, Volume));
    }
}

/// Of two concurrent decisions one fails and retries.
#[tokio::test]
async fn a_concurrent_decision_fails_the_other() {
    let (town, ada) = town_with(small(), ["ana", "f1", "f2"]).await;
    let promotions = promotions(&town);
    town.follow("f1", "ana").await;
    town.follow("f2", "ana").await;
    let late = promotions.rule_writes(&actor("ana"), None).await.unwrap();
    promotions.set(&ada, &new_promotion("ana", false, Manual), None).await.unwrap();
    assert!(!write(&town, late).await);
    let (town, _) = town_with(small(), ["ana", "f1", "f2"]).await;
    town.follow("f1", "ana").await;
    town.follow("f2", "ana").await;
    let promotions = Promotions::new(town.context().clone());
    let late = promotions.rule_writes(&actor("ana"), None).await.unwrap();
    town.set_status("ana", UserStatus::Deleted).await;
    assert!(!write(&town, late).await, "nothing is left behind for a deleted account");
    assert!(promotions.rule_writes(&actor("ana"), None).await.unwrap().is_empty());
}
