//! All event types, and content that must never be in an event.

use std::collections::BTreeSet;
use std::sync::Arc;

use roundtable_domain::EVENTS;
use roundtable_model::entities::{Follow, GroupMember, Promotion, Upload};
use roundtable_model::{
    Entity, FollowStatus, GroupRole, MemberStatus, ModerationStatus, OfferStatus, QuestStatus,
    Role, UploadState, samples,
};
use roundtable_testkit::Town;

use super::{Endpoints, HOUR_MS, delivery_only, runner, town, webhooks};

/// Creates, changes and deletes an entity.
async fn live<E: Entity + Clone>(town: &Town, it: E, change: impl FnOnce(&mut E)) {
    let table = town.context().core().table();
    table.put(it.put()).await.unwrap();
    let mut changed = it.clone();
    change(&mut changed);
    table.put(changed.put()).await.unwrap();
    table.delete(changed.key().delete()).await.unwrap();
    town.advance_ms(1_000);
}

async fn live_social(town: &Town) {
    live(town, samples::user(), |it| it.bio = Some("xqbioxq".into())).await;
    let follow = Follow { status: FollowStatus::Active, ..samples::follow() };
    live(town, follow, |_| {}).await;
    live(town, samples::group(), |it| it.name = "xqnamexq".into()).await;
    let member = GroupMember {
        status: MemberStatus::Active,
        role: GroupRole::Member,
        ..samples::group_member()
    };
    live(town, member, |it| it.role = GroupRole::Admin).await;
    live(town, samples::activity(), |_| {}).await;
    live(town, samples::post(), |it| it.content = "xqcontentxq".into()).await;
    live(town, samples::comment(), |it| it.content = "xqcontentxq".into()).await;
    live(town, samples::like(), |_| {}).await;
    live(town, samples::comment_like(), |_| {}).await;
    live(town, samples::share(), |_| {}).await;
    let mut case = samples::moderation_case();
    case.status = ModerationStatus::Pending;
    live(town, case, |it| it.status = ModerationStatus::Approved).await;
}

async fn live_town(town: &Town) {
    live(town, samples::goal(), |it| it.title = "xqtitlexq".into()).await;
    live(town, samples::task(), |it| it.title = "xqtitlexq".into()).await;
    live(town, samples::milestone(), |it| it.name = "xqnamexq".into()).await;
    let mut quest = samples::quest();
    quest.status = QuestStatus::Active;
    live(town, quest, |it| it.status = QuestStatus::Cancelled).await;
    live(town, samples::xp_entry(), |_| {}).await;
    live(town, samples::room(), |_| {}).await;
    live(town, samples::message(), |it| it.text = "xqtextxq".into()).await;
    live(town, samples::assist_thread(), |_| {}).await;
    live(town, samples::assist_msg(), |it| it.text = "xqtextxq".into()).await;
    live(town, samples::company(), |_| {}).await;
    let mut offer = samples::offer();
    offer.status = OfferStatus::Open;
    live(town, offer, |it| it.status = OfferStatus::Closed).await;
    let upload = Upload { state: UploadState::Complete, ..samples::upload() };
    live(town, upload, |_| {}).await;
    let promotion = Promotion { fanout_enabled: true, ..samples::promotion() };
    live(town, promotion, |_| {}).await;
    live(town, samples::notification(), |it| it.latest_at = Some(town.now())).await;
}

/// R54: each notification is an event, and so is its growth. It says what the recipient may see at that
/// time, so that a push service can be attached.
#[tokio::test]
async fn notifications_are_events_for_push_services() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let ada = town.staff("ada", Role::Admin);
    let types = ["roundtable.notification.created", "roundtable.notification.updated"];
    let types = types.map(String::from);
    webhooks(&town).create(&ada, "https://example.com/push", &types).await.unwrap();
    town.add_user("cleo", |_| {}).await;
    let post = town.post("ana", "hello").await;
    town.clock().set_ms((town.now().ms() / HOUR_MS + 1) * HOUR_MS);
    town.like("bo", &post.id).await;
    runner(&town, &endpoints).drain().await.unwrap();
    town.like("cleo", &post.id).await;
    runner(&town, &endpoints).drain().await.unwrap();
    let notices = roundtable_domain::Notifications::new(town.context().clone());
    let listed = notices.list(&town.caller("ana"), &roundtable_domain::PageInput::first()).await;
    let note = listed.unwrap().into_items().remove(0).notification;
    let expected = |kind: &str, actor: &str| format!("notification.{kind} {actor}");
    let lines = endpoints.received("push", "actorId");
    assert_eq!(lines, [expected("created", "bo"), expected("updated", "cleo")]);
    for (name, value) in [
        ("userId", "ana".to_owned()),
        ("notificationId", note.id.to_string()),
        ("kind", "like".to_owned()),
        ("objectType", "Post".to_owned()),
        ("objectId", post.id.to_string()),
    ] {
        let lines = endpoints.received("push", name);
        assert!(lines.iter().all(|line| line.ends_with(&format!(" {value}"))), "{name}: {lines:?}");
    }
    assert!(!endpoints.bodies().contains("hello"));
    // Read marks are no events, and what the recipient may no longer see has ids only.
    notices.mark_read(&town.caller("ana"), town.now(), None).await.unwrap();
    town.follow("bo", "ana").await;
    town.settle().await;
    town.block("ana", "bo").await;
    runner(&town, &endpoints).drain().await.unwrap();
    assert_eq!(endpoints.received("push", "kind")[2..], ["notification.created -"]);
}

/// R32, R44: every event type occurs once, and an event about content that is no longer public
/// carries only ids.
#[tokio::test]
async fn every_event_type_is_delivered() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let ada = town.staff("ada", Role::Admin);
    // The users moved in before.
    town.advance_ms(1_000);
    let url = "https://example.com/all";
    webhooks(&town).create(&ada, url, &["*".to_owned()]).await.unwrap();
    live_social(&town).await;
    live_town(&town).await;
    delivery_only(&town, &endpoints).drain().await.unwrap();
    let received = endpoints.received("all", "-");
    let kinds: BTreeSet<String> =
        received.iter().map(|line| format!("roundtable.{}", line.trim_end_matches(" -"))).collect();
    let all: BTreeSet<String> = EVENTS.iter().map(|event| event.name.to_owned()).collect();
    assert_eq!(kinds, all);
    assert_eq!(received.len(), EVENTS.len());
    let bodies = endpoints.bodies();
    let said = [samples::message().text, samples::assist_msg().text, samples::post().content];
    for never in said.iter().map(String::as_str).chain(["xq", "@example.com"]) {
        assert!(!bodies.contains(never), "{never}");
    }
}

/// R32: a file has an event once its upload is complete. A promotion has one when it is made, not
/// whenever its watermark moves.
#[tokio::test]
async fn incomplete_uploads_and_watermarks_cause_no_events() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let ada = town.staff("ada", Role::Admin);
    // The users moved in before.
    town.advance_ms(1_000);
    let url = "https://example.com/all";
    webhooks(&town).create(&ada, url, &["*".to_owned()]).await.unwrap();
    let pending = Upload { state: UploadState::Pending, ..samples::upload() };
    live(&town, pending.clone(), |_| {}).await;
    live(&town, pending, |it| it.state = UploadState::Complete).await;
    let promoted = Promotion { fanout_enabled: true, ..samples::promotion() };
    live(&town, promoted.clone(), |it| it.watermark = Some(town.now())).await;
    live(&town, promoted, |it| it.fanout_enabled = false).await;
    delivery_only(&town, &endpoints).drain().await.unwrap();
    let key = samples::upload().key.to_string();
    let lines = endpoints.received("all", "mediaKey");
    let uploads = [format!("upload.completed {key}"), format!("upload.deleted {key}")];
    assert_eq!(lines.get(..2), Some(uploads.as_slice()));
    let promotions = ["promotion.started -", "promotion.ended -"].repeat(2);
    assert_eq!(lines.get(2..).unwrap_or_default(), promotions);
}
