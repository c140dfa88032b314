//! Time as keys and attributes write it: UTC, to the millisecond, always 24 characters, so that text
//! order is time order. Other spellings are refused, except from clients.

mod civil;
mod date;
mod day;

use std::fmt;
use std::str::FromStr;

use roundtable_table::Clock;

use self::civil::{DAYS_MAX, Ymd, number};
use crate::attribute::{Misfit, Text, text_like};
use crate::part::{KeyPart, digits};

pub use self::date::Date;
pub use self::day::{CompactDay, Day, Days, DaysIter};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A moment, from 1970 to the end of the year 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The first moment of 1970.
    pub const EPOCH: Self = Self(0);
    /// The last millisecond of the year 9999: the text of a later one would be longer.
    pub const MAX: Self = Self((DAYS_MAX as u64 + 1) * DAY_MS - 1);

    const EXPECTED: &'static str = "a time such as 2025-01-27T15:30:00.000Z";
    const EXPECTED_OFFSET: &'static str = "a time such as 2025-01-27T15:30:00Z or …+01:00";

    /// So many milliseconds after the epoch, [`Time::MAX`] at the latest.
    pub const fn from_ms(ms: u64) -> Self {
        if ms > Self::MAX.0 { Self::MAX } else { Self(ms) }
    }

    /// What a clock shows.
    pub fn now(clock: &dyn Clock) -> Self {
        Self::from_ms(clock.now_ms())
    }

    /// Milliseconds since the epoch.
    pub const fn ms(self) -> u64 {
        self.0
    }

    /// So much later, [`Time::MAX`] at the latest.
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self::from_ms(self.0.saturating_add(ms))
    }

    /// So much earlier, the epoch at the earliest.
    pub const fn minus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_sub(ms))
    }

    /// The day it is in.
    pub fn day(self) -> Day {
        Day::from_days(self.days())
    }

    /// The day it is in, as some keys write it.
    pub fn compact_day(self) -> CompactDay {
        self.day().into()
    }

    /// Reads what clients send: any RFC 3339 time with an offset, cut to the millisecond.
    pub fn parse_lenient(text: &str) -> Result<Self, Misfit> {
        let text = text.trim();
        // Most clients send what they were sent. Besides, jiff's last day is one before ours.
        if let Some(time) = Self::parse_strict(text) {
            return Ok(time);
        }
        let timestamp: jiff::Timestamp = text
            .parse()
            .map_err(|_| Misfit::new(Self::EXPECTED_OFFSET, format_args!("\"{text}\"")))?;
        if timestamp < jiff::Timestamp::UNIX_EPOCH {
            return Err(Misfit::in_text(Self::EXPECTED_OFFSET, "a year before 1970", text));
        }
        Ok(Self::from_ms(u64::try_from(timestamp.as_millisecond()).unwrap_or(0)))
    }

    fn days(self) -> u32 {
        u32::try_from(self.0 / DAY_MS).unwrap_or(DAYS_MAX)
    }

    /// The text, on the stack.
    fn write(self) -> [u8; 24] {
        let [y1, y2, y3, y4, dash, m1, m2, _, d1, d2] = Ymd::from_days(self.days()).write();
        let ms = self.0 % DAY_MS;
        let [h1, h2] = digits(ms / (60 * 60 * 1000));
        let [n1, n2] = digits(ms / (60 * 1000) % 60);
        let [s1, s2] = digits(ms / 1000 % 60);
        let [f1, f2, f3] = digits(ms % 1000);
        [
            y1, y2, y3, y4, dash, m1, m2, dash, d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2,
            b'.', f1, f2, f3, b'Z',
        ]
    }

    fn parse_strict(text: &str) -> Option<Self> {
        let (date, time) = text.as_bytes().split_first_chunk::<10>()?;
        let &[b'T', h1, h2, b':', n1, n2, b':', s1, s2, b'.', f1, f2, f3, b'Z'] = time else {
            return None;
        };
        let (hours, minutes) = (number([h1, h2])?, number([n1, n2])?);
        let (seconds, ms) = (number([s1, s2])?, number([f1, f2, f3])?);
        if hours > 23 || minutes > 59 || seconds > 59 {
            return None;
        }
        let days = Ymd::parse(date)?.to_days()?;
        let seconds = (u64::from(hours) * 60 + u64::from(minutes)) * 60 + u64::from(seconds);
        Some(Self(u64::from(days) * DAY_MS + seconds * 1000 + u64::from(ms)))
    }
}

impl FromStr for Time {
    type Err = Misfit;

    fn from_str(text: &str) -> Result<Self, Misfit> {
        Self::parse_strict(text).ok_or_else(|| {
            let wrong = match text.parse::<jiff::Timestamp>() {
                Err(_) => return Misfit::new(Self::EXPECTED, format_args!("\"{text}\"")),
                Ok(time) if time < jiff::Timestamp::UNIX_EPOCH => "a year before 1970",
                Ok(_) if !text.ends_with('Z') => "an offset that is not `Z`",
                Ok(_) if !text.contains('.') => "no milliseconds",
                Ok(_) => "another spelling",
            };
            Misfit::in_text(Self::EXPECTED, wrong, text)
        })
    }
}

/// The text in `bytes`, which are digits and punctuation.
fn ascii(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

impl Text for Time {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(ascii(&self.write()))
    }
}

/// As [`Display`](fmt::Display).
impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl KeyPart for Time {
    const BYTES_MAX: usize = "2025-01-27T15:30:00.000Z".len();

    fn write_part(&self, key: &mut String) {
        key.push_str(ascii(&self.write()));
    }
}

text_like! { Time: "time"; }

#[cfg(test)]
mod tests;
