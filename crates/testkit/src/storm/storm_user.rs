//! A user in a storm.

mod recorded;
mod requests;

use std::sync::Arc;

use crate::{ActionOutcome, FeatureAction, FeatureOutcome, Town, UserAction};
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use roundtable_domain::{Caller, Code};
use roundtable_model::{GroupId, Nickname, RequestId, Role, Time, UserId, Visibility};

use self::requests::one_of;
use super::action_choice::{Candidates, to_accounts, to_content, to_groups, to_people};
use super::deck::{self, OF_STAFF};
use super::feature_choice::ActionChooser;
use super::features::Arrival;
use super::record_action::record_action;
use super::record_feature::{record_feature, record_refusal};
use super::town_model::SharedModel;

/// Actions that a user still tries after deleting the account.
const TRIES_IN_VAIN: usize = 5;

/// A user who performs random actions, one after the other.
#[derive(Debug)]
pub struct StormUser {
    town: Arc<Town>,
    shared_model: Arc<SharedModel>,
    caller: Caller,
    nickname: Nickname,
    others: Vec<UserId>,
    /// The step at which the user deletes the account.
    leave_step: Option<usize>,
    /// Helps a suspended user to an answer. If present, every request has an id, so that it can be
    /// repeated when its outcome is unknown.
    admin: Option<Caller>,
    random: SmallRng,
    seed: u64,
    steps_begun: usize,
    /// The request that has no answer yet.
    in_flight: Option<InFlightStep>,
}

#[derive(Clone, Debug)]
pub(super) enum StormStep {
    Act(UserAction),
    Pursuit(FeatureAction),
}

/// A request that may have been sent.
#[derive(Clone, Debug)]
struct InFlightStep {
    step: StormStep,
    request: RequestId,
    /// The state of the group that it may admit a user to, before it was sent.
    before: Option<(Time, u64)>,
    /// The earliest and the latest time since then at which a process began or ended: the clock may have
    /// been turned back in between.
    restarts: Option<(Time, Time)>,
}

#[derive(Clone, Debug, PartialEq)]
enum StormOutcome {
    Done(ActionOutcome),
    Gained(FeatureOutcome),
}

impl StormUser {
    /// Creates a user whose actions are chosen by `seed`.
    pub fn new(
        town: Arc<Town>,
        shared_model: Arc<SharedModel>,
        name: &str,
        names: &[String],
        seed: u64,
    ) -> Self {
        let roles = match names.len() - names.iter().position(|other| other == name).unwrap() {
            1 => vec![Role::Admin],
            2 => vec![Role::Moderator],
            _ => vec![Role::User],
        };
        let caller = Caller::with_roles(town.id(name), &roles);
        let others = names.iter().filter(|other| *other != name);
        let others = others.map(|other| town.id(other)).collect();
        let (nickname, random) = (name.parse().unwrap(), SmallRng::seed_from_u64(seed));
        Self {
            town,
            shared_model,
            caller,
            nickname,
            others,
            leave_step: None,
            admin: None,
            random,
            seed,
            steps_begun: 0,
            in_flight: None,
        }
    }

    /// Deletes the account at this step.
    #[must_use]
    pub const fn leave_at(mut self, step: Option<usize>) -> Self {
        self.leave_step = step;
        self
    }

    /// Gives every request an id, and repeats those whose outcome is unknown. `admin` helps if the
    /// user is suspended meanwhile.
    #[must_use]
    pub fn repeating(mut self, admin: Caller) -> Self {
        self.admin = Some(admin);
        self
    }

    /// Performs one step after the other. Some requests are repeated, concurrently or later.
    pub async fn live(&mut self, steps: usize) {
        for _ in 0..steps {
            if self.shared_model.with(|model| !model.alive(&self.caller.user_id)) {
                return self.act_after_deletion().await;
            }
            self.begin_step().await;
            self.finish_step().await;
        }
    }

    /// Chooses a step, and notes it as in flight.
    async fn begin_step(&mut self) {
        let number = self.steps_begun;
        self.steps_begun += 1;
        let step = self.choose(number);
        self.shared_model.with(|model| {
            model.chosen.insert(step.name());
            model.active_users.insert(self.caller.user_id.clone());
            model.acts += 1;
        });
        self.town.advance_ms(self.random.random_range(0..30));
        let before = self.said(&step).await;
        let request = format!("{}-{number}", self.seed).parse().unwrap();
        self.in_flight = Some(InFlightStep { step, request, before, restarts: None });
    }

    /// Sends the request in flight, at least once, and records its outcome.
    async fn finish_step(&mut self) {
        let Some(in_flight) = self.in_flight.clone() else { return };
        let InFlightStep { step, request, .. } = &in_flight;
        let mut answer = if self.random.random_bool(0.4) {
            let request = Some(request).filter(|_| self.admin.is_some());
            self.take(step, request).await
        } else {
            let (first, second) =
                tokio::join!(self.take(step, Some(request)), self.take(step, Some(request)));
            let third = self.take(step, Some(request)).await;
            one_of([first, second, third], step)
        };
        if answer == Err(Code::OutcomeUnknown) {
            answer = self.repeat(step, request).await;
        }
        self.record(&in_flight, answer).await;
    }

    /// Goes on in a new process, after a crash at `crashed_at` in the town's time, and repeats the
    /// request that was in flight.
    pub async fn resume(&mut self, town: Arc<Town>, crashed_at: Time) {
        self.town = town;
        let Some(in_flight) = &mut self.in_flight else { return };
        let now = self.town.now();
        let (earliest, latest) = in_flight.restarts.unwrap_or((now, crashed_at));
        // Kept, in case this process ends before there is an answer.
        in_flight.restarts = Some((earliest.min(now), latest.max(crashed_at)));
        let in_flight = in_flight.clone();
        let answer = self.repeat(&in_flight.step, &in_flight.request).await;
        self.record(&in_flight, answer).await;
    }

    /// Records the outcome of the request in flight, which ends it.
    async fn record(&mut self, in_flight: &InFlightStep, answer: Result<StormOutcome, Code>) {
        let InFlightStep { step, before, request, restarts } = in_flight;
        let me = &self.caller.user_id;
        let answer = match answer {
            Err(refusal) => self.recorded(step, request).await.ok_or(refusal),
            answer => answer,
        };
        let after = self.said(step).await;
        self.shared_model.with(|model| {
            if let (Some((began, first)), Some((ended, last))) = (*before, after) {
                let (earliest, latest) = restarts.unwrap_or((began, ended));
                let at = (began.min(ended).min(earliest), began.max(ended).max(latest));
                let arrival = Arrival { at, said: (first, last) };
                let who = step.admission(me).unwrap();
                model.features.arrivals.entry(who).or_default().push(arrival);
            }
            match (step, answer) {
                (StormStep::Act(act), Ok(StormOutcome::Done(done))) => {
                    record_action(model, me, act, &done);
                }
                (StormStep::Pursuit(feature_action), Ok(StormOutcome::Gained(outcome))) => {
                    record_feature(model, me, feature_action, &outcome);
                }
                (StormStep::Pursuit(feature_action), Err(_)) => {
                    record_refusal(model, me, feature_action);
                }
                _ => {}
            }
        });
        self.in_flight = None;
    }

    /// The time, and the newest message number of a group that a step may admit a user to.
    async fn said(&self, step: &StormStep) -> Option<(Time, u64)> {
        let (group, _) = step.admission(&self.caller.user_id)?;
        let core = self.town.context().core();
        let room = core.group(&group).get().await.unwrap().map(|group| group.room_id);
        let Some(room) = room else { return Some((self.town.now(), 0)) };
        let heads = core.room_heads(&[room]).strong().get().await.unwrap();
        Some((self.town.now(), heads.into_iter().flatten().next().map_or(0, |head| head.seq)))
    }

    /// Asserts that a deleted account can do nothing.
    async fn act_after_deletion(&mut self) {
        for _ in 0..TRIES_IN_VAIN {
            let card = deck::any(&mut self.random);
            let step = self.step(card);
            let answer = self.take(&step, None).await;
            assert!(answer.is_err(), "{:?} is gone, and did {step:?}", self.caller.user_id);
        }
    }

    fn choose(&mut self, step: usize) -> StormStep {
        if self.leave_step.is_some_and(|leave_step| step >= leave_step) {
            let (me, first) = (&self.caller.user_id, &self.nickname);
            let name = self.shared_model.with(|model| model.nicknames.get(me).cloned());
            return StormStep::Act(UserAction::DeleteAccount(
                name.unwrap_or_else(|| first.clone()),
            ));
        }
        let works = self.caller.moderates() && self.random.random_bool(0.5);
        let card = if works {
            OF_STAFF.choose(&mut self.random).copied().unwrap()
        } else {
            self.shared_model.with(|model| model.deck.deal())
        };
        let step = self.step(card);
        if !works && step.name() != card {
            self.shared_model.with(|model| model.deck.give_back(card));
        }
        step
    }

    fn step(&mut self, card: &str) -> StormStep {
        if !FeatureAction::NAMES.contains(&card) {
            return StormStep::Act(self.act(card));
        }
        let Self { caller, town, shared_model, others, random, .. } = self;
        let mut any = || others.choose(random).unwrap().clone();
        let (other, another) = (any(), any());
        let start = random.random_range(0..1_000);
        StormStep::Pursuit(shared_model.with(|model| {
            let mut doer = ActionChooser {
                me: &caller.user_id,
                is_staff: caller.moderates(),
                joined: model.a_group_with(&caller.user_id, start),
                now: town.now(),
                other,
                another,
                random,
            };
            doer.feature_action(card, &model.features)
        }))
    }

    /// The action of a card; a post if there is no object for it yet.
    fn act(&mut self, card: &str) -> UserAction {
        let found = self.look();
        let random = &mut self.random;
        let text = format!("thought {} #t{}", random.random::<u32>(), random.random_range(0..9));
        let visibility = match random.random_range(0..6) {
            0 => Visibility::Followers,
            1 => Visibility::Private,
            _ => Visibility::Public,
        };
        let group = found.joined.clone().filter(|_| random.random_bool(0.3));
        let post = UserAction::Post { content: text.clone(), group, visibility };
        let act = match card {
            "Post" => None,
            "EditPost" => found.own_post.map(|post| UserAction::EditPost(post, text, visibility)),
            "Comment" => {
                let parent = found.comment.filter(|_| random.random_bool(0.3));
                found.post.map(|post| UserAction::Comment { post, parent, content: text })
            }
            "EditComment" => {
                found.own_comment.map(|comment| UserAction::EditComment(comment, text))
            }
            "CreateGroup" => Some(UserAction::CreateGroup { name: text, private: random.random() }),
            "UpdateGroup" => found.own_group.map(|group| UserAction::UpdateGroup(group, text)),
            "Follow" | "Unfollow" | "Accept" | "Reject" | "Mute" | "MuteUser" | "UnmuteUser"
            | "ReportUser" | "DecideCase" | "Block" | "Unblock" => {
                Some(to_people(card, found, random))
            }
            "TurnGroupPrivate" | "ReviveGroup" | "DeleteGroup" | "Join" | "Leave" | "Invite"
            | "Approve" | "Remove" | "SetRole" => to_groups(card, found, random),
            "TurnPrivate" | "Rename" | "Suspend" | "Unsuspend" | "SetRoles" | "SetTier"
            | "SetVerified" => Some(to_accounts(card, found, random)),
            _ => to_content(card, found, random),
        };
        act.unwrap_or(post)
    }

    fn look(&mut self) -> Candidates {
        let (random, me) = (&mut self.random, &self.caller.user_id);
        let other = self.others.choose(random).unwrap();
        let (start, knows) = (random.random_range(0..1000), random.random_bool(0.9));
        let own = Some(me).filter(|_| knows);
        self.shared_model.with(|model| {
            let (post, comment) = (model.a_post(None, start), model.a_comment(None, start));
            let group = model.groups.choose(random).cloned();
            let own_group = model.a_group(own, start).or_else(|| group.clone());
            let member = own_group.as_ref().and_then(|group| model.a_member(group, start));
            let follows = |(edge, follows): (&(UserId, UserId), &Option<bool>)| {
                follows.unwrap_or(false).then(|| edge.clone())
            };
            let mut follows = model.follows.iter().filter_map(follows);
            let followed = follows.find(|(follower, _)| knows && follower == me);
            let follower = follows.find(|(_, followee)| knows && followee == me);
            let mut blocks = model.blocks.iter().filter(|(_, blocks)| **blocks);
            let blocked = blocks.find(|((blocker, _), _)| knows && blocker == me);
            Candidates {
                own_post: model.a_post(own, start).or_else(|| post.clone()),
                own_comment: model.a_comment(own, start).or_else(|| comment.clone()),
                joined: model.a_group_with(me, start).filter(|_| knows).or_else(|| group.clone()),
                group,
                own_group,
                post,
                comment,
                member: member.unwrap_or_else(|| other.clone()),
                followed: followed.map_or_else(|| other.clone(), |(_, followee)| followee),
                follower: follower.map_or_else(|| other.clone(), |(follower, _)| follower),
                blocked: blocked.map_or_else(|| other.clone(), |((_, blocked), _)| blocked.clone()),
                suspended: model.suspended.choose(random).unwrap_or(other).clone(),
                other: other.clone(),
            }
        })
    }
}

impl StormStep {
    const fn name(&self) -> &'static str {
        match self {
            Self::Act(act) => act.name(),
            Self::Pursuit(feature_action) => feature_action.name(),
        }
    }

    /// The group that it may admit a user to, and the user.
    fn admission(&self, me: &UserId) -> Option<(GroupId, UserId)> {
        match self {
            Self::Act(UserAction::Join(group))
            | Self::Pursuit(FeatureAction::OpenGroupRoom(group)) => {
                Some((group.clone(), me.clone()))
            }
            Self::Act(UserAction::Invite(group, user) | UserAction::Approve(group, user)) => {
                Some((group.clone(), user.clone()))
            }
            _ => None,
        }
    }
}
