//! Counts facts again and rewrites counters and scores.

use roundtable_model::entities::{
    CommentCounter, CommentLike, Follow, GroupCounter, Like, Notification, Post, PostCounter,
    Quest, Upload, UserCounter,
};
use roundtable_model::table::{Get, Item, Key, Update};
use roundtable_model::{
    CommentId, Cursor, Entity, FromItem, GroupId, LikeType, Listing, MemberStatus, PostId, QuestId,
    Result, Shard, Shards, Span, Time, UploadState, UserCount, UserId, rekey,
};

use super::{RepairOutcome, unchanged};
use crate::finding::VerifyReport;
use crate::lag::COUNTER_PROCESSOR;
use crate::progress::NoProgress;
use crate::stream_check::StreamSnapshot;
use crate::subject::TallySubject;
use crate::{Verifier, VerifyError};

const PAGE_ITEMS: usize = 500;
const LAGGING: &str =
    "the counting processor has not read the stream to its end: let it finish first";
const UNSWEPT: &str = "expired items count until the store deletes them: delete them first";
const DEAD_LETTERS: &str = "dead letters hold changes to be counted: redrive them first";

impl Verifier {
    pub(super) async fn recount(
        &self,
        subject: &TallySubject,
        expected: i128,
        report: &VerifyReport,
    ) -> Result<RepairOutcome> {
        // Pending changes would be counted twice.
        let mut counting = report.lag.iter().filter(|lag| lag.processor == COUNTER_PROCESSOR);
        let pending = counting.any(|lag| lag.facts > 0);
        let is_streamed = subject.counts_expiring_facts()
            || matches!(subject, TallySubject::Post(_) | TallySubject::Comment(..));
        match subject {
            _ if is_streamed && pending => Ok(RepairOutcome::skipped(LAGGING)),
            _ if is_streamed && report.uncounted > 0 => Ok(RepairOutcome::skipped(DEAD_LETTERS)),
            // Expired items are subtracted when they are deleted, so the new count must not omit
            // them.
            _ if subject.counts_expiring_facts() && !report.is_swept => {
                Ok(RepairOutcome::skipped(UNSWEPT))
            }
            TallySubject::UserCounter(user, counter, shard) => {
                self.recount_user(user, *counter, *shard, expected).await
            }
            TallySubject::Group(group) => self.recount_group(group).await,
            TallySubject::Post(post) => self.recount_post(post).await,
            TallySubject::Comment(post, comment) => self.recount_comment(post, comment).await,
            TallySubject::Quest(user, quest) => self.recount_quest(user, quest).await,
            _ => Ok(RepairOutcome::skipped("it has no counter")),
        }
    }

    async fn recount_user(
        &self,
        user: &UserId,
        counter: UserCount,
        shard: Shard,
        expected: i128,
    ) -> Result<RepairOutcome> {
        let core = &self.tables.core;
        let key = UserCounter::at(user, &counter, &shard).into_key();
        // Read the counter first, then the facts: a fact written in between changes the counter
        // too, and the condition fails.
        let before = self.stored(&key).await?;
        let active = |follow: &Follow| u64::from(Follow::active(&follow.status));
        let count = match counter {
            UserCount::Following => sum(|| core.following(user).strong(), active).await?,
            UserCount::Followers => {
                let shards = Shards::new(shard.number() + 1).unwrap_or(Shards::MAX);
                let in_shard = |follow: &Follow| u64::from(follow.shard == shard) * active(follow);
                sum(|| core.followers(user, shards), in_shard).await?
            }
            UserCount::Posts => {
                sum(|| core.posts_by(user), |post| u64::from(!post.is_deleted)).await?
            }
            UserCount::Xp => {
                sum(|| core.xp_entries(user).strong(), |entry| entry.reward_xp).await?
            }
            UserCount::Unread => {
                let unread = |note: &Notification| u64::from(note.read_at.is_none());
                sum(|| core.notifications(user, Span::ALL), unread).await?
            }
            UserCount::MediaBytes => {
                sum(|| core.uploads(user).strong(), |upload| upload.charged_bytes.unwrap_or(0))
                    .await?
            }
            UserCount::PendingUploads => {
                let pending = |upload: &Upload| {
                    let is_charged = upload.charged_bytes.is_some();
                    u64::from(is_charged && upload.state == UploadState::Pending)
                };
                sum(|| core.uploads(user).strong(), pending).await?
            }
        };
        // An index may be behind or wrong: it must show the same facts as the table.
        let indexed = matches!(counter, UserCount::Followers | UserCount::Posts);
        if indexed && i128::from(count) != expected {
            return Ok(RepairOutcome::skipped(
                "the index does not show the same facts as the table",
            ));
        }
        let updated_at = Time::now(&*self.reader.clock);
        let (user_id, version) = (user.clone(), None);
        let seq = match counter {
            UserCount::Unread | UserCount::MediaBytes | UserCount::PendingUploads => {
                Some(self.counted_up_to(before.as_ref()).await?)
            }
            _ => None,
        };
        let new = UserCounter { user_id, counter, shard, count, version, seq, updated_at };
        self.write(before, &new, &["count", "version", "seq", "updatedAt"]).await
    }

    /// Sets a quest's progress to the number of its steps; deletes steps without a quest.
    async fn recount_quest(&self, user: &UserId, quest: &QuestId) -> Result<RepairOutcome> {
        let core = &self.tables.core;
        let before = self.stored(&Quest::at(user, quest).into_key()).await?;
        let steps = core.quest_steps(user, quest).strong().all().await?;
        let Some(before) = before else {
            for step in &steps {
                core.table().delete(step.key().delete()).await?;
            }
            return Ok(RepairOutcome::Done);
        };
        let progress = u64::try_from(steps.len()).unwrap_or(u64::MAX);
        let unchanged = unchanged(&before, ["progressCount", "status"]);
        let update = Update::new(Quest::at(user, quest)).when(unchanged);
        core.table().update(update.set("progressCount", progress)).await?;
        Ok(RepairOutcome::Done)
    }

    async fn recount_group(&self, group: &GroupId) -> Result<RepairOutcome> {
        let before = self.stored(&GroupCounter::at(group).into_key()).await?;
        let members = || self.tables.core.members(group).strong();
        let count = sum(members, |member| u64::from(member.status == MemberStatus::Active)).await?;
        let updated_at = Time::now(&*self.reader.clock);
        let new = GroupCounter { group_id: group.clone(), count, updated_at };
        self.write(before, &new, &["count", "updatedAt"]).await
    }

    async fn recount_post(&self, post: &PostId) -> Result<RepairOutcome> {
        let core = &self.tables.core;
        let before = self.stored(&PostCounter::at(post).into_key()).await?;
        let seq = self.counted_up_to(before.as_ref()).await?;
        let likes = sum(|| core.likes(post).strong(), |_| 1).await?;
        let of_type = |wanted| {
            let counts = move |like: &Like| u64::from(like.like_type == wanted);
            sum(|| core.likes(post).strong(), counts)
        };
        let loves = Some(of_type(LikeType::Love).await?);
        let laughs = Some(of_type(LikeType::Laugh).await?);
        let comments =
            sum(|| core.comments(post).strong(), |comment| u64::from(!comment.is_deleted)).await?;
        let shares = sum(|| core.shares(post).strong(), |_| 1).await?;
        let score = self.rules.score.of(likes, comments, shares);
        let post_id = post.clone();
        let new = PostCounter { post_id, likes, loves, laughs, comments, shares, score, seq };
        let states = |item: &Item| {
            let stated = PostCounter::from_item(item);
            stated.is_ok_and(|stated| PostCounter { seq: new.seq.clone(), ..stated } == new)
        };
        let is_right = before.as_ref().map_or(likes + comments + shares == 0, states);
        if !is_right {
            let names = ["likes", "loves", "laughs", "comments", "shares", "score", "seq"];
            if let RepairOutcome::Skipped(reason) = self.write(before, &new, &names).await? {
                return Ok(RepairOutcome::Skipped(reason));
            }
        }
        let Some(old) = core.post(post).get().await? else { return Ok(RepairOutcome::Done) };
        let listed = self.rules.score.listed(score);
        if !old.is_deleted && old.score != listed {
            let new = Post { score: listed, ..old.clone() };
            core.table().update(rekey(&old, &new)?).await?;
        }
        Ok(RepairOutcome::Done)
    }

    async fn recount_comment(&self, post: &PostId, comment: &CommentId) -> Result<RepairOutcome> {
        let core = &self.tables.core;
        let before = self.stored(&CommentCounter::at(post, comment).into_key()).await?;
        let seq = self.counted_up_to(before.as_ref()).await?;
        let likes = sum(|| core.likes_of_comment(post, comment), |_| 1).await?;
        let of_type = |wanted| {
            let counts = move |like: &CommentLike| u64::from(like.like_type() == wanted);
            sum(|| core.likes_of_comment(post, comment), counts)
        };
        let loves = Some(of_type(LikeType::Love).await?);
        let laughs = Some(of_type(LikeType::Laugh).await?);
        let replies =
            sum(|| core.replies(post, comment).strong(), |reply| u64::from(!reply.is_deleted));
        let replies = replies.await?;
        let (post_id, comment_id) = (post.clone(), comment.clone());
        let new = CommentCounter { post_id, comment_id, likes, loves, laughs, replies, seq };
        self.write(before, &new, &["likes", "loves", "laughs", "replies", "seq"]).await
    }

    async fn stored(&self, key: &Key) -> Result<Option<Item>> {
        Ok(self.tables.core.table().get(Get::new(key.clone()).strong()).await?.item)
    }

    /// The sequence up to which a recounted counter has applied the stream. In an embedded store
    /// that is the end of the stream. Elsewhere the end is unknown, so the counter keeps its
    /// sequence; a missing counter has none.
    async fn counted_up_to(&self, before: Option<&Item>) -> Result<String> {
        let core = self.tables.core.table();
        let seq = before.and_then(|item| item.text("seq")).unwrap_or_default().to_owned();
        if !core.store().capabilities().single_process {
            return Ok(seq);
        }
        match StreamSnapshot::of(core, &NoProgress).await {
            Ok(stream) => Ok(stream.map_or(seq, |stream| stream.end().as_str().to_owned())),
            Err(VerifyError::Table(error)) => Err(error.into()),
            Err(_) => Ok(seq),
        }
    }

    /// Writes these attributes of an item on condition that they have not changed.
    async fn write<E: Entity>(
        &self,
        before: Option<Item>,
        new: &E,
        names: &[&str],
    ) -> Result<RepairOutcome> {
        let table = self.tables.core.table();
        let Some(before) = before else {
            table.put(new.create()).await?;
            return Ok(RepairOutcome::Done);
        };
        let wanted = new.item();
        let mut update = Update::new(new.key()).when(unchanged(&before, names.iter().copied()));
        for name in names {
            // A circle's version is not derived from facts, so it stays.
            if let Some(value) = wanted.get(name) {
                update = update.set(*name, value.to_value());
            }
        }
        table.update(update).await?;
        Ok(RepairOutcome::Done)
    }
}

/// Sums an amount over all entities of a listing, page by page.
async fn sum<'a, E: Entity, const STRONG: bool>(
    list: impl Fn() -> Listing<'a, E, STRONG>,
    of: impl Fn(&E) -> u64,
) -> Result<u64> {
    let (mut total, mut next): (u64, Option<Cursor>) = (0, None);
    loop {
        let page = list().limit(PAGE_ITEMS).after(next.take()).page().await?;
        total += page.items.iter().map(&of).sum::<u64>();
        next = page.next;
        if next.is_none() {
            return Ok(total);
        }
    }
}
