//! The town in which a mutation is recorded: users with typical profiles, and texts of typical
//! length.

use std::fmt::Debug;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{Caller, Settings};
use roundtable_model::entities::{Comment, Post};
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{PostId, RequestId, Role, Tag, samples};
use roundtable_testkit::Town;

use crate::recorder::{CostRecorder, Origin, Recording};

/// Ids of the length that the services generate, because keys are part of an item's size.
pub(crate) const ANA: &str = "01JGXE6N0YM9S346Q3D25VT4F5";
pub(crate) const BO: &str = "01JGYENESYV37E3S3E28JT97KB";
pub(crate) const CLEO: &str = "01JGZW5NKN6CQ643DZVMXXQKFB";
pub(crate) const MO: &str = "01JH6B8QG6F5KZNWJ47TAN9ZT2";

const BEGIN_MS: u64 = 1_737_991_800_000;

/// A town, and the count that is one in this run; all others are zero.
pub(crate) struct Scene {
    pub(crate) town: Town,
    recorder: CostRecorder,
    count: Option<&'static str>,
}

impl Scene {
    pub(crate) async fn new(count: Option<&'static str>) -> Self {
        let mut settings = Town::settings();
        if count == Some("rescored") {
            // Every reaction moves the post among the popular ones.
            (settings.score.popular_min, settings.score.bucket) = (1, 1);
        }
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let backend = Reference::new(clock.clone());
        let recorder = CostRecorder::new(backend, settings.tables.ops.clone());
        let store = Store::new(recorder.clone()).observed(Arc::new(recorder.clone()));
        let town = Town::on(store, clock, settings, 0).await;
        for (id, nickname) in [(ANA, "ana_runs"), (BO, "bo_bakes"), (CLEO, "cleo_c"), (MO, "mo_mods")] {
            town.add_user(id, |user| user.nickname = nickname.parse().unwrap()).await;
        }
        Self { town, recorder, count }
    }

    /// Returns the same town with other settings, for the same recording.
    pub(crate) async fn with_settings(&self, settings: Settings) -> Town {
        let store = self.town.context().store().clone();
        Town::on(store, self.town.clock().clone(), settings, 1).await
    }

    /// Returns whether the count called `name` is one in this run.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.count == Some(name)
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

    /// One tag if the count `tags` is one.
    pub(crate) fn tags(&self) -> Vec<Tag> {
        if self.has("tags") { vec!["running".parse().unwrap()] } else { Vec::new() }
    }

    /// The text of a typical post, with a tag and a mention if their counts are one.
    pub(crate) fn text(&self) -> String {
        let tag = if self.has("tags") { "#running" } else { "running." };
        let mention = if self.has("mentions") { "@bo_bakes" } else { "bo bakes." };
        // Long enough to cost the same with and without tags and mentions.
        let filler = "Nineteen kilometres along the river. ".repeat(14);
        format!("{} {filler}{tag} {mention}", samples::post().content)
    }

    pub(crate) async fn post(&self, author: &str) -> Post {
        self.town.post(author, &self.text()).await
    }

    /// Makes an author's activities go to a follower's feed if the count `feeds` is one.
    pub(crate) async fn fan_out(&self, author: &str) {
        if self.has("feeds") {
            self.town.follow(CLEO, author).await;
            let promotions = roundtable_domain::Promotions::new(self.town.context().clone());
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
