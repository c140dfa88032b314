//! A town with an object for every mutation.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{ModerationMode, Settings, SignedInUser};
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{
    ApiKeyId, CommentId, GroupId, NotificationId, PostId, Role, Span, WebhookId,
};
use roundtable_testkit::{Town, YieldingBackend};
use roundtable_verify::Verifier;

use crate::goals::GoalFixture;
use crate::quests::QuestFixture;

use crate::media::MediaFixture;
use crate::mutations::LINKED_SUBJECT;
use crate::rooms::RoomFixture;
use crate::trade::TradeFixture;

/// The initial time.
const BEGIN_MS: u64 = 1_737_991_800_000;
/// After this time, jobs of dead workers are claimed again.
const TAKEN_UP_MS: u64 = 61_000;

#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) town_store: TownStore,
    pub(crate) post: PostId,
    pub(crate) shared: PostId,
    /// Pending moderation.
    pub(crate) pending: PostId,
    pub(crate) comment: CommentId,
    pub(crate) group: GroupId,
    pub(crate) private_group: GroupId,
    /// Only its owner is a member.
    pub(crate) lonely_group: GroupId,
    pub(crate) archived_group: GroupId,
    /// One of ana's.
    pub(crate) notification: NotificationId,
    /// A user who signed up and is signed in.
    pub(crate) sue: SignedInUser,
    pub(crate) key: ApiKeyId,
    pub(crate) trade: TradeFixture,
    pub(crate) files: MediaFixture,
    pub(crate) rooms: RoomFixture,
    pub(crate) goals: GoalFixture,
    pub(crate) challenge: QuestFixture,
    pub(crate) webhook: WebhookId,
}

/// The store of a town.
#[derive(Clone)]
pub(crate) struct TownStore {
    backend: Arc<Reference>,
    clock: Arc<ManualClock>,
    settings: Settings,
}

impl TownStore {
    pub(crate) fn new(settings: Settings) -> Self {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        Self { backend: Arc::new(Reference::new(clock.clone())), clock, settings }
    }

    /// Returns an independent copy with the clock reset.
    pub(crate) fn fork(&self) -> Self {
        self.clock.set_ms(BEGIN_MS);
        Self { backend: Arc::new(self.backend.fork()), ..self.clone() }
    }

    pub(crate) async fn town(&self, process: u8) -> Town {
        let store = Store::shared(self.backend.clone());
        Town::on(store, self.clock.clone(), self.settings.clone(), process).await
    }

    /// Advances the clock until the claims of dead workers have expired.
    pub(crate) fn pass(&self) {
        self.clock.advance_ms(TAKEN_UP_MS);
    }

    /// The town over a store that yields at every operation.
    pub(crate) async fn slow_town(&self, process: u8) -> Town {
        let store = Store::new(YieldingBackend::shared(self.backend.clone()));
        Town::on(store, self.clock.clone(), self.settings.clone(), process).await
    }
}

impl Stage {
    pub(crate) async fn set() -> Self {
        let town_store = TownStore::new(Town::settings());
        let town = town_store.town(0).await;
        for name in ["ana", "bo", "cleo", "mo", "ada", "sid"] {
            town.add_user(name, |_| {}).await;
        }
        town.add_user("pia", |pia| pia.is_private = true).await;
        let mo = town.grant_role("mo", Role::Moderator).await;
        town.grant_role("ada", Role::Admin).await;
        let (cleo, sid) = (town.caller("cleo"), town.id("sid"));
        town.moderation().report_user(&cleo, &sid, "rude", None).await.unwrap();
        town.accounts().suspend(&mo, &sid, "rude", None).await.unwrap();
        town.follow("ana", "bo").await;
        town.follow("bo", "ana").await;
        town.follow("cleo", "pia").await;
        town.block("cleo", "mo").await;
        town.mute("ana", "pia").await;
        let (group, private_group) = (
            town.create_group("ana", "runners").await,
            town.create_private_group("ana", "readers").await,
        );
        let lonely_group = town.create_group("cleo", "hermits").await;
        let archived_group = town.create_group("cleo", "sleepers").await;
        town.archive_group(&archived_group).await;
        town.join("bo", &group).await;
        town.join("bo", &private_group).await;
        let post = town.post("ana", "hello #town, says @bo").await.id;
        let shared = town.post("bo", "pass it on").await.id;
        let pending = pending_post(&town_store).await;
        let comment = town.comment("bo", &post, "well said").await.id;
        town.like("bo", &post).await;
        town.share("ana", &shared).await;
        town.comments().like(&town.caller("ana"), &comment, None, None).await.unwrap();
        let sue = town.sign_up("sue").await;
        let (bo, issuer) = ("bo".parse().unwrap(), "https://login.example.org".parse().unwrap());
        let linked = LINKED_SUBJECT.parse().unwrap();
        town.accounts().link_identity_as_operator(&bo, &issuer, &linked).await.unwrap();
        let key = town
            .accounts()
            .create_key(&sue.caller, "robot", &[String::from("read")], None)
            .await
            .unwrap();
        let key = key.key.id;
        let trade = TradeFixture::set(&town).await;
        let files = MediaFixture::set(&town).await;
        let rooms = RoomFixture::set(&town, &group).await;
        let goals = GoalFixture::set(&town).await;
        let challenge = QuestFixture::set(&town).await;
        let webhook = crate::webhooks::endpoint(&town).await;
        town.settle().await;
        let notes = town.context().core().notifications(&town.id("ana"), Span::ALL);
        let notification = notes.all().await.unwrap().remove(0).id;
        Self {
            town_store,
            post,
            shared,
            pending,
            comment,
            group,
            private_group,
            lonely_group,
            archived_group,
            sue,
            key,
            trade,
            files,
            rooms,
            goals,
            challenge,
            webhook,
            notification,
        }
    }

    /// Returns an independent copy of the town.
    pub(crate) fn fork(&self) -> Self {
        Self { town_store: self.town_store.fork(), ..self.clone() }
    }
}

/// A post that is pending moderation.
async fn pending_post(town_store: &TownStore) -> PostId {
    let settings = Settings { moderation: ModerationMode::Before, ..Town::settings() };
    let strict = TownStore { settings, ..town_store.clone() };
    strict.town(9).await.post("bo", "may I?").await.id
}

/// Asserts that no invariant is violated (I1 to I6).
pub(crate) async fn assert_clean(town: &Town, after: &str) {
    let report = Verifier::on(town.context()).check().await.unwrap();
    assert!(report.is_clean(), "{after}: {:#?}", report.findings);
}
