//! Points from which subscriptions resume. Processes receive changes in different orders, so a point
//! names the process that sent the event.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use roundtable_model::InvalidValue;

use crate::limits::MUTATION_TIME_MAX;

/// Separates the id of the event from that of the bus. No id contains it.
const SEPARATOR: char = '@';

/// The greatest time between the arrivals of one change at two processes: the relay drops a connection
/// that is silent for less, and what was missed then is a gap.
pub(super) const ARRIVAL_MARGIN: Duration = Duration::from_secs(30);
/// The greatest time from the time of an event to its arrival, where one process writes and reads.
const LOCAL_DELAY_MAX: Duration = MUTATION_TIME_MAX;
/// The same where workers read the stream and send it on.
const RELAYED_DELAY_MAX: Duration = Duration::from_mins(10);

/// The id of a bus, different for each that was ever started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusId(pub(super) u64);

/// The last event that a returning subscriber has received, and the bus that sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint<K> {
    pub id: K,
    /// `None` if the client named only the event.
    pub bus: Option<BusId>,
}

/// The start of a subscription in a replay log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogStart {
    /// The number of the first entry to read.
    pub(crate) next: u64,
    /// True if the log does not have everything that followed the last event.
    pub(crate) misses_some: bool,
}

/// Returns how long before an event others may have happened that arrived after it.
pub(super) const fn delay_max(is_exact: bool) -> Duration {
    if is_exact { LOCAL_DELAY_MAX } else { RELAYED_DELAY_MAX }
}

impl<K> From<K> for ResumePoint<K> {
    fn from(id: K) -> Self {
        Self { id, bus: None }
    }
}

impl<K: fmt::Display> fmt::Display for ResumePoint<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)?;
        match self.bus {
            Some(BusId(bus)) => write!(f, "{SEPARATOR}{bus:016x}"),
            None => Ok(()),
        }
    }
}

impl<K: FromStr<Err = InvalidValue>> FromStr for ResumePoint<K> {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let Some((id, bus)) = text.rsplit_once(SEPARATOR) else {
            return Ok(Self { id: text.parse()?, bus: None });
        };
        let bus = u64::from_str_radix(bus, 16).map_err(|_| {
            InvalidValue::new("the `resumeAfter` of an event", format_args!("\"{text}\""))
        })?;
        Ok(Self { id: id.parse()?, bus: Some(BusId(bus)) })
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::ActivityId;

    use super::*;

    #[test]
    fn a_point_is_read_as_it_was_written() {
        let id: ActivityId = "01JJM5E3S0PQ0M3ZJ5Y3W4YQZC".parse().unwrap();
        for bus in [None, Some(BusId(7)), Some(BusId(u64::MAX))] {
            let point = ResumePoint { id: id.clone(), bus };
            assert_eq!(point.to_string().parse(), Ok(point));
        }
        assert_eq!(id.to_string().parse(), Ok(ResumePoint::from(id.clone())));
        for bad in ["@7", "a@", "a@b@c", "a@-1", ""] {
            assert!(bad.parse::<ResumePoint<ActivityId>>().is_err(), "{bad}");
        }
    }
}
