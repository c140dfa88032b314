//! Somebody in a storm.

use std::sync::Arc;

use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use roundtable_domain::{Caller, Code};
use roundtable_model::{GroupRole, ModerationStatus, RequestId, Role, UserId, Visibility};
use roundtable_testkit::{Act, Done, Town};

use crate::model::{Memory, Naive};

pub(crate) struct Person {
    town: Arc<Town>,
    naive: Arc<Naive>,
    caller: Caller,
    others: Vec<UserId>,
    random: SmallRng,
    seed: u64,
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
        Self { town, naive, caller, others, random: SmallRng::seed_from_u64(seed), seed }
    }

    /// One thing after the other. Some requests are sent again, at the same time or later.
    pub(crate) async fn live(mut self, steps: usize) {
        for step in 0..steps {
            let Some(act) = self.choose() else { continue };
            self.town.pass_ms(self.random.random_range(0..30));
            let request: RequestId = format!("{}-{step}", self.seed).parse().unwrap();
            let answer = if self.random.random_bool(0.4) {
                self.town.act(&self.caller, &act, None).await
            } else {
                let (first, second) = tokio::join!(
                    self.town.act(&self.caller, &act, Some(&request)),
                    self.town.act(&self.caller, &act, Some(&request)),
                );
                let third = self.town.act(&self.caller, &act, Some(&request)).await;
                one_of([first, second, third], &act)
            };
            if let Ok(done) = answer {
                self.naive.with(|memory| remember(memory, &self.caller.user_id, &act, &done));
            }
        }
    }

    fn choose(&mut self) -> Option<Act> {
        let random = &mut self.random;
        let other = self.others.choose(random)?.clone();
        let (post, comment, group) = self.naive.with(|memory| {
            let post = memory.posts.choose(random).cloned();
            let comment = memory.comments.choose(random).cloned();
            (post, comment, memory.groups.choose(random).cloned())
        });
        let text = format!("thought {} #t{}", random.random::<u16>(), random.random_range(0..9));
        let visibility =
            *[Visibility::Public, Visibility::Public, Visibility::Followers, Visibility::Private]
                .choose(random)?;
        let status = *[ModerationStatus::Approved, ModerationStatus::Rejected].choose(random)?;
        Some(match random.random_range(0..100) {
            0..12 => Act::Follow(other),
            12..16 => Act::Unfollow(other),
            16..19 => Act::Accept(other),
            19..20 => Act::Reject(other),
            20..22 => Act::Mute(other, random.random()),
            22..24 => Act::Block(other),
            24..27 => Act::Unblock(other),
            27..29 => Act::CreateGroup { name: text, private: random.random() },
            29..33 => Act::Join(group?),
            33..35 => Act::Leave(group?),
            35..36 => Act::Invite(group?, other),
            36..38 => Act::Approve(group?, other),
            38..39 => Act::Remove(group?, other),
            39..40 => Act::SetRole(group?, other, *GroupRole::ALL.choose(random)?),
            40..52 => {
                let group = group.filter(|_| random.random_bool(0.2));
                Act::Post { content: text, group, visibility }
            }
            52..55 => Act::EditPost(post?, text, visibility),
            55..57 => Act::DeletePost(post?),
            57..69 => Act::Like(post?),
            69..73 => Act::Unlike(post?),
            73..76 => Act::Share(post?),
            76..78 => Act::Unshare(post?),
            78..86 => {
                let parent = comment.filter(|_| random.random_bool(0.3));
                Act::Comment { post: post?, parent, content: text }
            }
            86..88 => Act::DeleteComment(comment?),
            88..92 => Act::LikeComment(comment?),
            92..93 => Act::UnlikeComment(comment?),
            93..94 => Act::Report(post?),
            94..96 => Act::Moderate(post?, status),
            96..97 => Act::ModerateComment(comment?, status),
            97..98 => Act::TurnPrivate(random.random()),
            98..99 => Act::Rename(format!("n{}", random.random::<u16>()).parse().ok()?),
            // Half of them come back; deleting an account is for the few.
            _ if random.random_bool(0.9) => Act::Unsuspend(other),
            _ => Act::Suspend(other),
        })
    }
}

/// A request that was sent three times has one outcome: what it made, it made once. It may be gone by
/// the time it is asked for again.
fn one_of(answers: [Result<Done, Code>; 3], act: &Act) -> Result<Done, Code> {
    let mut done = answers.iter().filter_map(|answer| answer.as_ref().ok());
    let Some(first) = done.next() else { return answers.into_iter().next().unwrap() };
    for other in done {
        assert_eq!(first, other, "{act:?} had two outcomes");
    }
    Ok(first.clone())
}

fn remember(memory: &mut Memory, me: &UserId, act: &Act, done: &Done) {
    match (act, done) {
        (Act::Post { content, .. }, Done::Post(post)) => {
            memory.posts.push(post.clone());
            memory.contents.insert(post.clone(), Some(content.clone()));
        }
        (Act::Comment { .. }, Done::Comment(comment)) => memory.comments.push(comment.clone()),
        (Act::CreateGroup { .. }, Done::Group(group)) => memory.groups.push(group.clone()),
        (Act::EditPost(post, content, _), _) => {
            if let Some(kept @ Some(_)) = memory.contents.get_mut(post) {
                *kept = Some(content.clone());
            }
        }
        (Act::DeletePost(post), _) => {
            memory.contents.insert(post.clone(), None);
        }
        (Act::Like(post), _) => {
            memory.likes.insert((me.clone(), post.clone()), true);
        }
        (Act::Unlike(post), _) => {
            memory.likes.insert((me.clone(), post.clone()), false);
        }
        (Act::Share(post), _) => {
            memory.shares.insert((me.clone(), post.clone()), true);
        }
        (Act::Unshare(post), _) => {
            memory.shares.insert((me.clone(), post.clone()), false);
        }
        (Act::Follow(other) | Act::Unfollow(other), _) => {
            let follows = matches!(act, Act::Follow(_));
            let known = memory.follows.entry((me.clone(), other.clone()));
            let known = known.or_insert(Some(follows));
            *known = known.map(|_| follows);
        }
        (Act::Block(other), _) => {
            memory.follows.insert((me.clone(), other.clone()), None);
            memory.follows.insert((other.clone(), me.clone()), None);
        }
        (Act::Reject(other), _) => {
            memory.follows.insert((other.clone(), me.clone()), None);
        }
        _ => {}
    }
}
