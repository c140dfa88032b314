//! Calendar dates without a time, such as birthdays.

use std::fmt;
use std::str::FromStr;

use super::ascii;
use super::civil::CivilDate;
use crate::attribute::{InvalidValue, TextValue, text_like};

/// A calendar date of the years 1 to 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(CivilDate);

impl Date {
    const EXPECTED: &'static str = "a date such as 1990-05-17";

    pub fn new(year: u16, month: u8, day: u8) -> Result<Self, InvalidValue> {
        CivilDate::new(year, month, day).map(Self).ok_or_else(|| {
            InvalidValue::new(
                Self::EXPECTED,
                format_args!("day {day} of month {month} of year {year}"),
            )
        })
    }

    pub const fn year(self) -> u16 {
        self.0.parts().0
    }

    pub const fn month(self) -> u8 {
        self.0.parts().1
    }

    /// Returns the day of the month, from 1.
    pub const fn day(self) -> u8 {
        self.0.parts().2
    }
}

impl FromStr for Date {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        CivilDate::parse(text.as_bytes())
            .map(Self)
            .ok_or_else(|| InvalidValue::new(Self::EXPECTED, format_args!("\"{text}\"")))
    }
}

impl TextValue for Date {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(ascii(&self.0.write()))
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

text_like! { Date: "date"; }
