//! Every kind of event there is, and what must never be in one.

use std::collections::BTreeSet;
use std::sync::Arc;

use roundtable_domain::EVENTS;
use roundtable_model::entities::{Follow, GroupMember, Promotion, Upload};
use roundtable_model::{
    Entity, FollowStatus, GroupRole, MemberStatus, ModerationStatus, OfferStatus, QuestStatus,
    Role, UploadState, samples,
};
use roundtable_testkit::Town;

use super::{Endpoints, alone, town, webhooks};

/// Something appears, changes, and goes.
async fn live<E: Entity + Clone>(town: &Town, it: E, change: impl FnOnce(&mut E)) {
    let table = town.ground().core().table();
    table.put(it.put()).await.unwrap();
    let mut changed = it.clone();
    change(&mut changed);
    table.put(changed.put()).await.unwrap();
    table.delete(changed.key().delete()).await.unwrap();
    town.pass_ms(1_000);
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
}

/// R32, R44: every event there is happens, once; and says of what is not public any more only whose and
/// which it was.
#[tokio::test]
async fn every_event_is_told() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let ada = town.staff("ada", Role::Admin);
    // Whoever moved in did so before.
    town.pass_ms(1_000);
    let url = "https://example.com/all";
    webhooks(&town).create(&ada, url, &["*".to_owned()]).await.unwrap();
    live_social(&town).await;
    live_town(&town).await;
    alone(&town, &endpoints).drain().await.unwrap();
    let heard = endpoints.heard("all", "-");
    let kinds: BTreeSet<String> =
        heard.iter().map(|told| format!("roundtable.{}", told.trim_end_matches(" -"))).collect();
    let all: BTreeSet<String> = EVENTS.iter().map(|event| event.name.to_owned()).collect();
    assert_eq!(kinds, all);
    assert_eq!(heard.len(), EVENTS.len());
    let bodies = endpoints.bodies();
    let said = [samples::message().text, samples::assist_msg().text, samples::post().content];
    for never in said.iter().map(String::as_str).chain(["xq", "@example.com"]) {
        assert!(!bodies.contains(never), "{never}");
    }
}

/// R32: a file is told of when it has arrived, and not while it is on its way; somebody is promoted when
/// they are, and not whenever what they do has reached everybody.
#[tokio::test]
async fn what_is_not_there_yet_is_not_told() {
    let (town, endpoints) = (town().await, Arc::new(Endpoints::default()));
    let ada = town.staff("ada", Role::Admin);
    // Whoever moved in did so before.
    town.pass_ms(1_000);
    let url = "https://example.com/all";
    webhooks(&town).create(&ada, url, &["*".to_owned()]).await.unwrap();
    let pending = Upload { state: UploadState::Pending, ..samples::upload() };
    live(&town, pending.clone(), |_| {}).await;
    live(&town, pending, |it| it.state = UploadState::Complete).await;
    let promoted = Promotion { fanout_enabled: true, ..samples::promotion() };
    live(&town, promoted.clone(), |it| it.watermark = Some(town.now())).await;
    live(&town, promoted, |it| it.fanout_enabled = false).await;
    alone(&town, &endpoints).drain().await.unwrap();
    let key = samples::upload().key.to_string();
    let told = endpoints.heard("all", "mediaKey");
    let uploads = [format!("upload.completed {key}"), format!("upload.deleted {key}")];
    assert_eq!(told.get(..2), Some(uploads.as_slice()));
    let promotions = ["promotion.started -", "promotion.ended -"].repeat(2);
    assert_eq!(told.get(2..).unwrap_or_default(), promotions);
}
