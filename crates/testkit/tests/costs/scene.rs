//! The town in which a mutation is recorded: users with typical profiles, and texts of typical
//! length.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{Caller, Promotions, Registration, Settings};
use roundtable_model::entities::{Comment, Post};
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{PostId, RequestId, Role, Tag, samples};
use roundtable_testkit::Town;

use crate::recorder::{CostRecorder, Origin, Recording};

/// Ids of the length that the services generate, because keys are part of an item's size.
pub(crate) const ANA: &str = "01JGXE6N0YM9S346Q3D25VT4F5";
pub(crate) const BO: &str = "01JGYENESYV37E3S3E28JT97KB";
pub(crate) const CLEO: &str = "01JGZW5NKN6CQ643DZVMXXQKFB";
pub(crate) const DAN: &str = "01JH6B8QG6F5KZNWJ47TAN9ZT2";
pub(crate) const MO: &str = "01JH81C8B44MNPZX45HY43KWJR";

const TAGS: [&str; 2] = ["running", "river"];

const BEGIN_MS: u64 = 1_737_991_800_000;

/// The store that every scene starts with.
#[derive(Debug)]
pub(crate) struct TownSeed {
    backend: Arc<Reference>,
    clock: Arc<ManualClock>,
    now_ms: u64,
}

impl TownSeed {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let backend = Arc::new(Reference::new(clock.clone()));
        let store = Store::shared(backend.clone());
        let town = Town::on(store, clock.clone(), Town::settings(), 0).await;
        for id in [ANA, BO, CLEO, DAN, MO] {
            town.add_user(id, |user| user.nickname = nickname(id).parse().unwrap()).await;
        }
        for id in [ANA, BO, CLEO, DAN] {
            settle_in(&town, id).await;
        }
        let now_ms = town.now().ms();
        Self { backend, clock, now_ms }
    }
}

/// Gives a user the counters and the head that users have after their first days, and nothing else.
async fn settle_in(town: &Town, name: &str) {
    let post = town.post(name, "Hello.").await;
    town.posts().delete(&town.caller(name), &post.id, None).await.unwrap();
    for (follower, followee) in [(MO, name), (name, MO)] {
        town.follow(follower, followee).await;
        town.settle().await;
        let (follower, followee) = (town.caller(follower), town.id(followee));
        town.follows().unfollow(&follower, &followee, None).await.unwrap();
    }
    town.settle().await;
}

/// A town, and the counts of this run.
pub(crate) struct Scene {
    pub(crate) town: Town,
    recorder: CostRecorder,
    counts: BTreeMap<&'static str, u32>,
}

impl Scene {
    pub(crate) async fn new(seed: &TownSeed, counts: BTreeMap<&'static str, u32>) -> Self {
        let has = |name| counts.get(name).is_some_and(|count| *count > 0);
        let mut settings = Town::settings();
        // Every reaction moves the post among the popular ones, or none does.
        settings.score.popular_min = if has("rescored") { 1 } else { u64::MAX };
        settings.score.bucket = 1;
        if has("invitations") {
            settings.registration = Registration::Invitation;
        }
        seed.clock.set_ms(seed.now_ms);
        let recorder = CostRecorder::new(seed.backend.fork(), settings.tables.ops.clone());
        let store = Store::new(recorder.clone()).observed(Arc::new(recorder.clone()));
        let town = Town::on(store, seed.clock.clone(), settings, 1).await;
        Self { town, recorder, counts }
    }

    /// Returns the same town with other settings, for the same recording.
    pub(crate) async fn with_settings(&self, settings: Settings) -> Town {
        let store = self.town.context().store().clone();
        Town::on(store, self.town.clock().clone(), settings, 2).await
    }

    /// Returns the value of a count in this run; zero if the mutation has no such count.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.counts.get(name).map_or(0, |count| usize::try_from(*count).unwrap())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.count(name) > 0
    }

    /// Returns as many users as the count called `name` says, apart from Ana, Bo and Mo.
    pub(crate) fn others(&self, name: &str) -> &'static [&'static str] {
        &[CLEO, DAN][..self.count(name)]
    }

    /// Returns a request id if the call has one in this run.
    pub(crate) fn request(&self) -> Option<RequestId> {
        self.has("request_ids").then(|| "6f1c2f0e-4b0b-4c7e-9d3a-2f8a1b7c5d90".parse().unwrap())
    }

    /// Records a mutation, and then the stream processors.
    pub(crate) async fn record<T, E: Debug>(&self, mutation: impl Future<Output = Result<T, E>>) {
        self.town.settle().await;
        self.town.advance_ms(1_000);
        self.recorder.attribute_to(Some(Origin::Own));
        mutation.await.unwrap();
        self.recorder.attribute_to(Some(Origin::Derived));
        self.town.settle().await;
        self.recorder.attribute_to(None);
    }

    pub(crate) fn take_recording(&self) -> Recording {
        self.recorder.take()
    }

    pub(crate) fn ana(&self) -> Caller {
        self.town.caller(ANA)
    }

    pub(crate) fn bo(&self) -> Caller {
        self.town.caller(BO)
    }

    /// A moderator, whose role is stored.
    pub(crate) async fn moderator(&self) -> Caller {
        self.town.grant_role(MO, Role::Moderator).await
    }

    pub(crate) async fn admin(&self) -> Caller {
        self.town.grant_role(MO, Role::Admin).await
    }

    /// As many tags as the count `tags` says.
    pub(crate) fn tags(&self) -> Vec<Tag> {
        TAGS[..self.count("tags")].iter().map(|tag| tag.parse().unwrap()).collect()
    }

    /// The text of a typical post, with tags and mentions.
    pub(crate) fn text(&self) -> String {
        let tags = TAGS[..self.count("tags")].iter().map(|tag| format!(" #{tag}"));
        let mentions = self.others("mentions").iter().map(|name| format!(" @{}", nickname(name)));
        let names: String = tags.chain(mentions).collect();
        // Long enough to cost the same with and without tags and mentions.
        let filler = "Nineteen kilometres along the river. ".repeat(14);
        format!("{} {filler}{names}", samples::post().content.replace(['#', '@'], ""))
    }

    pub(crate) async fn post(&self, author: &str) -> Post {
        self.town.post(author, &self.text()).await
    }

    /// Has an author's activities copied into as many feeds as the count `feeds` says.
    pub(crate) async fn fan_out(&self, author: &str) {
        for follower in self.others("feeds") {
            self.town.follow(follower, author).await;
        }
        if self.has("feeds") {
            let promotions = Promotions::new(self.town.context().clone());
            promotions.set_as_operator(&(&self.town.id(author)).into(), true).await.unwrap();
        }
    }

    pub(crate) async fn comment(&self, author: &str, post: &PostId) -> Comment {
        self.town.comment(author, post, &samples::comment().content).await
    }

    /// Ana's post with a like, so that its counter exists.
    pub(crate) async fn post_with_reactions(&self) -> Post {
        let post = self.post(ANA).await;
        self.town.like(CLEO, &post.id).await;
        post
    }
}

fn nickname(id: &str) -> &'static str {
    match id {
        ANA => "ana_runs",
        BO => "bo_bakes",
        CLEO => "cleo_care",
        DAN => "dan_digs",
        _ => "mo_mods",
    }
}
