//! What a home has not copied yet, as its head and its watermark tell.

use roundtable_model::entities::{Activity, ActorHead, FeedItem, Promotion};
use roundtable_model::table::{Query, SortRange};
use roundtable_model::{ActorId, Answer, Expiry, Json, Time};
use serde::{Deserialize, Serialize};

use super::readers::Reached;
use super::{FanOut, Home};
use crate::Failure;

/// Activities that are copied to a reader at the same time.
const ACTIVITIES_AT_ONCE: usize = 10;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Where a job has come to: these activities have been copied to all readers before that one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Place {
    /// The beginning of the interval they are in.
    since: Time,
    /// The last of them.
    upto: Time,
    /// Up to where they were copied to the readers.
    readers: Reached,
}

impl Place {
    /// The place of a job that begins anew.
    pub(super) const BEGIN: &'static str = "";

    pub(super) fn read(text: &str) -> Result<Option<Self>, Failure> {
        if text == Self::BEGIN {
            return Ok(None);
        }
        let json: Json = text.parse()?;
        Ok(Some(json.to()?))
    }

    pub(super) fn write(&self) -> Result<String, Failure> {
        Ok(Json::of(self)?.to_string())
    }
}

/// Activities that are next to be copied, all of one interval.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// The beginning of the interval.
    pub(super) since: Time,
    /// The last of them: when they have been copied, everything up to it has.
    pub(super) upto: Time,
    /// What is copied, but for the reader. What would have expired by now is not.
    pub(super) copies: Vec<FeedItem>,
    /// Up to here readers have them.
    pub(super) reached: Reached,
    /// Whether nothing else was left to be copied when this was looked for.
    pub(super) is_last: bool,
    /// Whether there is something to write the watermark on.
    pub(super) is_marked: bool,
}

impl Pass {
    /// The place behind some readers.
    pub(super) fn at(&self, readers: Reached) -> Place {
        Place { since: self.since, upto: self.upto, readers }
    }
}

/// A stretch of a home's time in which every activity is copied, as far as it has not been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    since: Time,
    from: Time,
    to: Time,
    held_days: u32,
}

impl FanOut {
    /// What is next to be copied; where a job has come to counts if it is still true.
    pub(super) async fn pass(
        &self,
        home: &Home,
        asked_at: Time,
        place: Option<Place>,
    ) -> Result<Option<Pass>, Failure> {
        let (core, actor) = (self.ground.core(), home.actor());
        // The head first: whatever it tells of has been committed, and whatever comes later has a job
        // of its own.
        let heads = core.actor_heads(std::slice::from_ref(&actor)).strong().get().await?;
        let Some(head) = heads.into_iter().flatten().next() else { return Ok(None) };
        let promotion = core.promotion(&actor).strong().get().await?;
        let stretches = stretches(&head, promotion.as_ref());
        let is_marked = promotion.is_some();
        if let Some(place) = place
            && let Some(stretch) = stretches.iter().find(|each| each.since == place.since)
        {
            let rest = Stretch { to: place.upto, ..*stretch };
            let (activities, _) = self.activities(&actor, rest).await?;
            if !activities.is_empty() {
                let copies = self.copies_of(&activities, rest, asked_at);
                let Place { since, upto, readers } = place;
                let (reached, is_last) = (readers, false);
                return Ok(Some(Pass { since, upto, copies, reached, is_last, is_marked }));
            }
        }
        for (at, stretch) in stretches.iter().enumerate() {
            let (activities, ends) = self.activities(&actor, *stretch).await?;
            let Some(last) = activities.last() else { continue };
            return Ok(Some(Pass {
                since: stretch.since,
                upto: last.created_at,
                copies: self.copies_of(&activities, *stretch, asked_at),
                reached: Reached::default(),
                is_last: ends && at + 1 == stretches.len(),
                is_marked,
            }));
        }
        Ok(None)
    }

    /// The first activities of a stretch, and whether there are no others. Strongly: of an activity that
    /// is not seen here the watermark would say that it has been copied.
    async fn activities(
        &self,
        actor: &ActorId,
        stretch: Stretch,
    ) -> Result<(Vec<Activity>, bool), Failure> {
        let table = self.ground.core().table().for_pattern("activities");
        // A `#` and the id follow the time, so that the end is the first that lies behind.
        let [from, to] = [stretch.from, stretch.to.plus_ms(1)].map(|at| format!("TS#{at}"));
        let stretch = SortRange::Between(from.as_str().into(), to.as_str().into());
        let query = Query::new(ActorHead::at(actor).into_key().partition).sort(stretch);
        let page = table.query(query.limit(ACTIVITIES_AT_ONCE).strong()).await?;
        let activities = page.items.iter().map(Activity::from_item).collect::<Result<_, _>>()?;
        Ok((activities, page.next.is_none()))
    }

    /// What is copied of some activities, but for the reader. It is the same each time a job comes to it.
    fn copies_of(
        &self,
        activities: &[Activity],
        stretch: Stretch,
        asked_at: Time,
    ) -> Vec<FeedItem> {
        let held_ms = u64::from(stretch.held_days) * DAY_MS;
        let copy = |activity: &Activity| FeedItem {
            follower_id: activity.actor_id.clone(),
            activity_id: activity.activity_id.clone(),
            actor_id: activity.actor_id.clone(),
            group_id: activity.group_id.clone(),
            verb: activity.verb,
            object_type: activity.object_type,
            object_id: activity.object_id.clone(),
            preview_text: activity.preview_text.clone(),
            created_at: activity.created_at,
            inserted_at: asked_at.max(activity.created_at),
            ttl: Expiry::at(activity.created_at.plus_ms(held_ms)),
        };
        let now = self.ground.now();
        let activities = activities.iter().filter(|activity| activity.fanout);
        activities.map(copy).filter(|copy| copy.ttl.time() > now).collect()
    }
}

/// What is left to be copied, earliest first. Intervals that the head has forgotten are nobody's concern:
/// readers look up what was done in them.
fn stretches(head: &ActorHead, promotion: Option<&Promotion>) -> Vec<Stretch> {
    let mark = promotion.and_then(|mark| Some((mark.watermark_since?, mark.watermark?)));
    let closed = head.intervals.iter().map(|one| (one.since, one.until, one.held_days));
    let open = head.since.map(|since| (since, head.last_ts, head.held_days));
    let left = |(since, to, held_days): (Time, Time, u32)| {
        let from = match mark {
            Some((interval, _)) if since < interval => return None,
            Some((interval, watermark)) if since == interval => watermark.plus_ms(1).max(since),
            _ => since,
        };
        (from <= to).then_some(Stretch { since, from, to, held_days })
    };
    closed.chain(open).filter_map(left).collect()
}

#[cfg(test)]
mod tests {
    use roundtable_model::entities::Interval;
    use roundtable_model::samples;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    fn head(closed: &[(u64, u64)], since: Option<u64>, last_ts: u64) -> ActorHead {
        let interval = |(since, until): &(u64, u64)| Interval {
            since: at(*since),
            until: at(*until),
            held_days: 45,
        };
        ActorHead {
            intervals: closed.iter().map(interval).collect(),
            since: since.map(at),
            last_ts: at(last_ts),
            ..samples::actor_head()
        }
    }

    fn left(head: &ActorHead, mark: Option<(u64, u64)>) -> Vec<(u64, u64, u64)> {
        let promotion = Promotion {
            watermark_since: mark.map(|(since, _)| at(since)),
            watermark: mark.map(|(_, watermark)| at(watermark)),
            ..samples::promotion()
        };
        let told = |each: &Stretch| (each.since.ms(), each.from.ms(), each.to.ms());
        stretches(head, Some(&promotion)).iter().map(told).collect()
    }

    #[test]
    fn everything_behind_the_watermark_is_left_and_nothing_before_it() {
        let head = head(&[(10, 19), (30, 39)], Some(50), 60);
        assert_eq!(left(&head, None), [(10, 10, 19), (30, 30, 39), (50, 50, 60)]);
        assert_eq!(left(&head, Some((30, 35))), [(30, 36, 39), (50, 50, 60)]);
        assert_eq!(left(&head, Some((30, 39))), [(50, 50, 60)]);
        assert_eq!(left(&head, Some((50, 60))), []);
    }

    #[test]
    fn a_watermark_in_a_forgotten_interval_leaves_all_that_came_after() {
        let head = head(&[(30, 39)], None, 70);
        assert_eq!(left(&head, Some((10, 19))), [(30, 30, 39)]);
    }

    #[test]
    fn a_watermark_in_an_interval_that_was_not_known_yet_leaves_nothing_before_it() {
        let head = head(&[(30, 39)], None, 70);
        assert_eq!(left(&head, Some((80, 90))), []);
    }

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let place = Place { since: at(10), upto: at(19), readers: Reached::default() };
        assert_eq!(Place::read(&place.write().unwrap()).unwrap(), Some(place));
        assert_eq!(Place::read(Place::BEGIN).unwrap(), None);
        assert!(Place::read("{").is_err());
    }
}
