//! Counts likes, comments, replies and shares from the attributes they carry (R37), and each user's
//! unread notifications. Releases uploads from their owner's quota: the announcement has charged it.
//!
//! A counter records how far it has counted ([`SequenceGuard`]), so a change delivered again is not
//! counted again. A write requires the counter it was computed from to be unchanged. A counter
//! exists only while its owner does: the purge removes both together, and later changes are
//! dropped.
//!
//! Each like, comment or share counts for zero or one as long as its changes are counted in order,
//! so a sum is never negative. A change that would make it negative is refused and parked.

mod deltas;

use async_trait::async_trait;
use roundtable_domain::Context;
use roundtable_model::entities::{
    Comment, CommentCounter, CommentLike, Like, Notification, Post, PostCounter, Share, Upload,
    User, UserCounter,
};
use roundtable_model::table::{Check, Condition, Write};
use roundtable_model::{Entity, ProcessorName, Shard, UserStatus};

use self::deltas::{CounterChange, CounterChanges, group_by_counter};
use crate::processor::{Batch, Effects, Processor};
use crate::reads::read_all;
use crate::{Delivery, ProcessingError, Result, SequenceGuard};

/// The processor that counts reactions to posts and comments, unread notifications, and what uploads
/// no longer take of quotas.
#[derive(Clone, Debug)]
pub struct CounterUpdater {
    context: Context,
}

impl CounterUpdater {
    pub const NAME: ProcessorName = ProcessorName::from_static("counters");

    pub const fn new(context: Context) -> Self {
        Self { context }
    }
}

#[async_trait]
impl Processor for CounterUpdater {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const {
            &[
                Like::SHAPE.name,
                Comment::SHAPE.name,
                Share::SHAPE.name,
                CommentLike::SHAPE.name,
                Notification::SHAPE.name,
                Upload::SHAPE.name,
            ]
        }
    }

    fn may_overtake(&self) -> bool {
        false
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let by_counter = group_by_counter(batch.changes)?;
        let core = self.context.core().table();
        let mut effects = Effects::new();
        let posts = by_counter.posts.keys().map(|id| (id.clone(), PostCounter::at(id)));
        let found = read_all(core, posts).await?;
        let new = by_counter.posts.keys().filter(|id| !found.contains_key(*id));
        let there = read_all(core, new.map(|id| (id.clone(), Post::at(id)))).await?;
        for (id, changes) in &by_counter.posts {
            let before = found.get(id);
            if before.is_none() && !there.contains_key(id) {
                continue;
            }
            let counter = before.cloned().unwrap_or_else(|| PostCounter::zero(id.clone()));
            let after = self.apply(batch, counter, changes)?;
            self.write_counter(&mut effects, before, after, Post::at(id).exists());
        }
        self.update_users(batch, &by_counter, &mut effects).await?;
        self.update_comments(batch, &by_counter, &mut effects).await?;
        Ok(effects)
    }
}

impl CounterUpdater {
    async fn update_comments(
        &self,
        batch: &Batch<'_>,
        by_counter: &CounterChanges,
        effects: &mut Effects,
    ) -> Result<()> {
        let core = self.context.core().table();
        let all = by_counter.comments.keys();
        let keys = all.clone().map(|id| (id.clone(), CommentCounter::at(&id.0, &id.1)));
        let found = read_all(core, keys).await?;
        let new = all.filter(|id| !found.contains_key(*id));
        let keys = new.map(|id| (id.clone(), Comment::at(&id.0, &id.1)));
        let there = read_all(core, keys).await?;
        for (id, changes) in &by_counter.comments {
            let before = found.get(id);
            if before.is_none() && !there.contains_key(id) {
                continue;
            }
            let counter =
                before.cloned().unwrap_or_else(|| CommentCounter::zero(id.0.clone(), id.1.clone()));
            let after = self.apply(batch, counter, changes)?;
            self.write_counter(effects, before, after, Comment::at(&id.0, &id.1).exists());
        }
        Ok(())
    }

    /// Counts unread notifications, and releases uploads. A deleted account keeps no counter: the purge
    /// removes it and what it counts in any order.
    async fn update_users(
        &self,
        batch: &Batch<'_>,
        by_counter: &CounterChanges,
        effects: &mut Effects,
    ) -> Result<()> {
        let core = self.context.core().table();
        let all = by_counter.users.keys();
        let keys = all.clone().map(|id| (id.clone(), UserCounter::at(&id.0, &id.1, &Shard::ZERO)));
        let found = read_all(core, keys).await?;
        let users = all.map(|(user, _)| (user.clone(), User::at(user)));
        let users = read_all(core, users).await?;
        for (id, changes) in &by_counter.users {
            let (user, counter) = id;
            if users.get(user).is_none_or(|user| user.status == UserStatus::Deleted) {
                continue;
            }
            let before = found.get(id);
            let counter = before.cloned().unwrap_or_else(|| UserCounter {
                user_id: user.clone(),
                counter: *counter,
                shard: Shard::ZERO,
                count: 0,
                version: None,
                seq: None,
                updated_at: self.context.now(),
            });
            let after = self.apply(batch, counter, changes)?;
            let alive =
                [UserStatus::Active, UserStatus::Suspended].map(|one| User::STATUS.is(&one));
            let [active, suspended] = alive;
            self.write_counter(effects, before, after, User::at(user).check(active.or(suspended)));
        }
        Ok(())
    }

    /// Adds the changes that `counter` has not counted yet. Returns `None` if it has counted all of
    /// them.
    fn apply<C: Counter>(
        &self,
        batch: &Batch<'_>,
        mut counter: C,
        changes: &[CounterChange<C::Delta>],
    ) -> Result<Option<C>> {
        let mut guard = SequenceGuard::parse(counter.seq())?;
        let (mut sum, mut any) = (C::Delta::default(), false);
        for CounterChange { sequence, delta } in changes {
            if batch.delivery != Delivery::Redriven {
                if guard.covers(batch.shard, sequence) {
                    continue;
                }
                guard.advance(batch.shard, sequence);
            }
            any = true;
            if batch.delivery != Delivery::Skipped {
                sum = C::plus(sum, *delta);
            }
        }
        if !any {
            return Ok(None);
        }
        counter.add(sum, &self.context)?;
        counter.set_seq(guard.to_string());
        Ok(Some(counter))
    }

    /// Replaces `before`, the counter that `after` was computed from. Creates `after` if there was
    /// none and its owner exists.
    fn write_counter<C: Counter>(
        &self,
        effects: &mut Effects,
        before: Option<&C>,
        after: Option<C>,
        owner: Check,
    ) {
        let Some(after) = after else { return };
        let core = self.context.core().table();
        if let Some(before) = before {
            effects.write(core, after.put().when(before.unchanged()));
        } else {
            let (new, owner): (Write, Write) = (after.create().into(), owner.into());
            effects.write_together([(core, new), (core, owner)]);
        }
    }
}

/// A counter maintained from the stream.
trait Counter: Entity + Clone {
    /// The effect of one change on the counter.
    type Delta: Copy + Default;

    fn plus(one: Self::Delta, other: Self::Delta) -> Self::Delta;

    fn seq(&self) -> &str;

    fn set_seq(&mut self, seq: String);

    /// Fails if a count would become negative.
    fn add(&mut self, delta: Self::Delta, context: &Context) -> Result<()>;

    /// The condition that the stored counter equals this one.
    fn unchanged(&self) -> Condition;
}

impl Counter for PostCounter {
    type Delta = deltas::PostDelta;

    fn plus(one: Self::Delta, other: Self::Delta) -> Self::Delta {
        one + other
    }

    fn seq(&self) -> &str {
        &self.seq
    }

    fn set_seq(&mut self, seq: String) {
        self.seq = seq;
    }

    fn add(&mut self, delta: Self::Delta, context: &Context) -> Result<()> {
        self.likes = checked_add("likes", self.likes, delta.likes)?;
        self.loves = add_of_type("loves", self.loves, delta.loves, self.likes)?;
        self.laughs = add_of_type("laughs", self.laughs, delta.laughs, self.likes)?;
        self.comments = checked_add("comments", self.comments, delta.comments)?;
        self.shares = checked_add("shares", self.shares, delta.shares)?;
        self.score = context.settings().score.of(self.likes, self.comments, self.shares);
        Ok(())
    }

    fn unchanged(&self) -> Condition {
        Self::SEQ
            .is(&self.seq)
            .and(Self::LIKES.is(&self.likes))
            .and(Self::LOVES.is(&self.loves))
            .and(Self::LAUGHS.is(&self.laughs))
            .and(Self::COMMENTS.is(&self.comments))
            .and(Self::SHARES.is(&self.shares))
    }
}

impl Counter for CommentCounter {
    type Delta = deltas::CommentDelta;

    fn plus(one: Self::Delta, other: Self::Delta) -> Self::Delta {
        one + other
    }

    fn seq(&self) -> &str {
        &self.seq
    }

    fn set_seq(&mut self, seq: String) {
        self.seq = seq;
    }

    fn add(&mut self, delta: Self::Delta, _: &Context) -> Result<()> {
        self.likes = checked_add("likes", self.likes, delta.likes)?;
        // Before likes of comments had types, all of them were plain.
        let (loves, laughs) = (self.loves.unwrap_or(0), self.laughs.unwrap_or(0));
        self.loves = Some(checked_add("loves", loves, delta.loves)?);
        self.laughs = Some(checked_add("laughs", laughs, delta.laughs)?);
        self.replies = checked_add("replies", self.replies, delta.replies)?;
        Ok(())
    }

    fn unchanged(&self) -> Condition {
        Self::SEQ
            .is(&self.seq)
            .and(Self::LIKES.is(&self.likes))
            .and(Self::LOVES.is(&self.loves))
            .and(Self::LAUGHS.is(&self.laughs))
            .and(Self::REPLIES.is(&self.replies))
    }
}

impl Counter for UserCounter {
    type Delta = i64;

    fn plus(one: i64, other: i64) -> i64 {
        one + other
    }

    fn seq(&self) -> &str {
        self.seq.as_deref().unwrap_or_default()
    }

    fn set_seq(&mut self, seq: String) {
        self.seq = Some(seq);
    }

    fn add(&mut self, delta: i64, context: &Context) -> Result<()> {
        self.count = checked_add(self.counter.as_str(), self.count, delta)?;
        self.updated_at = context.now();
        Ok(())
    }

    fn unchanged(&self) -> Condition {
        Self::SEQ.is(&self.seq).and(Self::COUNT.is(&self.count))
    }
}

/// Adds to the number of likes of one type. In a counter from before they were counted by type it is
/// unknown, until `verify` counts it or there are no likes.
fn add_of_type(counter: &str, count: Option<u64>, delta: i64, likes: u64) -> Result<Option<u64>> {
    match count {
        Some(count) => Ok(Some(checked_add(counter, count, delta)?)),
        None => Ok((likes == 0).then_some(0)),
    }
}

fn checked_add(counter: &str, count: u64, delta: i64) -> Result<u64> {
    count.checked_add_signed(delta).ok_or_else(|| {
        ProcessingError::unprocessable(format!(
            "adding {delta} to {count} {counter} would make the counter negative"
        ))
    })
}
