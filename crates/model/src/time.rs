//! Times as keys and attributes store them: UTC, in milliseconds, always 24 characters, so that
//! text order is time order. Other spellings are refused, except from clients.

mod civil;
mod date;
mod day;

use std::fmt;
use std::str::FromStr;

use roundtable_table::Clock;

use self::civil::{CivilDate, DAYS_MAX, number};
use crate::attribute::{InvalidValue, TextValue, text_like};
use crate::part::{KeyPart, digits};

pub use self::date::Date;
pub use self::day::{CompactDay, Day, Days, DaysIter};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A time in milliseconds, from 1970 to the end of the year 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    pub const EPOCH: Self = Self(0);
    /// The last millisecond of the year 9999: the text of a later time would be longer.
    pub const MAX: Self = Self((DAYS_MAX as u64 + 1) * DAY_MS - 1);

    const EXPECTED: &'static str = "a time such as 2025-01-27T15:30:00.000Z";
    const EXPECTED_OFFSET: &'static str = "a time such as 2025-01-27T15:30:00Z or …+01:00";

    /// Returns the time `ms` milliseconds after the epoch, limited to [`Time::MAX`].
    pub const fn from_ms(ms: u64) -> Self {
        if ms > Self::MAX.0 { Self::MAX } else { Self(ms) }
    }

    pub fn now(clock: &dyn Clock) -> Self {
        Self::from_ms(clock.now_ms())
    }

    /// Returns the milliseconds since the epoch.
    pub const fn ms(self) -> u64 {
        self.0
    }

    /// Adds milliseconds, limited to [`Time::MAX`].
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self::from_ms(self.0.saturating_add(ms))
    }

    /// Subtracts milliseconds, limited to the epoch.
    pub const fn minus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_sub(ms))
    }

    pub fn day(self) -> Day {
        Day::from_days(self.days())
    }

    pub fn compact_day(self) -> CompactDay {
        self.day().into()
    }

    /// Parses times of clients: any RFC 3339 time with an offset, truncated to milliseconds.
    pub fn parse_lenient(text: &str) -> Result<Self, InvalidValue> {
        let text = text.trim();
        // Most clients send times back as received. Besides, jiff's last day is one before ours.
        if let Some(time) = Self::parse_strict(text) {
            return Ok(time);
        }
        let timestamp: jiff::Timestamp = text
            .parse()
            .map_err(|_| InvalidValue::new(Self::EXPECTED_OFFSET, format_args!("\"{text}\"")))?;
        if timestamp < jiff::Timestamp::UNIX_EPOCH {
            return Err(InvalidValue::in_text(Self::EXPECTED_OFFSET, "a year before 1970", text));
        }
        Ok(Self::from_ms(u64::try_from(timestamp.as_millisecond()).unwrap_or(0)))
    }

    fn days(self) -> u32 {
        u32::try_from(self.0 / DAY_MS).unwrap_or(DAYS_MAX)
    }

    fn write(self) -> [u8; 24] {
        let [y1, y2, y3, y4, dash, m1, m2, _, d1, d2] = CivilDate::from_days(self.days()).write();
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
        let days = CivilDate::parse(date)?.to_days()?;
        let seconds = (u64::from(hours) * 60 + u64::from(minutes)) * 60 + u64::from(seconds);
        Some(Self(u64::from(days) * DAY_MS + seconds * 1000 + u64::from(ms)))
    }
}

impl FromStr for Time {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse_strict(text).ok_or_else(|| {
            let wrong = match text.parse::<jiff::Timestamp>() {
                Err(_) => return InvalidValue::new(Self::EXPECTED, format_args!("\"{text}\"")),
                Ok(time) if time < jiff::Timestamp::UNIX_EPOCH => "a year before 1970",
                Ok(_) if !text.ends_with('Z') => "an offset that is not `Z`",
                Ok(_) if !text.contains('.') => "no milliseconds",
                Ok(_) => "another spelling",
            };
            InvalidValue::in_text(Self::EXPECTED, wrong, text)
        })
    }
}

/// Returns the text of `bytes`, which are digits and punctuation.
fn ascii(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

impl TextValue for Time {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(ascii(&self.write()))
    }
}

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
