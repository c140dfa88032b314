//! Days in UTC, which name the partitions of what is read day by day.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::civil::{DAYS_MAX, Ymd};
use super::{DAY_MS, Time, ascii};
use crate::attribute::{Misfit, Text, text_like};
use crate::part::KeyPart;

/// A day in UTC, from 1970 to 9999: `2025-01-27`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(u32);

impl Day {
    /// 1970-01-01.
    pub const MIN: Self = Self(0);
    /// 9999-12-31.
    pub const MAX: Self = Self(DAYS_MAX);

    const EXPECTED: &'static str = "a day such as 2025-01-27";

    pub(super) fn from_days(days: u32) -> Self {
        Self(days.min(DAYS_MAX))
    }

    /// The day after; `None` after the last.
    pub fn next(self) -> Option<Self> {
        (self < Self::MAX).then(|| Self(self.0 + 1))
    }

    /// The day before; `None` before the first.
    pub fn previous(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }

    /// Its first moment.
    pub fn start(self) -> Time {
        Time::from_ms(u64::from(self.0) * DAY_MS)
    }

    fn write(self) -> [u8; 10] {
        Ymd::from_days(self.0).write()
    }

    fn parse(text: &[u8]) -> Option<Self> {
        Ymd::parse(text)?.to_days().map(Self)
    }
}

impl FromStr for Day {
    type Err = Misfit;

    fn from_str(text: &str) -> Result<Self, Misfit> {
        Self::parse(text.as_bytes())
            .ok_or_else(|| Misfit::new(Self::EXPECTED, format_args!("\"{text}\"")))
    }
}

impl Text for Day {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(ascii(&self.write()))
    }
}

/// As [`Display`](fmt::Display).
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

/// A day as the keys of due tasks write it: `20250127`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CompactDay(Day);

impl CompactDay {
    const EXPECTED: &'static str = "a day such as 20250127";

    /// The day.
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
    type Err = Misfit;

    fn from_str(text: &str) -> Result<Self, Misfit> {
        let day = match *text.as_bytes() {
            [y1, y2, y3, y4, m1, m2, d1, d2] => {
                Day::parse(&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2])
            }
            _ => None,
        };
        day.map(Self).ok_or_else(|| Misfit::new(Self::EXPECTED, format_args!("\"{text}\"")))
    }
}

impl Text for CompactDay {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(ascii(&self.write()))
    }
}

/// As [`Display`](fmt::Display).
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

/// Days to read one after the other, both ends included; none if the newest is before the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Days {
    /// The last of them, and the first to be read.
    pub newest: Day,
    /// The first of them.
    pub oldest: Day,
}

impl Days {
    /// One day.
    pub const fn only(day: Day) -> Self {
        Self { newest: day, oldest: day }
    }

    /// So many days, of which this is the newest; none before 1970.
    pub fn up_to(newest: Day, count: u32) -> Self {
        match count.checked_sub(1) {
            Some(before) => Self { newest, oldest: Day(newest.0.saturating_sub(before)) },
            None => Self { newest: Day::MIN, oldest: Day::MAX },
        }
    }

    /// Each of them, from the newest to the oldest; `rev()` goes the other way.
    pub fn iter(self) -> DaysIter {
        DaysIter(self.oldest.0..=self.newest.0)
    }

    /// Whether this day is one of them.
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

/// Goes through [`Days`], from the newest.
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
