//! Conversion between Gregorian dates and day numbers, without time zones.

use crate::part::digits;

/// 9999-12-31, counted from 1970-01-01.
pub(super) const DAYS_MAX: u32 = 2_932_896;

/// A valid date of the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CivilDate {
    year: u16,
    month: u8,
    day: u8,
}

/// The length of a cycle of 400 years, which starts on 0000-03-01.
const CYCLE_DAYS: u32 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: u32 = 719_468;

impl CivilDate {
    /// Returns the date, if the calendar has it.
    pub(super) fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return None,
        };
        ((1..=9999).contains(&year) && (1..=days).contains(&day)).then_some(Self {
            year,
            month,
            day,
        })
    }

    pub(super) const fn parts(self) -> (u16, u8, u8) {
        (self.year, self.month, self.day)
    }

    /// Returns the date `days` days after 1970-01-01, limited to [`DAYS_MAX`].
    ///
    /// Years start in March here, so that a leap day is the last day of its year (Howard Hinnant's
    /// `civil_from_days`).
    pub(super) fn from_days(days: u32) -> Self {
        let days = days.min(DAYS_MAX) + EPOCH;
        let (cycle, day) = (days / CYCLE_DAYS, days % CYCLE_DAYS);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153; // 0 is March
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = year + cycle * 400 + next_year;
        Self { year: small(year), month: small(month), day: small(day) }
    }

    /// Returns the days since 1970-01-01; `None` before that.
    pub(super) fn to_days(self) -> Option<u32> {
        let (year, month, day) = (u32::from(self.year), u32::from(self.month), u32::from(self.day));
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let (cycle, year) = (year / 400, year % 400);
        let day_of_year = (153 * month + 2) / 5 + day - 1;
        let day = 365 * year + year / 4 - year / 100 + day_of_year;
        (cycle * CYCLE_DAYS + day).checked_sub(EPOCH)
    }

    /// Formats the date as `2025-01-27`.
    pub(super) fn write(self) -> [u8; 10] {
        let [y1, y2, y3, y4] = digits(self.year.into());
        let [m1, m2] = digits(self.month.into());
        let [d1, d2] = digits(self.day.into());
        [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2]
    }

    /// Parses exactly the format of [`CivilDate::write`].
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
            return None;
        };
        let (month, day) = (number([m1, m2])?, number([d1, d2])?);
        Self::new(number([y1, y2, y3, y4])?, small(month), small(day))
    }
}

/// Parses a number of up to four digits.
pub(super) fn number<const N: usize>(digits: [u8; N]) -> Option<u16> {
    const { assert!(N <= 4, "four digits fit into 16 bits") };
    let value = |digit: &u8| u16::from(digit.wrapping_sub(b'0'));
    let number = digits
        .iter()
        .fold(0, |number: u16, digit| number.wrapping_mul(10).wrapping_add(value(digit)));
    digits.iter().all(u8::is_ascii_digit).then_some(number)
}

/// Converts a number that is known to fit.
fn small<S: TryFrom<B> + Default, B>(number: B) -> S {
    S::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;

    #[test]
    fn every_day_agrees_with_jiff() {
        let mut date = jiff::civil::date(1970, 1, 1);
        for days in 0..=DAYS_MAX {
            let ymd = CivilDate::from_days(days);
            let (year, month, day) = ymd.parts();
            let same = (i32::from(date.year()), i32::from(date.month()), i32::from(date.day()));
            assert_eq!((i32::from(year), i32::from(month), i32::from(day)), same);
            assert_eq!(ymd.to_days(), Some(days));
            assert_eq!(CivilDate::parse(&ymd.write()), Some(ymd));
            date = date.checked_add(1.day()).unwrap_or(date);
        }
        assert_eq!(date, jiff::civil::Date::MAX);
    }

    #[test]
    fn invalid_dates_are_refused() {
        for (year, month, day) in [
            (2025, 2, 29),
            (1900, 2, 29),
            (2025, 4, 31),
            (2025, 13, 1),
            (2025, 0, 1),
            (2025, 1, 0),
            (0, 1, 1),
            (10_000, 1, 1),
        ] {
            assert_eq!(CivilDate::new(year, month, day), None, "{year}-{month}-{day}");
        }
        assert!(CivilDate::new(2000, 2, 29).is_some() && CivilDate::new(2024, 2, 29).is_some());
        assert_eq!(CivilDate::new(1969, 12, 31).unwrap().to_days(), None);
        assert_eq!(CivilDate::new(1, 1, 1).unwrap().to_days(), None);
    }

    #[test]
    fn other_formats_are_refused() {
        for wrong in
            ["2025-1-27", "2025-01-7 ", "+025-01-27", "2025/01/27", "20250127", "2025-01-270", ""]
        {
            assert_eq!(CivilDate::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
