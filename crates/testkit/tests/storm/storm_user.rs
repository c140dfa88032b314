//! A user in a storm.

use std::sync::Arc;

use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use roundtable_domain::{Caller, Code};
use roundtable_model::{
    CommentId, GroupId, GroupRole, ModerationStatus, Nickname, PostId, RequestId, Role, Time,
    UserId, Visibility,
};
use roundtable_testkit::{ActionOutcome, FeatureAction, FeatureOutcome, Town, UserAction};

use crate::deck::{self, OF_STAFF};
use crate::feature_choice::ActionChooser;
use crate::features::Arrival;
use crate::record_action::record_action;
use crate::record_feature::record_feature;
use crate::town_model::SharedModel;

/// Actions that a user still tries after deleting the account.
const TRIES_IN_VAIN: usize = 5;

pub(crate) struct StormUser {
    town: Arc<Town>,
    shared_model: Arc<SharedModel>,
    caller: Caller,
    nickname: Nickname,
    others: Vec<UserId>,
    /// The step at which the user deletes the account.
    leave_step: Option<usize>,
    random: SmallRng,
    seed: u64,
}

#[derive(Debug)]
enum Step {
    Act(UserAction),
    Pursuit(FeatureAction),
}

#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Done(ActionOutcome),
    Gained(FeatureOutcome),
}

/// Candidate objects of an action, mostly ones that the user may act on.
struct Candidates {
    other: UserId,
    post: Option<PostId>,
    comment: Option<CommentId>,
    group: Option<GroupId>,
    own_post: Option<PostId>,
    own_comment: Option<CommentId>,
    own_group: Option<GroupId>,
    joined: Option<GroupId>,
    member: UserId,
    followed: UserId,
    follower: UserId,
    blocked: UserId,
    suspended: UserId,
}

impl StormUser {
    pub(crate) fn new(
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
        Self { town, shared_model, caller, nickname, others, leave_step: None, random, seed }
    }

    pub(crate) fn leave_at(mut self, step: Option<usize>) -> Self {
        self.leave_step = step;
        self
    }

    /// Performs one step after the other. Some requests are repeated, concurrently or later.
    pub(crate) async fn live(mut self, steps: usize) {
        let me = self.caller.user_id.clone();
        for step in 0..steps {
            if self.shared_model.with(|model| !model.alive(&me)) {
                return self.act_after_deletion().await;
            }
            let next = self.choose(step);
            self.shared_model.with(|model| {
                model.chosen.insert(next.name());
                model.active_users.insert(me.clone());
                model.acts += 1;
            });
            self.town.advance_ms(self.random.random_range(0..30));
            let request: RequestId = format!("{}-{step}", self.seed).parse().unwrap();
            let before = self.said(&next).await;
            let answer = if self.random.random_bool(0.4) {
                self.take(&next, None).await
            } else {
                let (first, second) = tokio::join!(
                    self.take(&next, Some(&request)),
                    self.take(&next, Some(&request)),
                );
                let third = self.take(&next, Some(&request)).await;
                one_of([first, second, third], &next)
            };
            let after = self.said(&next).await;
            self.shared_model.with(|model| {
                let (Some((began, first)), Some((ended, last))) = (before, after) else { return };
                let arrival = Arrival { at: (began, ended), said: (first, last) };
                let who = next.admission(&me).unwrap();
                model.features.arrivals.entry(who).or_default().push(arrival);
            });
            self.shared_model.with(|model| match (&next, answer) {
                (Step::Act(act), Ok(Outcome::Done(done))) => record_action(model, &me, act, &done),
                (Step::Pursuit(feature_action), Ok(Outcome::Gained(outcome))) => {
                    record_feature(model, &me, feature_action, &outcome);
                }
                (Step::Pursuit(FeatureAction::ReadRoom(room, message)), Err(_)) => {
                    let room = model.features.rooms.get_mut(room).unwrap();
                    let seq = room.seq_of(message);
                    let refused = room.refused.entry(me.clone()).or_default();
                    *refused = (*refused).max(seq);
                }
                _ => {}
            });
        }
    }

    /// The time, and the newest message number of a group that a step may admit a user to.
    async fn said(&self, step: &Step) -> Option<(Time, u64)> {
        let (group, _) = step.admission(&self.caller.user_id)?;
        let core = self.town.context().core();
        let room = core.group(&group).get().await.unwrap().map(|group| group.room_id);
        let Some(room) = room else { return Some((self.town.now(), 0)) };
        let heads = core.room_heads(&[room]).strong().get().await.unwrap();
        Some((self.town.now(), heads.into_iter().flatten().next().map_or(0, |head| head.seq)))
    }

    async fn take(&self, step: &Step, request: Option<&RequestId>) -> Result<Outcome, Code> {
        match step {
            Step::Act(act) => {
                self.town.perform(&self.caller, act, request).await.map(Outcome::Done)
            }
            Step::Pursuit(feature_action) => self
                .town
                .perform_feature(&self.caller, feature_action, request)
                .await
                .map(Outcome::Gained),
        }
    }

    /// Asserts that a deleted account can do nothing.
    async fn act_after_deletion(mut self) {
        for _ in 0..TRIES_IN_VAIN {
            let card = deck::any(&mut self.random);
            let step = self.step(card);
            let answer = self.take(&step, None).await;
            assert!(answer.is_err(), "{:?} is gone, and did {step:?}", self.caller.user_id);
        }
    }

    fn choose(&mut self, step: usize) -> Step {
        if self.leave_step.is_some_and(|leave_step| step >= leave_step) {
            let (me, first) = (&self.caller.user_id, &self.nickname);
            let name = self.shared_model.with(|model| model.nicknames.get(me).cloned());
            return Step::Act(UserAction::DeleteAccount(name.unwrap_or_else(|| first.clone())));
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

    fn step(&mut self, card: &str) -> Step {
        if !FeatureAction::NAMES.contains(&card) {
            return Step::Act(self.act(card));
        }
        let Self { caller, town, shared_model, others, random, .. } = self;
        let mut any = || others.choose(random).unwrap().clone();
        let (other, another) = (any(), any());
        let start = random.random_range(0..1_000);
        Step::Pursuit(shared_model.with(|model| {
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
            "Follow" | "Unfollow" | "Accept" | "Reject" | "Mute" | "Block" | "Unblock" => {
                Some(to_people(card, found, random))
            }
            "DeleteGroup" | "Join" | "Leave" | "Invite" | "Approve" | "Remove" | "SetRole" => {
                to_groups(card, found, random)
            }
            "TurnPrivate" | "Rename" | "Suspend" | "Unsuspend" | "SetRoles" => {
                Some(to_accounts(card, found, random))
            }
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

fn to_people(card: &str, found: Candidates, random: &mut SmallRng) -> UserAction {
    match card {
        "Follow" => UserAction::Follow(found.other),
        "Unfollow" => UserAction::Unfollow(found.followed),
        "Accept" => UserAction::Accept(found.follower),
        "Reject" => UserAction::Reject(found.follower),
        "Mute" => UserAction::Mute(found.followed, random.random()),
        "Block" => UserAction::Block(found.other),
        _ => UserAction::Unblock(found.blocked),
    }
}

fn to_groups(card: &str, found: Candidates, random: &mut SmallRng) -> Option<UserAction> {
    let Candidates { other, group, own_group, joined, member, .. } = found;
    Some(match card {
        "DeleteGroup" => UserAction::DeleteGroup(own_group?),
        "Join" => UserAction::Join(group?),
        "Leave" => UserAction::Leave(joined?),
        "Invite" => UserAction::Invite(own_group?, other),
        "Approve" => UserAction::Approve(own_group?, member),
        "Remove" => UserAction::Remove(own_group?, member),
        _ => UserAction::SetRole(own_group?, member, *GroupRole::ALL.choose(random)?),
    })
}

fn to_accounts(card: &str, found: Candidates, random: &mut SmallRng) -> UserAction {
    match card {
        "TurnPrivate" => UserAction::TurnPrivate(random.random_bool(0.3)),
        "Rename" => UserAction::Rename(format!("n{}", random.random::<u16>()).parse().unwrap()),
        "Suspend" => UserAction::Suspend(found.other),
        "Unsuspend" => UserAction::Unsuspend(found.suspended),
        _ if random.random() => {
            UserAction::SetRoles(found.other, vec![Role::User, Role::Moderator])
        }
        _ => UserAction::SetRoles(found.other, vec![Role::User]),
    }
}

fn to_content(card: &str, found: Candidates, random: &mut SmallRng) -> Option<UserAction> {
    let Candidates { post, comment, own_post, own_comment, .. } = found;
    let status = *[ModerationStatus::Approved, ModerationStatus::Rejected].choose(random)?;
    Some(match card {
        "DeletePost" => UserAction::DeletePost(own_post?),
        "PostActivity" => UserAction::PostActivity(own_post?),
        "Like" => UserAction::Like(post?),
        "Unlike" => UserAction::Unlike(post?),
        "Share" => UserAction::Share(post?),
        "Unshare" => UserAction::Unshare(post?),
        "DeleteComment" => UserAction::DeleteComment(own_comment?),
        "LikeComment" => UserAction::LikeComment(comment?),
        "UnlikeComment" => UserAction::UnlikeComment(comment?),
        "Report" => UserAction::Report(post?),
        "ReportComment" => UserAction::ReportComment(comment?),
        "Moderate" => UserAction::Moderate(post?, status),
        "ModerateComment" => UserAction::ModerateComment(comment?, status),
        other => panic!("{other} is no card of this deck"),
    })
}

impl Step {
    const fn name(&self) -> &'static str {
        match self {
            Self::Act(act) => act.name(),
            Self::Pursuit(feature_action) => feature_action.name(),
        }
    }
}

impl Step {
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

/// Asserts that a request sent three times has one outcome. Its result may be gone by the last
/// time.
fn one_of(answers: [Result<Outcome, Code>; 3], step: &Step) -> Result<Outcome, Code> {
    let mut done = answers.iter().filter_map(|answer| answer.as_ref().ok());
    let Some(first) = done.next() else { return answers.into_iter().next().unwrap() };
    for other in done {
        assert_eq!(first, other, "{step:?} had two outcomes");
    }
    Ok(first.clone())
}
