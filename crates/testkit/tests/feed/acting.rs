//! How the steps of a history are taken.

use std::sync::Arc;

use roundtable_domain::{Code, NewPromotion, Promotions, Refusal};
use roundtable_model::{ActorId, PromotionReason, Role};
use roundtable_testkit::{Act, Done};

use crate::cast::{Door, Name};
use crate::reading::Mismatch;
use crate::stage::Stage;
use crate::stalling::Stalled;
use crate::step::{Actor, History, Opening, Step};

impl Stage {
    /// Lives through a history. The first page that is not as it should be ends it.
    pub(crate) async fn live(&mut self, history: &History) -> Result<(), Mismatch> {
        self.open(&history.opening).await;
        for step in &history.steps {
            Box::pin(self.take(step)).await?;
            self.wait(history.pace_ms);
        }
        Ok(())
    }

    async fn open(&mut self, opening: &Opening) {
        self.set_policy(None, opening.policy);
        self.tell_opening(opening);
        for (follower, followee) in &opening.follows {
            let _ = self.act(*follower, Door::North, &Act::Follow(followee.id())).await;
            let _ = self.act(*followee, Door::North, &Act::Accept(follower.id())).await;
        }
        for (member, club) in &opening.members {
            let group = self.club(*club);
            let _ = self.act(*member, Door::North, &Act::Join(group.clone())).await;
            let letting_in = Act::Approve(group, member.id());
            let _ = self.act(club.owner(), Door::North, &letting_in).await;
        }
        for actor in &opening.promoted {
            self.promote(*actor, true).await;
        }
        // After the margin, copies can be relied on.
        self.wait(2_000);
    }

    /// Takes a step, and tells of it.
    pub(crate) async fn take(&mut self, step: &Step) -> Result<(), Mismatch> {
        self.tell(step);
        match step {
            Step::Do { who, at, deed } => {
                if let Err(code) = self.deed(*who, *at, *deed).await {
                    self.tell_refusal(code);
                }
            }
            Step::Promote(actor) => self.promote(*actor, true).await,
            Step::Demote(actor) => self.promote(*actor, false).await,
            Step::Policy(at, policy) => self.set_policy(*at, *policy),
            Step::Settle => self.worker.town.settle().await,
            Step::Die(writes) => {
                let work = self.worker.town.settle();
                let done = self.mishaps.dying(*writes, work).await;
                self.tally.died += usize::from(done.is_none());
            }
            Step::Park(writes) => {
                let work = self.worker.town.settle();
                self.mishaps.refused(*writes, work).await;
                let letters = self.worker.town.runner().dead_letters();
                self.tally.parked += letters.count().await.unwrap();
            }
            Step::Redrive => {
                let letters = self.worker.town.runner().dead_letters();
                letters.redrive_all(usize::MAX).await.unwrap();
            }
            Step::Stall(waits) => {
                self.resume().await;
                let town = Arc::clone(&self.worker.town);
                let work = async move { town.settle().await };
                self.stalled = Stalled::after(*waits, work).await;
                self.tally.stalled += usize::from(self.stalled.is_some());
            }
            Step::Resume => self.resume().await,
            Step::Wait(ms) => self.wait(*ms),
            Step::Clock(at, beside_ms) => self.set_clock(*at, *beside_ms),
            Step::WarmUp(at) => self.warm_up(*at).await,
            Step::Restart(at, ttl_days) => self.restart(*at, *ttl_days).await,
            Step::Read(read) => self.read(*read).await?,
            Step::ReadWhile { read, waits, meanwhile } => {
                self.read_while(*read, *waits, meanwhile).await?;
            }
            Step::WarmUpWhile { at, waits, meanwhile } => {
                self.warm_up_while(*at, *waits, meanwhile).await?;
            }
        }
        Ok(())
    }

    async fn resume(&mut self) {
        if let Some(stalled) = self.stalled.take() {
            stalled.go_on().await;
        }
    }

    /// Ada, who runs the place, decides whose activities are copied.
    async fn promote(&mut self, actor: Actor, to: bool) {
        let subject_id: ActorId = match actor {
            Actor::Person(name) => (&name.id()).into(),
            Actor::Club(club) => (&self.club(club)).into(),
        };
        let town = &self.door(Door::North).town;
        let reason = PromotionReason::Manual;
        let input = NewPromotion { subject_id, fanout_enabled: to, reason, thresholds: None };
        let ada = town.staff("ada", Role::Admin);
        if let Err(error) = Promotions::new(town.ground().clone()).set(&ada, &input, None).await {
            let code = error.code();
            assert!(code != Code::Internal, "{error}");
            self.tell_refusal(code);
        }
    }

    pub(crate) async fn act(&mut self, who: Name, at: Door, act: &Act) -> Result<(), Code> {
        match self.door(at).town.act(&who.caller(), act, None).await? {
            Done::Post(post) => self.posts.push((post, who)),
            Done::Comment(comment) => self.comments.push((comment, who)),
            Done::Group(_) | Done::Other => {}
        }
        Ok(())
    }
}
