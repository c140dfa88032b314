use proptest::prelude::*;
use rand::Rng;
use rand::rngs::SmallRng;
use roundtable_table::ManualClock;

use super::*;
use crate::attribute::{Sample, round_trips, seeded};
use crate::part::key_text;

impl Sample for Time {
    fn sample(random: &mut SmallRng) -> Self {
        match random.random_range(0..6) {
            0 => Self::EPOCH,
            1 => Self::MAX,
            2 => Self(random.random_range(0..=Self::MAX.0)),
            // The last millisecond of a day, or the first of the next.
            3 => Day::sample(random).start().minus_ms(u64::from(random.random::<bool>())),
            _ => Self(1_738_000_000_000 + random.random_range(0..100_000)),
        }
    }
}

impl Sample for Day {
    fn sample(random: &mut SmallRng) -> Self {
        match random.random_range(0..6) {
            0 => Self::MIN,
            1 => Self::MAX,
            2 => Self::from_days(random.random_range(0..=DAYS_MAX)),
            _ => Self::from_days(20_000 + random.random_range(0..400)),
        }
    }
}

impl Sample for CompactDay {
    fn sample(random: &mut SmallRng) -> Self {
        Day::sample(random).into()
    }
}

impl Sample for Date {
    fn sample(random: &mut SmallRng) -> Self {
        let (year, month, day) = match random.random_range(0..4) {
            0 => (1, 1, 1),
            1 => (9999, 12, 31),
            2 => (2000, 2, 29),
            _ => (
                random.random_range(1..=9999),
                random.random_range(1..=12),
                random.random_range(1..=28),
            ),
        };
        Self::new(year, month, day).unwrap()
    }
}

fn time(text: &str) -> Time {
    text.parse().unwrap()
}

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn refused<T: FromStr<Err = InvalidValue> + fmt::Debug>(text: &str) -> String {
    text.parse::<T>().unwrap_err().found
}

#[test]
fn times_are_24_characters() {
    assert_eq!(Time::from_ms(1_737_991_800_000).to_string(), "2025-01-27T15:30:00.000Z");
    assert_eq!(Time::EPOCH.to_string(), "1970-01-01T00:00:00.000Z");
    assert_eq!(Time::MAX.to_string(), "9999-12-31T23:59:59.999Z");
    assert_eq!(Time::from_ms(u64::MAX), Time::MAX);
    assert_eq!(time("2024-02-29T23:59:59.007Z").ms(), 1_709_251_199_007);
    assert_eq!(format!("{:?}", Time::EPOCH), "1970-01-01T00:00:00.000Z");
    assert_eq!(Time::now(&ManualClock::at_ms(7)).ms(), 7);
}

#[test]
fn other_formats_of_times_are_refused_with_a_reason() {
    let quoted = |wrong: &str, text: &str| format!("{wrong} in \"{text}\"");
    for (text, wrong) in [
        ("2025-01-27T15:30:00.000+01:00", "an offset that is not `Z`"),
        ("2025-01-27T15:30:00.000+00:00", "an offset that is not `Z`"),
        ("2025-01-27T15:30:00Z", "no milliseconds"),
        ("2025-01-27T15:30:00.0000Z", "another spelling"),
        ("2025-01-27 15:30:00.000Z", "another spelling"),
        ("1969-12-31T23:59:59.999Z", "a year before 1970"),
    ] {
        assert_eq!(refused::<Time>(text), quoted(wrong, text));
    }
    for text in [
        "",
        "now",
        "2025-01-27",
        "2025-02-29T00:00:00.000Z",
        "2025-01-27T24:00:00.000Z",
        "2025-01-27T15:60:00.000Z",
        "2025-13-01T00:00:00.000Z",
        "２025-01-27T15:30:00.000Z",
        "10000-01-01T00:00:00.000Z",
        "2025-01-27T15:30:00.000",
        "2025-01-27T1a:30:00.000Z",
    ] {
        assert_eq!(refused::<Time>(text), format!("\"{text}\""));
    }
    // Other parsers map a leap second to the second before it; here that would be a second
    // spelling.
    assert!("2016-12-31T23:59:60.000Z".parse::<Time>().is_err());
}

#[test]
fn clients_may_use_any_rfc_3339_time() {
    let read = |text: &str| Time::parse_lenient(text).map(|time| time.to_string());
    let same = Ok("2025-01-27T15:30:00.000Z".to_owned());
    for text in [
        "2025-01-27T15:30:00.000Z",
        "2025-01-27T15:30:00Z",
        "2025-01-27T16:30:00+01:00",
        "2025-01-27T10:00:00-05:30",
        "2025-01-27t15:30:00.000999z",
        " 2025-01-27 15:30:00Z ",
    ] {
        assert_eq!(read(text), same, "{text}");
    }
    for text in ["", "2025-01-27", "2025-01-27T15:30:00", "1737991800000", "2025-02-30T00:00:00Z"] {
        assert!(read(text).is_err(), "{text}");
    }
    assert!(read("1969-12-31T23:59:59.9999Z").unwrap_err().found.contains("before 1970"));
    assert_eq!(read("1970-01-01T00:30:00+00:30"), Ok(Time::EPOCH.to_string()));
    assert!(read("9999-12-31T23:59:59-23:59").is_err());
}

#[test]
fn days_begin_at_midnight() {
    let evening = time("2025-01-27T23:59:59.999Z");
    assert_eq!(evening.day(), day("2025-01-27"));
    assert_eq!(evening.plus_ms(1).day(), day("2025-01-28"));
    assert_eq!(evening.day().start(), time("2025-01-27T00:00:00.000Z"));
    assert_eq!(key_text(&evening.compact_day()), "20250127");
    assert_eq!(evening.compact_day().day(), evening.day());
    assert_eq!("20250127".parse(), Ok(evening.compact_day()));
    assert_eq!(Time::MAX.day(), Day::MAX);
    assert_eq!(Time::EPOCH.minus_ms(1), Time::EPOCH);
    assert_eq!(Time::MAX.plus_ms(u64::MAX), Time::MAX);
}

#[test]
fn days_have_neighbors_up_to_the_limits() {
    assert_eq!(day("2024-02-28").next(), Some(day("2024-02-29")));
    assert_eq!(day("2025-01-01").previous(), Some(day("2024-12-31")));
    assert_eq!((Day::MAX.next(), Day::MIN.previous()), (None, None));
    assert_eq!(
        (Day::MIN.to_string(), Day::MAX.to_string()),
        ("1970-01-01".into(), "9999-12-31".into())
    );
    assert_eq!(refused::<Day>("1969-12-31"), "\"1969-12-31\"");
    assert_eq!(refused::<Day>("2025-02-29"), "\"2025-02-29\"");
    assert_eq!(refused::<CompactDay>("2025-01-27"), "\"2025-01-27\"");
}

#[test]
fn days_are_read_from_the_newest() {
    let days = Days { newest: day("2025-01-02"), oldest: day("2024-12-31") };
    let texts =
        |days: &mut dyn Iterator<Item = Day>| days.map(|day| day.to_string()).collect::<Vec<_>>();
    assert_eq!(texts(&mut days.iter()), ["2025-01-02", "2025-01-01", "2024-12-31"]);
    assert_eq!(texts(&mut days.iter().rev()), ["2024-12-31", "2025-01-01", "2025-01-02"]);
    assert_eq!(days, Days::up_to(day("2025-01-02"), 3));
    assert!(days.contains(day("2025-01-01")) && !days.contains(day("2025-01-03")));
    assert_eq!(Days::only(Day::MAX).into_iter().collect::<Vec<_>>(), [Day::MAX]);
    assert_eq!(Days { newest: days.oldest, oldest: days.newest }.iter().count(), 0);
    assert_eq!(Days::up_to(Day::MAX, 0).iter().count(), 0);
    assert_eq!(Days::up_to(Day::MIN, 9).iter().count(), 1);
}

#[test]
fn dates_reach_back_to_the_year_1() {
    let date: Date = "0001-01-01".parse().unwrap();
    assert_eq!((date.year(), date.month(), date.day()), (1, 1, 1));
    assert!(date < "1990-05-17".parse().unwrap());
    assert_eq!(refused::<Date>("0000-01-01"), "\"0000-01-01\"");
    assert_eq!(refused::<Date>("17.5.1990"), "\"17.5.1990\"");
    let refused = Date::new(2025, 2, 30).unwrap_err();
    let message = "expected a date such as 1990-05-17, found day 30 of month 2 of year 2025";
    assert_eq!(refused.to_string(), message);
}

#[test]
fn times_serialize_as_text() {
    let text = serde_json::to_string(&(Time::EPOCH, Day::MAX, CompactDay::from(Day::MAX))).unwrap();
    assert_eq!(text, r#"["1970-01-01T00:00:00.000Z","9999-12-31","99991231"]"#);
    let read: (Time, Day, CompactDay) = serde_json::from_str(&text).unwrap();
    assert_eq!(read, (Time::EPOCH, Day::MAX, Day::MAX.into()));
    assert!(serde_json::from_str::<Date>("\"tomorrow\"").is_err());
    assert!(serde_json::from_str::<Time>("5").is_err());
}

proptest! {
    #[test]
    fn times_are_formatted_like_jiff(ms in 0..=Time::MAX.0) {
        let time = Time::from_ms(ms);
        let same = jiff::Timestamp::from_millisecond(i64::try_from(ms).unwrap());
        if let Ok(same) = same {
            prop_assert_eq!(time.to_string(), format!("{same:.3}"));
            prop_assert_eq!(Time::parse_lenient(&same.to_string()), Ok(time));
        }
    }

    #[test]
    fn text_order_is_time_order(one: u64, other: u64) {
        let random = &mut seeded(one ^ other.rotate_left(7));
        let (one, other) = (Time::sample(random), Time::sample(random));
        prop_assert_eq!(key_text(&one).cmp(&key_text(&other)), one.cmp(&other));
        let (one, other) = (one.day(), other.day());
        prop_assert_eq!(key_text(&one).cmp(&key_text(&other)), one.cmp(&other));
        let (one, other) = (CompactDay::from(one), CompactDay::from(other));
        prop_assert_eq!(key_text(&one).cmp(&key_text(&other)), one.cmp(&other));
    }

    #[test]
    fn stored_values_read_back(seed: u64) {
        let random = &mut seeded(seed);
        let time = round_trips::<Time>(random)?;
        prop_assert_eq!(key_text(&time).len(), Time::BYTES_MAX);
        let day = round_trips::<Day>(random)?;
        prop_assert_eq!(key_text(&day).len(), Day::BYTES_MAX);
        round_trips::<CompactDay>(random)?;
        round_trips::<Date>(random)?;
    }

    #[test]
    fn parsing_never_panics(text in "\\PC*", near in "[0-9TZ:.+-]{20,28}") {
        for text in [text, near] {
            if let Ok(time) = text.parse::<Time>() {
                prop_assert_eq!(time.to_string(), text.as_str());
            }
            let _ = (Time::parse_lenient(&text), text.parse::<Day>(), text.parse::<Date>());
        }
    }
}
