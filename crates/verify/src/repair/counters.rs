//! Counts facts again, and writes what counters and scores should be.

use roundtable_model::entities::{
    CommentCounter, CommentLike, Follow, GroupCounter, Notification, Post, PostCounter, Quest,
    UserCounter,
};
use roundtable_model::table::{Get, Item, Key, Query, Update};
use roundtable_model::{
    Answer, CommentId, Cursor, Entity, GroupId, Listing, MemberStatus, PostId, QuestId, Result,
    Shard, Shards, Span, Time, UserCount, UserId, rekey,
};

use super::{Mended, unchanged};
use crate::chain::Stream;
use crate::finding::Report;
use crate::lag::COUNTING;
use crate::progress::Silent;
use crate::subject::Subject;
use crate::{Failure, Verify};

/// Facts read at once.
const PAGE_ITEMS: usize = 500;
const BEHIND: &str =
    "the counting processor has not read the stream to its end: it may still be counted";
const UNSWEPT: &str = "what has expired may still be counted until the store has taken it away: no number is right now";
const PARKED: &str =
    "changes that are to be counted are among the dead letters: redrive them first";

impl Verify {
    pub(super) async fn recount(
        &self,
        subject: &Subject,
        expected: i128,
        report: &Report,
    ) -> Result<Mended> {
        // What is still to be counted would be counted twice.
        let mut counting = report.lag.iter().filter(|lag| lag.processor == COUNTING);
        let pending = counting.any(|lag| lag.facts > 0);
        let is_streamed = matches!(
            subject,
            Subject::Post(_) | Subject::Comment(..) | Subject::Person(_, UserCount::Unread, _)
        );
        match subject {
            _ if is_streamed && pending => Ok(Mended::left(BEHIND)),
            _ if is_streamed && report.parked_counts > 0 => Ok(Mended::left(PARKED)),
            // What goes later would be taken off a number that it is not in.
            Subject::Person(_, UserCount::Unread, _) if !report.is_swept => {
                Ok(Mended::left(UNSWEPT))
            }
            Subject::Person(user, counter, shard) => {
                self.recount_person(user, *counter, *shard, expected).await
            }
            Subject::Group(group) => self.recount_group(group).await,
            Subject::Post(post) => self.recount_post(post).await,
            Subject::Comment(post, comment) => self.recount_comment(post, comment).await,
            Subject::Quest(user, quest) => self.recount_quest(user, quest).await,
            _ => Ok(Mended::left("nothing is counted there")),
        }
    }

    async fn recount_person(
        &self,
        user: &UserId,
        counter: UserCount,
        shard: Shard,
        expected: i128,
    ) -> Result<Mended> {
        let core = &self.tables.core;
        let key = UserCounter::at(user, &counter, &shard).into_key();
        // First what states the number, then the facts: a fact that comes in between changes both,
        // and the condition does not hold.
        let before = self.stored(&key).await?;
        let active = |follow: &Follow| u64::from(Follow::active(&follow.status));
        let count = match counter {
            UserCount::Following => sum(|| core.following(user).strong(), active).await?,
            UserCount::Followers => {
                let shards = Shards::new(shard.number() + 1).unwrap_or(Shards::MAX);
                let here = |follow: &Follow| u64::from(follow.shard == shard) * active(follow);
                sum(|| core.followers(user, shards), here).await?
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
        };
        // An index may be behind, or be wrong itself: it must show what the table did.
        let indexed = matches!(counter, UserCount::Followers | UserCount::Posts);
        if indexed && i128::from(count) != expected {
            return Ok(Mended::left("the index does not show the same facts as the table"));
        }
        let updated_at = Time::now(&*self.reader.clock);
        let (user_id, version) = (user.clone(), None);
        let seq = match counter {
            UserCount::Unread => Some(self.counted_up_to(before.as_ref()).await?),
            _ => None,
        };
        let new = UserCounter { user_id, counter, shard, count, version, seq, updated_at };
        self.state(before, &new, &["count", "version", "seq", "updatedAt"]).await
    }

    /// A quest's progress is how many steps it has; steps of no quest count for nothing.
    async fn recount_quest(&self, user: &UserId, quest: &QuestId) -> Result<Mended> {
        let core = &self.tables.core;
        let before = self.stored(&Quest::at(user, quest).into_key()).await?;
        let steps = core.quest_steps(user, quest).strong().all().await?;
        let Some(before) = before else {
            for step in &steps {
                core.table().delete(step.key().delete()).await?;
            }
            return Ok(Mended::Done);
        };
        let progress = u64::try_from(steps.len()).unwrap_or(u64::MAX);
        let unchanged = unchanged(&before, ["progressCount", "status"]);
        let update = Update::new(Quest::at(user, quest)).when(unchanged);
        core.table().update(update.set("progressCount", progress)).await?;
        Ok(Mended::Done)
    }

    async fn recount_group(&self, group: &GroupId) -> Result<Mended> {
        let before = self.stored(&GroupCounter::at(group).into_key()).await?;
        let members = || self.tables.core.members(group).strong();
        let count = sum(members, |member| u64::from(member.status == MemberStatus::Active)).await?;
        let updated_at = Time::now(&*self.reader.clock);
        let new = GroupCounter { group_id: group.clone(), count, updated_at };
        self.state(before, &new, &["count", "updatedAt"]).await
    }

    async fn recount_post(&self, post: &PostId) -> Result<Mended> {
        let core = &self.tables.core;
        let before = self.stored(&PostCounter::at(post).into_key()).await?;
        let seq = self.counted_up_to(before.as_ref()).await?;
        let likes = sum(|| core.likes(post).strong(), |_| 1).await?;
        let comments =
            sum(|| core.comments(post).strong(), |comment| u64::from(!comment.is_deleted)).await?;
        let shares = sum(|| core.shares(post).strong(), |_| 1).await?;
        let score = self.rules.score.of(likes, comments, shares);
        let new = PostCounter { post_id: post.clone(), likes, comments, shares, score, seq };
        let states = |item: &Item| {
            let stated = PostCounter::from_item(item);
            stated.is_ok_and(|stated| PostCounter { seq: new.seq.clone(), ..stated } == new)
        };
        let is_right = before.as_ref().map_or(likes + comments + shares == 0, states);
        if !is_right {
            let names = ["likes", "comments", "shares", "score", "seq"];
            if let Mended::Left(reason) = self.state(before, &new, &names).await? {
                return Ok(Mended::Left(reason));
            }
        }
        let Some(old) = core.post(post).get().await? else { return Ok(Mended::Done) };
        let listed = self.rules.score.listed(score);
        if !old.is_deleted && old.score != listed {
            let new = Post { score: listed, ..old.clone() };
            core.table().update(rekey(&old, &new)?).await?;
        }
        Ok(Mended::Done)
    }

    async fn recount_comment(&self, post: &PostId, comment: &CommentId) -> Result<Mended> {
        let core = &self.tables.core;
        let before = self.stored(&CommentCounter::at(post, comment).into_key()).await?;
        let seq = self.counted_up_to(before.as_ref()).await?;
        let likes = self.likes_of(post, comment).await?;
        let replies =
            sum(|| core.replies(post, comment).strong(), |reply| u64::from(!reply.is_deleted));
        let replies = replies.await?;
        let (post_id, comment_id) = (post.clone(), comment.clone());
        let new = CommentCounter { post_id, comment_id, likes, replies, seq };
        self.state(before, &new, &["likes", "replies", "seq"]).await
    }

    /// How many like a comment. No question of the page lists them.
    async fn likes_of(&self, post: &PostId, comment: &CommentId) -> Result<u64> {
        let anybody = comment.recast();
        let Key { partition, sort } = CommentLike::at(post, comment, &anybody).into_key();
        let sort = sort.as_ref().and_then(roundtable_model::table::Scalar::as_text);
        let end = sort.and_then(|sort| sort.rfind('#')).map_or(0, |at| at + 1);
        let prefix = sort.and_then(|sort| sort.get(..end)).unwrap_or_default().to_owned();
        let (mut likes, mut next) = (0, None);
        loop {
            let query = Query::new(partition.clone()).begins_with(&*prefix).strong();
            let page = self.tables.core.table().query(query.after(next.take())).await?;
            for item in &page.items {
                CommentLike::from_item(item)?;
                likes += 1;
            }
            next = page.next;
            if next.is_none() {
                return Ok(likes);
            }
        }
    }

    async fn stored(&self, key: &Key) -> Result<Option<Item>> {
        Ok(self.tables.core.table().get(Get::new(key.clone()).strong()).await?.item)
    }

    /// Up to where a counter has counted the stream, once it is recounted: in one process, to its end.
    /// Elsewhere as it says, since no end can be named; one that was not there has counted nothing.
    async fn counted_up_to(&self, before: Option<&Item>) -> Result<String> {
        let core = self.tables.core.table();
        let seen = before.and_then(|item| item.text("seq")).unwrap_or_default().to_owned();
        if !core.store().capabilities().one_process {
            return Ok(seen);
        }
        match Stream::of(core, &Silent).await {
            Ok(stream) => Ok(stream.map_or(seen, |stream| stream.end().as_str().to_owned())),
            Err(Failure::Table(error)) => Err(error.into()),
            Err(_) => Ok(seen),
        }
    }

    /// Writes what an item should state, if it is still as it was.
    async fn state<E: Entity>(
        &self,
        before: Option<Item>,
        new: &E,
        names: &[&str],
    ) -> Result<Mended> {
        let table = self.tables.core.table();
        let Some(before) = before else {
            table.put(new.create()).await?;
            return Ok(Mended::Done);
        };
        let wanted = new.item();
        let mut update = Update::new(new.key()).when(unchanged(&before, names.iter().copied()));
        for name in names {
            // The version of a circle is nobody's count.
            if let Some(value) = wanted.get(name) {
                update = update.set(*name, value.to_value());
            }
        }
        table.update(update).await?;
        Ok(Mended::Done)
    }
}

/// Adds up what each fact of a list counts, page by page.
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
