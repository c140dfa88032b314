//! Runs the steps of a history.

use std::sync::Arc;

use roundtable_domain::{Code, NewPromotion, Promotions, Refusal};
use roundtable_model::{ActorId, PromotionReason, Role};
use roundtable_testkit::{ActionOutcome, UserAction};

use crate::cast::{Name, Server};
use crate::reading::Mismatch;
use crate::stage::Stage;
use crate::stalled::Stalled;
use crate::step::{Actor, History, Opening, Step};

impl Stage {
    /// Runs a history up to the first wrong page.
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
            let _ = self.act(*follower, Server::North, &UserAction::Follow(followee.id())).await;
            let _ = self.act(*followee, Server::North, &UserAction::Accept(follower.id())).await;
        }
        for (member, club) in &opening.members {
            let group = self.club(*club);
            let _ = self.act(*member, Server::North, &UserAction::Join(group.clone())).await;
            let letting_in = UserAction::Approve(group, member.id());
            let _ = self.act(club.owner(), Server::North, &letting_in).await;
        }
        for actor in &opening.promoted {
            self.promote(*actor, true).await;
        }
        // After the margin, feeds rely on copies.
        self.wait(2_000);
    }

    /// Runs a step, and adds it to the story.
    pub(crate) async fn take(&mut self, step: &Step) -> Result<(), Mismatch> {
        self.tell(step);
        match step {
            Step::Do { who, at, action } => {
                if let Err(code) = self.action(*who, *at, *action).await {
                    self.tell_refusal(code);
                }
            }
            Step::Promote(actor) => self.promote(*actor, true).await,
            Step::Demote(actor) => self.promote(*actor, false).await,
            Step::Policy(at, policy) => self.set_policy(*at, *policy),
            Step::Settle => self.worker.town.settle().await,
            Step::Die(writes) => {
                let work = self.worker.town.settle();
                let done = self.faulty_backend.dying(*writes, work).await;
                self.stats.died += usize::from(done.is_none());
            }
            Step::Park(writes) => {
                let work = self.worker.town.settle();
                self.faulty_backend.refused(*writes, work).await;
                let letters = self.worker.town.runner().dead_letters();
                self.stats.parked += letters.count().await.unwrap();
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
                self.stats.stalled += usize::from(self.stalled.is_some());
            }
            Step::Resume => self.resume().await,
            Step::Wait(ms) => self.wait(*ms),
            Step::Clock(at, beside_ms) => self.set_clock(*at, *beside_ms),
            Step::WarmUp(at) => self.warm_up(*at).await,
            Step::Restart(at, ttl_days) => self.restart(*at, *ttl_days).await,
            Step::Read(read) => self.read(*read).await?,
            Step::ReadWhile { read, waits, concurrent_steps } => {
                self.read_while(*read, *waits, concurrent_steps).await?;
            }
            Step::WarmUpWhile { at, waits, concurrent_steps } => {
                self.warm_up_while(*at, *waits, concurrent_steps).await?;
            }
        }
        Ok(())
    }

    async fn resume(&mut self) {
        if let Some(stalled) = self.stalled.take() {
            stalled.resume().await;
        }
    }

    /// Ada, an admin, promotes or demotes an actor.
    async fn promote(&mut self, actor: Actor, to: bool) {
        let subject_id: ActorId = match actor {
            Actor::Person(name) => (&name.id()).into(),
            Actor::Club(club) => (&self.club(club)).into(),
        };
        let town = &self.server(Server::North).town;
        let reason = PromotionReason::Manual;
        let input = NewPromotion { subject_id, fanout_enabled: to, reason, thresholds: None };
        let ada = town.staff("ada", Role::Admin);
        if let Err(error) = Promotions::new(town.context().clone()).set(&ada, &input, None).await {
            let code = error.code();
            assert!(code != Code::Internal, "{error}");
            self.tell_refusal(code);
        }
    }

    pub(crate) async fn act(
        &mut self,
        who: Name,
        at: Server,
        act: &UserAction,
    ) -> Result<(), Code> {
        match self.server(at).town.perform(&who.caller(), act, None).await? {
            ActionOutcome::Post(post) => self.posts.push((post, who)),
            ActionOutcome::Comment(comment) => self.comments.push((comment, who)),
            ActionOutcome::Group(_) | ActionOutcome::Other => {}
        }
        Ok(())
    }
}
