//! Counts likes, comments, replies and shares, from the attributes that each of them carries (R37), and
//! the notifications that somebody has not read.
//!
//! A counter says up to where it has counted ([`Guard`]): a change that comes again is not counted again,
//! and a write demands the counter it was computed from. A counter is there only while what it belongs
//! to is: the purge takes both away together, and what is counted afterwards falls away.
//!
//! Every like, comment or share counts for nothing or for one, whichever of its changes have been
//! counted, as long as they are counted in order. So a sum of them is never negative; one that would be
//! is refused, and its change parked.

mod fold;

use async_trait::async_trait;
use roundtable_domain::Ground;
use roundtable_model::entities::{
    Comment, CommentCounter, CommentLike, Like, Notification, Post, PostCounter, Share, User,
    UserCounter,
};
use roundtable_model::table::{Check, Condition, Write};
use roundtable_model::{Entity, Processor as Name, Shard, UserCount, UserId, UserStatus};

use self::fold::{Counted, Tally, fold};
use crate::processor::{Batch, Effects, Processor};
use crate::reads::read_all;
use crate::{Delivery, Failure, Guard};

/// Counts what people do with posts and comments.
#[derive(Clone, Debug)]
pub struct Counters {
    ground: Ground,
}

impl Counters {
    /// What it is called.
    pub const NAME: Name = Name::named("counters");

    /// The counters of this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }
}

#[async_trait]
impl Processor for Counters {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const {
            &[
                Like::SHAPE.name,
                Comment::SHAPE.name,
                Share::SHAPE.name,
                CommentLike::SHAPE.name,
                Notification::SHAPE.name,
            ]
        }
    }

    fn may_overtake(&self) -> bool {
        false
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let tally = fold(batch.changes)?;
        let core = self.ground.core().table();
        let mut effects = Effects::none();
        let posts = tally.posts.keys().map(|id| (id.clone(), PostCounter::at(id)));
        let found = read_all(core, posts).await?;
        let new = tally.posts.keys().filter(|id| !found.contains_key(*id));
        let there = read_all(core, new.map(|id| (id.clone(), Post::at(id)))).await?;
        for (id, changes) in &tally.posts {
            let before = found.get(id);
            if before.is_none() && !there.contains_key(id) {
                continue;
            }
            let counter = before.cloned().unwrap_or_else(|| PostCounter {
                post_id: id.clone(),
                likes: 0,
                comments: 0,
                shares: 0,
                score: 0,
                seq: String::new(),
            });
            let after = self.count(batch, counter, changes)?;
            self.replace(&mut effects, before, after, Post::at(id).exists());
        }
        self.unread(batch, &tally, &mut effects).await?;
        self.comments(batch, &tally, &mut effects).await?;
        Ok(effects)
    }
}

impl Counters {
    async fn comments(
        &self,
        batch: &Batch<'_>,
        tally: &Tally,
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        let core = self.ground.core().table();
        let all = tally.comments.keys();
        let places = all.clone().map(|id| (id.clone(), CommentCounter::at(&id.0, &id.1)));
        let found = read_all(core, places).await?;
        let new = all.filter(|id| !found.contains_key(*id));
        let places = new.map(|id| (id.clone(), Comment::at(&id.0, &id.1)));
        let there = read_all(core, places).await?;
        for (id, changes) in &tally.comments {
            let before = found.get(id);
            if before.is_none() && !there.contains_key(id) {
                continue;
            }
            let counter = before.cloned().unwrap_or_else(|| CommentCounter {
                post_id: id.0.clone(),
                comment_id: id.1.clone(),
                likes: 0,
                replies: 0,
                seq: String::new(),
            });
            let after = self.count(batch, counter, changes)?;
            self.replace(effects, before, after, Comment::at(&id.0, &id.1).exists());
        }
        Ok(())
    }

    /// What people have not read. A deleted account keeps no count: the purge takes away what it was
    /// told, and its counter, in any order.
    async fn unread(
        &self,
        batch: &Batch<'_>,
        tally: &Tally,
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        let core = self.ground.core().table();
        let place = |id: &UserId| UserCounter::at(id, &UserCount::Unread, &Shard::ZERO);
        let all = tally.readers.keys();
        let found = read_all(core, all.clone().map(|id| (id.clone(), place(id)))).await?;
        let people = read_all(core, all.map(|id| (id.clone(), User::at(id)))).await?;
        for (id, changes) in &tally.readers {
            if people.get(id).is_none_or(|user| user.status == UserStatus::Deleted) {
                continue;
            }
            let before = found.get(id);
            let counter = before.cloned().unwrap_or_else(|| UserCounter {
                user_id: id.clone(),
                counter: UserCount::Unread,
                shard: Shard::ZERO,
                count: 0,
                version: None,
                seq: None,
                updated_at: self.ground.now(),
            });
            let after = self.count(batch, counter, changes)?;
            let alive =
                [UserStatus::Active, UserStatus::Suspended].map(|one| User::STATUS.is(&one));
            let [active, suspended] = alive;
            self.replace(effects, before, after, User::at(id).check(active.or(suspended)));
        }
        Ok(())
    }

    /// A counter with what it has not counted yet; `None` if it has counted everything.
    fn count<C: Counter>(
        &self,
        batch: &Batch<'_>,
        mut counter: C,
        changes: &[Counted<C::By>],
    ) -> Result<Option<C>, Failure> {
        let mut guard = Guard::parse(counter.seq())?;
        let (mut sum, mut any) = (C::By::default(), false);
        for Counted { sequence, by } in changes {
            if batch.delivery != Delivery::Redriven {
                if guard.has(batch.shard, sequence) {
                    continue;
                }
                guard.raise(batch.shard, sequence);
            }
            any = true;
            if batch.delivery != Delivery::PassedOver {
                sum = C::plus(sum, *by);
            }
        }
        if !any {
            return Ok(None);
        }
        counter.add(sum, &self.ground)?;
        counter.set_seq(guard.to_string());
        Ok(Some(counter))
    }

    /// Writes a counter in the place of the one it was computed from; a new one, if what it belongs to
    /// is there.
    fn replace<C: Counter>(
        &self,
        effects: &mut Effects,
        before: Option<&C>,
        after: Option<C>,
        owner: Check,
    ) {
        let Some(after) = after else { return };
        let core = self.ground.core().table();
        if let Some(before) = before {
            effects.write(core, after.put().when(before.unchanged()));
        } else {
            let (new, owner): (Write, Write) = (after.create().into(), owner.into());
            effects.together([(core, new), (core, owner)]);
        }
    }
}

/// A counter that the stream fills.
trait Counter: Entity + Clone {
    /// What a change counts for.
    type By: Copy + Default;

    fn plus(one: Self::By, other: Self::By) -> Self::By;

    fn seq(&self) -> &str;

    fn set_seq(&mut self, seq: String);

    /// Adds to it; fails when something would be below zero.
    fn add(&mut self, by: Self::By, ground: &Ground) -> Result<(), Failure>;

    /// It still says what it said.
    fn unchanged(&self) -> Condition;
}

impl Counter for PostCounter {
    type By = fold::OnPost;

    fn plus(one: Self::By, other: Self::By) -> Self::By {
        one + other
    }

    fn seq(&self) -> &str {
        &self.seq
    }

    fn set_seq(&mut self, seq: String) {
        self.seq = seq;
    }

    fn add(&mut self, by: Self::By, ground: &Ground) -> Result<(), Failure> {
        self.likes = added("likes", self.likes, by.likes)?;
        self.comments = added("comments", self.comments, by.comments)?;
        self.shares = added("shares", self.shares, by.shares)?;
        self.score = ground.settings().score.of(self.likes, self.comments, self.shares);
        Ok(())
    }

    fn unchanged(&self) -> Condition {
        Self::SEQ
            .is(&self.seq)
            .and(Self::LIKES.is(&self.likes))
            .and(Self::COMMENTS.is(&self.comments))
            .and(Self::SHARES.is(&self.shares))
    }
}

impl Counter for CommentCounter {
    type By = fold::OnComment;

    fn plus(one: Self::By, other: Self::By) -> Self::By {
        one + other
    }

    fn seq(&self) -> &str {
        &self.seq
    }

    fn set_seq(&mut self, seq: String) {
        self.seq = seq;
    }

    fn add(&mut self, by: Self::By, _: &Ground) -> Result<(), Failure> {
        self.likes = added("likes", self.likes, by.likes)?;
        self.replies = added("replies", self.replies, by.replies)?;
        Ok(())
    }

    fn unchanged(&self) -> Condition {
        Self::SEQ
            .is(&self.seq)
            .and(Self::LIKES.is(&self.likes))
            .and(Self::REPLIES.is(&self.replies))
    }
}

impl Counter for UserCounter {
    type By = i64;

    fn plus(one: i64, other: i64) -> i64 {
        one + other
    }

    fn seq(&self) -> &str {
        self.seq.as_deref().unwrap_or_default()
    }

    fn set_seq(&mut self, seq: String) {
        self.seq = Some(seq);
    }

    fn add(&mut self, by: i64, ground: &Ground) -> Result<(), Failure> {
        self.count = added("unread", self.count, by)?;
        self.updated_at = ground.now();
        Ok(())
    }

    fn unchanged(&self) -> Condition {
        Self::SEQ.is(&self.seq).and(Self::COUNT.is(&self.count))
    }
}

fn added(what: &str, count: u64, by: i64) -> Result<u64, Failure> {
    count
        .checked_add_signed(by)
        .ok_or_else(|| Failure::broken(format!("{count} {what} cannot become {by} more")))
}
