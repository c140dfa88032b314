//! Somebody in a storm.

use std::sync::Arc;

use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use roundtable_domain::{Caller, Code};
use roundtable_model::{
    CommentId, GroupId, GroupRole, ModerationStatus, Nickname, PostId, RequestId, Role, Time,
    UserId, Visibility,
};
use roundtable_testkit::{Act, Done, Gained, Pursuit, Town};

use crate::deck::{self, OF_STAFF};
use crate::life::Arrival;
use crate::model::Naive;
use crate::pursuing::Doer;
use crate::recall::recall;
use crate::remember::remember;

/// What somebody still tries whose account is gone.
const TRIES_IN_VAIN: usize = 5;

pub(crate) struct Person {
    town: Arc<Town>,
    naive: Arc<Naive>,
    caller: Caller,
    nickname: Nickname,
    others: Vec<UserId>,
    /// At which step they want to be gone.
    leaves: Option<usize>,
    random: SmallRng,
    seed: u64,
}

/// Something somebody does.
#[derive(Debug)]
enum Step {
    Act(Act),
    Pursuit(Pursuit),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Done(Done),
    Gained(Gained),
}

/// What somebody comes across: most often what they can do something with.
struct Found {
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

impl Person {
    pub(crate) fn new(
        town: Arc<Town>,
        naive: Arc<Naive>,
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
        Self { town, naive, caller, nickname, others, leaves: None, random, seed }
    }

    /// The same, who wants to be gone at this step.
    pub(crate) fn leaving_at(mut self, step: Option<usize>) -> Self {
        self.leaves = step;
        self
    }

    /// One thing after the other. Some requests are sent again, at the same time or later.
    pub(crate) async fn live(mut self, steps: usize) {
        let me = self.caller.user_id.clone();
        for step in 0..steps {
            if self.naive.with(|memory| !memory.alive(&me)) {
                return self.try_in_vain().await;
            }
            let next = self.choose(step);
            self.naive.with(|memory| {
                memory.chosen.insert(next.name());
                memory.everybody.insert(me.clone());
                memory.acts += 1;
            });
            self.town.pass_ms(self.random.random_range(0..30));
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
            self.naive.with(|memory| {
                let (Some((began, first)), Some((ended, last))) = (before, after) else { return };
                let arrival = Arrival { at: (began, ended), said: (first, last) };
                let who = next.lets_in(&me).unwrap();
                memory.life.arrivals.entry(who).or_default().push(arrival);
            });
            self.naive.with(|memory| match (&next, answer) {
                (Step::Act(act), Ok(Outcome::Done(done))) => remember(memory, &me, act, &done),
                (Step::Pursuit(pursuit), Ok(Outcome::Gained(gained))) => {
                    recall(memory, &me, pursuit, &gained);
                }
                _ => {}
            });
        }
    }

    /// How much has been said in a group that a step may let somebody into, and when that is.
    async fn said(&self, step: &Step) -> Option<(Time, u64)> {
        let (group, _) = step.lets_in(&self.caller.user_id)?;
        let core = self.town.ground().core();
        let room = core.group(&group).get().await.unwrap().map(|group| group.room_id);
        let Some(room) = room else { return Some((self.town.now(), 0)) };
        let heads = core.room_heads(&[room]).strong().get().await.unwrap();
        Some((self.town.now(), heads.into_iter().flatten().next().map_or(0, |head| head.seq)))
    }

    async fn take(&self, step: &Step, request: Option<&RequestId>) -> Result<Outcome, Code> {
        match step {
            Step::Act(act) => self.town.act(&self.caller, act, request).await.map(Outcome::Done),
            Step::Pursuit(pursuit) => {
                self.town.pursue(&self.caller, pursuit, request).await.map(Outcome::Gained)
            }
        }
    }

    /// Whoever has deleted their account can do nothing any more.
    async fn try_in_vain(mut self) {
        for _ in 0..TRIES_IN_VAIN {
            let card = deck::any(&mut self.random);
            let step = self.step(card);
            let answer = self.take(&step, None).await;
            assert!(answer.is_err(), "{:?} is gone, and did {step:?}", self.caller.user_id);
        }
    }

    fn choose(&mut self, step: usize) -> Step {
        if self.leaves.is_some_and(|leaves| step >= leaves) {
            let (me, first) = (&self.caller.user_id, &self.nickname);
            let name = self.naive.with(|memory| memory.nicknames.get(me).cloned());
            return Step::Act(Act::DeleteAccount(name.unwrap_or_else(|| first.clone())));
        }
        let works = self.caller.moderates() && self.random.random_bool(0.5);
        let card = if works {
            OF_STAFF.choose(&mut self.random).copied().unwrap()
        } else {
            self.naive.with(|memory| memory.deck.deal())
        };
        let step = self.step(card);
        if !works && step.name() != card {
            self.naive.with(|memory| memory.deck.give_back(card));
        }
        step
    }

    /// What a card says.
    fn step(&mut self, card: &str) -> Step {
        if !Pursuit::NAMES.contains(&card) {
            return Step::Act(self.act(card));
        }
        let Self { caller, town, naive, others, random, .. } = self;
        let mut any = || others.choose(random).unwrap().clone();
        let (other, another) = (any(), any());
        let start = random.random_range(0..1_000);
        Step::Pursuit(naive.with(|memory| {
            let mut doer = Doer {
                me: &caller.user_id,
                is_staff: caller.moderates(),
                joined: memory.a_group_with(&caller.user_id, start),
                now: town.now(),
                other,
                another,
                random,
            };
            doer.pursuit(card, &memory.life)
        }))
    }

    /// What a card says; a post, while there is nothing yet to do it to.
    fn act(&mut self, card: &str) -> Act {
        let found = self.look();
        let random = &mut self.random;
        let text = format!("thought {} #t{}", random.random::<u32>(), random.random_range(0..9));
        let visibility = match random.random_range(0..6) {
            0 => Visibility::Followers,
            1 => Visibility::Private,
            _ => Visibility::Public,
        };
        let group = found.joined.clone().filter(|_| random.random_bool(0.3));
        let post = Act::Post { content: text.clone(), group, visibility };
        let act = match card {
            "Post" => None,
            "EditPost" => found.own_post.map(|post| Act::EditPost(post, text, visibility)),
            "Comment" => {
                let parent = found.comment.filter(|_| random.random_bool(0.3));
                found.post.map(|post| Act::Comment { post, parent, content: text })
            }
            "EditComment" => found.own_comment.map(|comment| Act::EditComment(comment, text)),
            "CreateGroup" => Some(Act::CreateGroup { name: text, private: random.random() }),
            "UpdateGroup" => found.own_group.map(|group| Act::UpdateGroup(group, text)),
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

    fn look(&mut self) -> Found {
        let (random, me) = (&mut self.random, &self.caller.user_id);
        let other = self.others.choose(random).unwrap();
        let (start, knows) = (random.random_range(0..1000), random.random_bool(0.9));
        let own = Some(me).filter(|_| knows);
        self.naive.with(|memory| {
            let (post, comment) = (memory.a_post(None, start), memory.a_comment(None, start));
            let group = memory.groups.choose(random).cloned();
            let own_group = memory.a_group(own, start).or_else(|| group.clone());
            let member = own_group.as_ref().and_then(|group| memory.a_member(group, start));
            let follows = |(edge, follows): (&(UserId, UserId), &Option<bool>)| {
                follows.unwrap_or(false).then(|| edge.clone())
            };
            let mut follows = memory.follows.iter().filter_map(follows);
            let followed = follows.find(|(follower, _)| knows && follower == me);
            let follower = follows.find(|(_, followee)| knows && followee == me);
            let mut blocks = memory.blocks.iter().filter(|(_, blocks)| **blocks);
            let blocked = blocks.find(|((blocker, _), _)| knows && blocker == me);
            Found {
                own_post: memory.a_post(own, start).or_else(|| post.clone()),
                own_comment: memory.a_comment(own, start).or_else(|| comment.clone()),
                joined: memory.a_group_with(me, start).filter(|_| knows).or_else(|| group.clone()),
                group,
                own_group,
                post,
                comment,
                member: member.unwrap_or_else(|| other.clone()),
                followed: followed.map_or_else(|| other.clone(), |(_, followee)| followee),
                follower: follower.map_or_else(|| other.clone(), |(follower, _)| follower),
                blocked: blocked.map_or_else(|| other.clone(), |((_, blocked), _)| blocked.clone()),
                suspended: memory.suspended.choose(random).unwrap_or(other).clone(),
                other: other.clone(),
            }
        })
    }
}

fn to_people(card: &str, found: Found, random: &mut SmallRng) -> Act {
    match card {
        "Follow" => Act::Follow(found.other),
        "Unfollow" => Act::Unfollow(found.followed),
        "Accept" => Act::Accept(found.follower),
        "Reject" => Act::Reject(found.follower),
        "Mute" => Act::Mute(found.followed, random.random()),
        "Block" => Act::Block(found.other),
        _ => Act::Unblock(found.blocked),
    }
}

fn to_groups(card: &str, found: Found, random: &mut SmallRng) -> Option<Act> {
    let Found { other, group, own_group, joined, member, .. } = found;
    Some(match card {
        "DeleteGroup" => Act::DeleteGroup(own_group?),
        "Join" => Act::Join(group?),
        "Leave" => Act::Leave(joined?),
        "Invite" => Act::Invite(own_group?, other),
        "Approve" => Act::Approve(own_group?, member),
        "Remove" => Act::Remove(own_group?, member),
        _ => Act::SetRole(own_group?, member, *GroupRole::ALL.choose(random)?),
    })
}

fn to_accounts(card: &str, found: Found, random: &mut SmallRng) -> Act {
    match card {
        "TurnPrivate" => Act::TurnPrivate(random.random_bool(0.3)),
        "Rename" => Act::Rename(format!("n{}", random.random::<u16>()).parse().unwrap()),
        "Suspend" => Act::Suspend(found.other),
        "Unsuspend" => Act::Unsuspend(found.suspended),
        _ if random.random() => Act::SetRoles(found.other, vec![Role::User, Role::Moderator]),
        _ => Act::SetRoles(found.other, vec![Role::User]),
    }
}

fn to_content(card: &str, found: Found, random: &mut SmallRng) -> Option<Act> {
    let Found { post, comment, own_post, own_comment, .. } = found;
    let status = *[ModerationStatus::Approved, ModerationStatus::Rejected].choose(random)?;
    Some(match card {
        "DeletePost" => Act::DeletePost(own_post?),
        "PostActivity" => Act::PostActivity(own_post?),
        "Like" => Act::Like(post?),
        "Unlike" => Act::Unlike(post?),
        "Share" => Act::Share(post?),
        "Unshare" => Act::Unshare(post?),
        "DeleteComment" => Act::DeleteComment(own_comment?),
        "LikeComment" => Act::LikeComment(comment?),
        "UnlikeComment" => Act::UnlikeComment(comment?),
        "Report" => Act::Report(post?),
        "ReportComment" => Act::ReportComment(comment?),
        "Moderate" => Act::Moderate(post?, status),
        "ModerateComment" => Act::ModerateComment(comment?, status),
        other => panic!("{other} is no card of this deck"),
    })
}

impl Step {
    const fn name(&self) -> &'static str {
        match self {
            Self::Act(act) => act.name(),
            Self::Pursuit(pursuit) => pursuit.name(),
        }
    }
}

impl Step {
    /// The group that it may let somebody into, and whom.
    fn lets_in(&self, me: &UserId) -> Option<(GroupId, UserId)> {
        match self {
            Self::Act(Act::Join(group)) | Self::Pursuit(Pursuit::OpenGroupRoom(group)) => {
                Some((group.clone(), me.clone()))
            }
            Self::Act(Act::Invite(group, user) | Act::Approve(group, user)) => {
                Some((group.clone(), user.clone()))
            }
            _ => None,
        }
    }
}

/// A request that was sent three times has one outcome: what it made, it made once. It may be gone by
/// the time it is asked for again.
fn one_of(answers: [Result<Outcome, Code>; 3], step: &Step) -> Result<Outcome, Code> {
    let mut done = answers.iter().filter_map(|answer| answer.as_ref().ok());
    let Some(first) = done.next() else { return answers.into_iter().next().unwrap() };
    for other in done {
        assert_eq!(first, other, "{step:?} had two outcomes");
    }
    Ok(first.clone())
}
