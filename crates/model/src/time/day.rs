//! Days in UTC, which are parts of partition keys of data that is read day by day.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::civil::{CivilDate, DAYS_MAX};
use super::{DAY_MS, Time, ascii};
use crate::attribute::{InvalidValue, TextValue, text_like};
use crate::part::KeyPart;

/// A day in UTC, from 1970 to 9999: `2025-01-27`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(u32);

impl Day {
    pub const MIN: Self = Self(0);
    pub const MAX: Self = Self(DAYS_MAX);

    const EXPECTED: &'static str = "a day such as 2025-01-27";

    pub(super) fn from_days(days: u32) -> Self {
        Self(days.min(DAYS_MAX))
    }

    /// Returns the day after; `None` after the last.
    pub fn next(self) -> Option<Self> {
        (self < Self::MAX).then(|| Self(self.0 + 1))
    }

    /// Returns the day before; `None` before the first.
    pub fn previous(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }

    pub fn start(self) -> Time {
        Time::from_ms(u64::from(self.0) * DAY_MS)
    }

    fn write(self) -> [u8; 10] {
        CivilDate::from_days(self.0).write()
    }

    fn parse(text: &[u8]) -> Option<Self> {
        CivilDate::parse(text)?.to_days().map(Self)
    }
}

impl FromStr for Day {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text.as_bytes())
            .ok_or_else(|| InvalidValue::new(Self::EXPECTED, format_args!("\"{text}\"")))
    }
}

impl TextValue for Day {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(ascii(&self.write()))
    }
}

impl fmt::Debug for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl KeyPart for Day {
    const BYTES_MAX: usize = "2025-01-27".len();

    fn write_part(&self, key: &mut String) {
        key.push_str(ascii(&self.write()));
    }
}

/// A day in the format of the keys of due tasks: `20250127`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CompactDay(Day);

impl CompactDay {
    const EXPECTED: &'static str = "a day such as 20250127";

    pub const fn day(self) -> Day {
        self.0
    }

    fn write(self) -> [u8; 8] {
        let [y1, y2, y3, y4, _, m1, m2, _, d1, d2] = self.0.write();
        [y1, y2, y3, y4, m1, m2, d1, d2]
    }
}

impl From<Day> for CompactDay {
    fn from(day: Day) -> Self {
        Self(day)
    }
}

impl From<CompactDay> for Day {
    fn from(compact: CompactDay) -> Self {
        compact.0
    }
}

impl FromStr for CompactDay {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let day = match *text.as_bytes() {
            [y1, y2, y3, y4, m1, m2, d1, d2] => {
                Day::parse(&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2])
            }
            _ => None,
        };
        day.map(Self).ok_or_else(|| InvalidValue::new(Self::EXPECTED, format_args!("\"{text}\"")))
    }
}

impl TextValue for CompactDay {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(ascii(&self.write()))
    }
}

impl fmt::Debug for CompactDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl KeyPart for CompactDay {
    const BYTES_MAX: usize = "20250127".len();

    fn write_part(&self, key: &mut String) {
        key.push_str(ascii(&self.write()));
    }
}

text_like! {
    Day: "day";
    CompactDay: "compact day";
}

/// A range of days, both ends included; empty if the newest is before the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Days {
    /// The last day, which is read first.
    pub newest: Day,
    pub oldest: Day,
}

impl Days {
    pub const fn only(day: Day) -> Self {
        Self { newest: day, oldest: day }
    }

    /// Returns `count` days up to `newest`, without days before 1970.
    pub fn up_to(newest: Day, count: u32) -> Self {
        match count.checked_sub(1) {
            Some(before) => Self { newest, oldest: Day(newest.0.saturating_sub(before)) },
            None => Self { newest: Day::MIN, oldest: Day::MAX },
        }
    }

    /// Iterates from the newest to the oldest day; `rev()` reverses the order.
    pub fn iter(self) -> DaysIter {
        DaysIter(self.oldest.0..=self.newest.0)
    }

    pub fn contains(self, day: Day) -> bool {
        (self.oldest..=self.newest).contains(&day)
    }
}

impl IntoIterator for Days {
    type Item = Day;
    type IntoIter = DaysIter;

    fn into_iter(self) -> DaysIter {
        self.iter()
    }
}

/// An iterator over [`Days`], from the newest.
#[derive(Clone, Debug)]
pub struct DaysIter(RangeInclusive<u32>);

impl Iterator for DaysIter {
    type Item = Day;

    fn next(&mut self) -> Option<Day> {
        self.0.next_back().map(Day)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for DaysIter {
    fn next_back(&mut self) -> Option<Day> {
        self.0.next().map(Day)
    }
}
