//! Home feeds in the order of rank (R52). Ranks change all the time, so the first page stores the order
//! that it found, for an hour, and the others follow it: within one walk no entry is repeated or
//! skipped. What is shown is decided for each page anew, as in any feed.

use std::cmp::Reverse;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, FeedRanking, RankedActivity, User};
use roundtable_model::{Cursor, Entity, Expiry, InvalidValue, Json, PostId, RankingId, UserId};

use super::position::FeedPosition;
use super::{FEED_ITEMS, FeedEntry, FeedError, Feeds, feed_rank};
use crate::memory::Circle;
use crate::{Caller, Page, PageInput, Posts, ServiceError};

/// Entries of one order.
const RANKED_MAX: usize = 500;
/// The newest entries of the window that are ranked: a first page must not read a history.
const EXAMINED_MAX: usize = 2_000;
/// Bytes of a stored position besides its ids: the time, quotes, commas and brackets.
const POSITION_BYTES: usize = 36;
/// The time that an order is stored.
const STORED_MS: u64 = HOUR_MS;
const HOUR_MS: u64 = 60 * 60 * 1_000;

#[boxed]
impl Feeds {
    /// Returns a page of the caller's home feed by rank, highest first. It is full unless the feed
    /// ends, after 500 entries at the latest.
    pub async fn top(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<FeedEntry>, FeedError> {
        let wanted = page.size_or(FEED_ITEMS)?;
        let start = page.after.as_ref().map(|cursor| start_at(caller, cursor)).transpose()?;
        let me = self.context.authorize_read(caller).await?;
        self.bus.catch_up().await?;
        let circle = self.circle_of(&me.id).await?;
        let reader = (caller, &me, &*circle);
        let (id, ranked, mut place) = if let Some((id, place)) = start {
            let ranked = self.stored_ranking(&me.id, &id).await?;
            (id, ranked, place)
        } else {
            let (id, ranked) = self.new_ranking(reader).await?;
            (id, ranked, 0)
        };
        // One more than a page, to know whether another page follows.
        let mut items: Vec<(FeedEntry, usize)> = Vec::with_capacity(wanted + 1);
        while items.len() <= wanted {
            let rest = ranked.get(place..).unwrap_or_default();
            let chunk = rest.get(..wanted + 1 - items.len()).unwrap_or(rest);
            if chunk.is_empty() {
                break;
            }
            let shown = self.entries_at(reader, chunk).await?.into_iter().zip(place + 1..);
            items.extend(shown.filter_map(|(entry, next)| Some((entry?, next))));
            place += chunk.len();
        }
        let more = items.len() > wanted;
        items.truncate(wanted);
        let cursor = |next: usize| cursor(caller, &id, next);
        let next = items.last().filter(|_| more).map(|(_, next)| cursor(*next));
        let items = items.into_iter().map(|(entry, next)| (entry, cursor(next)));
        Ok(Page { items: items.collect(), next })
    }

    /// Ranks the newest entries of the window, and stores their order.
    async fn new_ranking(
        &self,
        (caller, me, circle): (&Caller, &User, &Circle),
    ) -> Result<(RankingId, Vec<RankedActivity>), ServiceError> {
        self.context.rate_limiter().top_feed(&me.id)?;
        self.remember_own(me).await?;
        let now = self.context.now();
        let hours = u64::from(self.context.settings().feed.top_hours);
        let since = now.minus_ms(hours * HOUR_MS);
        let mut entries = self.collect((caller, me, circle), None, EXAMINED_MAX, since).await?;
        entries.truncate(EXAMINED_MAX);
        let scores = self.scores(&entries).await?;
        let mut ranked: Vec<(f64, &Activity)> = entries
            .iter()
            .zip(scores)
            .map(|(entry, score)| {
                (feed_rank(score, entry.activity.created_at, now), &entry.activity)
            })
            .collect();
        // Equal ranks by time, newest first.
        ranked.sort_by_cached_key(|(_, activity)| Reverse(FeedPosition::of(activity)));
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let position = |activity: &Activity| {
            let home = Activity::home(&activity.actor_id, &activity.group_id);
            (home, activity.created_at, activity.activity_id.clone())
        };
        let mut bytes = 0;
        let ranked = ranked.into_iter().map(|(_, activity)| position(activity));
        let ranked: Vec<RankedActivity> = ranked
            .take(RANKED_MAX)
            .take_while(|(home, _, id)| {
                bytes += home.to_string().len() + id.to_string().len() + POSITION_BYTES;
                bytes < Json::BYTES_MAX
            })
            .collect();
        let ranking = FeedRanking {
            user_id: me.id.clone(),
            id: self.context.ids().next(),
            activities: Json::encode(&ranked).map_err(|invalid| internal(&invalid))?,
            ttl: Expiry::at(now.plus_ms(STORED_MS)),
        };
        self.context.ops().table().put(ranking.create()).await.map_err(ServiceError::of_write)?;
        Ok((ranking.id, ranked))
    }

    /// Returns the order that an earlier page stored.
    async fn stored_ranking(
        &self,
        reader: &UserId,
        id: &RankingId,
    ) -> Result<Vec<RankedActivity>, ServiceError> {
        let stored = self.context.ops().feed_ranking(reader, id).get().await?;
        let stored = stored.ok_or_else(|| {
            let expected = "a cursor of the last hour: begin again with the first page";
            ServiceError::bad_input("after", InvalidValue::new(expected, "an older one"))
        })?;
        stored.activities.decode().map_err(|invalid| internal(&invalid))
    }

    /// Returns the engagement scores of entries; zero without a post.
    async fn scores(&self, entries: &[FeedEntry]) -> Result<Vec<f64>, ServiceError> {
        let posts = entries.iter().filter_map(|entry| entry.post.as_ref());
        let posts: Vec<PostId> = posts.map(|post| post.id.clone()).collect();
        let mut counters =
            Posts::new(self.context.clone()).stored_counters(&posts).await?.into_iter();
        #[expect(clippy::cast_precision_loss, reason = "scores are far below 2^53")]
        let score = |entry: &FeedEntry| {
            let counter = entry.post.as_ref().and_then(|_| counters.next());
            counter.map_or(0.0, |counter| counter.score as f64)
        };
        Ok(entries.iter().map(score).collect())
    }
}

/// The scope of the cursors of one reader's feed.
fn cursor_scope(caller: &Caller) -> String {
    format!("home of {} by rank", caller.user_id)
}

/// The cursor that continues with the entry at `next` of an order.
fn cursor(caller: &Caller, id: &RankingId, next: usize) -> Cursor {
    let ranking = FeedRanking::at(&caller.user_id, id);
    Cursor::at(&cursor_scope(caller), ranking).with_note(next.to_string())
}

/// Returns the order that a cursor names, and the place in it.
fn start_at(caller: &Caller, cursor: &Cursor) -> Result<(RankingId, usize), ServiceError> {
    let read = || {
        let key = cursor.key_for(&cursor_scope(caller))?;
        Some((FeedRanking::ID.part_of(key)?, cursor.note()?.parse().ok()?))
    };
    read().ok_or_else(|| {
        ServiceError::bad_input(
            "after",
            InvalidValue::new("a cursor returned by this list", "another"),
        )
    })
}

fn internal(invalid: &InvalidValue) -> ServiceError {
    ServiceError::Internal(invalid.to_string())
}
