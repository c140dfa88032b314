//! A town in which everything can be done to something.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{ModerationMode, Settings, SignedIn};
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{ApiKeyId, CommentId, GroupId, PostId, Role, WebhookId};
use roundtable_testkit::{Town, Yielding};
use roundtable_verify::Verify;

use crate::goals::Plans;
use crate::quests::Challenge;

use crate::media::Files;
use crate::rooms::Rooms;
use crate::trade::Wares;

/// When everything begins.
const BEGIN_MS: u64 = 1_737_991_800_000;
/// After so long jobs are taken up again that somebody had taken who is dead.
const TAKEN_UP_MS: u64 = 61_000;

#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) place: Place,
    pub(crate) post: PostId,
    pub(crate) shared: PostId,
    /// Waits for a moderator.
    pub(crate) pending: PostId,
    pub(crate) comment: CommentId,
    pub(crate) group: GroupId,
    pub(crate) private_group: GroupId,
    /// Has nobody in it but its owner.
    pub(crate) lonely_group: GroupId,
    /// Somebody who signed up, and is signed in.
    pub(crate) sue: SignedIn,
    pub(crate) key: ApiKeyId,
    pub(crate) wares: Wares,
    pub(crate) files: Files,
    pub(crate) rooms: Rooms,
    pub(crate) plans: Plans,
    pub(crate) challenge: Challenge,
    pub(crate) webhook: WebhookId,
}

/// Where a town is.
#[derive(Clone)]
pub(crate) struct Place {
    backend: Arc<Reference>,
    clock: Arc<ManualClock>,
    settings: Settings,
}

impl Place {
    pub(crate) fn new(settings: Settings) -> Self {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        Self { backend: Arc::new(Reference::new(clock.clone())), clock, settings }
    }

    /// The same once more, to be changed without this one; time begins anew.
    pub(crate) fn again(&self) -> Self {
        self.clock.set_ms(BEGIN_MS);
        Self { backend: Arc::new(self.backend.fork()), ..self.clone() }
    }

    pub(crate) async fn town(&self, process: u8) -> Town {
        let store = Store::shared(self.backend.clone());
        Town::on(store, self.clock.clone(), self.settings.clone(), process).await
    }

    /// Lets so much time pass that nothing waits any more for somebody who is dead.
    pub(crate) fn pass(&self) {
        self.clock.advance_ms(TAKEN_UP_MS);
    }

    /// The town over a store that waits at every operation.
    pub(crate) async fn slow_town(&self, process: u8) -> Town {
        let store = Store::new(Yielding::shared(self.backend.clone()));
        Town::on(store, self.clock.clone(), self.settings.clone(), process).await
    }
}

impl Stage {
    pub(crate) async fn set() -> Self {
        let place = Place::new(Town::settings());
        let town = place.town(0).await;
        for name in ["ana", "bo", "cleo", "mo", "ada", "sid"] {
            town.move_in(name, |_| {}).await;
        }
        town.move_in("pia", |pia| pia.is_private = true).await;
        let mo = town.employ("mo", Role::Moderator).await;
        town.employ("ada", Role::Admin).await;
        town.accounts().suspend(&mo, &town.id("sid"), "rude", None).await.unwrap();
        town.follow("ana", "bo").await;
        town.follow("bo", "ana").await;
        town.follow("cleo", "pia").await;
        town.block("cleo", "mo").await;
        let (group, private_group) =
            (town.found("ana", "runners").await, town.found_private("ana", "readers").await);
        let lonely_group = town.found("cleo", "hermits").await;
        town.join("bo", &group).await;
        town.join("bo", &private_group).await;
        let post = town.post("ana", "hello #town, says @bo").await.id;
        let shared = town.post("bo", "pass it on").await.id;
        let pending = post_that_waits(&place).await;
        let comment = town.comment("bo", &post, "well said").await.id;
        town.like("bo", &post).await;
        town.share("ana", &shared).await;
        town.comments().like(&town.caller("ana"), &comment, None).await.unwrap();
        let sue = town.sign_up("sue").await;
        let key = town
            .accounts()
            .create_key(&sue.caller, "robot", &[String::from("read")], None)
            .await
            .unwrap();
        let key = key.key.id;
        let wares = Wares::set(&town).await;
        let files = Files::set(&town).await;
        let rooms = Rooms::set(&town, &group).await;
        let plans = Plans::set(&town).await;
        let challenge = Challenge::set(&town).await;
        let webhook = crate::webhooks::endpoint(&town).await;
        town.settle().await;
        let groups = (group, private_group, lonely_group);
        let (group, private_group, lonely_group) = groups;
        Self {
            place,
            post,
            shared,
            pending,
            comment,
            group,
            private_group,
            lonely_group,
            sue,
            key,
            wares,
            files,
            rooms,
            plans,
            challenge,
            webhook,
        }
    }

    /// The same town once more, to be changed without this one.
    pub(crate) fn again(&self) -> Self {
        Self { place: self.place.again(), ..self.clone() }
    }
}

/// A post that moderators see first.
async fn post_that_waits(place: &Place) -> PostId {
    let settings = Settings { moderation: ModerationMode::Before, ..Town::settings() };
    let strict = Place { settings, ..place.clone() };
    strict.town(9).await.post("bo", "may I?").await.id
}

/// Nothing is wrong (I1 to I6).
pub(crate) async fn is_clean(town: &Town, after: &str) {
    let report = Verify::on(town.ground()).check().await.unwrap();
    assert!(report.is_clean(), "{after}: {:#?}", report.findings);
}
