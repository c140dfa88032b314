//! Attributes with a meaning of their own: JSON, shares, the time an item expires, and what must not
//! be seen.

use std::fmt;
use std::str::FromStr;

use roundtable_table::{Number, Slot, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::attribute::{Attribute, Misfit, Text, text_like};
use crate::time::Time;

/// Any JSON, kept as the text it came in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Json(String);

impl Json {
    /// The longest text: what is larger is a file, and belongs where files are.
    pub const BYTES_MAX: usize = 64 * 1024;

    const EXPECTED: &'static str = "JSON of at most 65536 bytes";

    /// The JSON of a value.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, Misfit> {
        let text = serde_json::to_string(value);
        text.map_err(|error| Misfit::new(Self::EXPECTED, error)).and_then(Self::checked)
    }

    /// The value it is the JSON of. What comes from the table is looked at here only.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, Misfit> {
        serde_json::from_str(&self.0).map_err(|error| Misfit::new("JSON of another shape", error))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn checked(text: String) -> Result<Self, Misfit> {
        let json = Self::short(text)?;
        // Parsed in full: a quicker look would let pass what readers then refuse, such as 200 nested
        // lists.
        match serde_json::from_str::<serde_json::Value>(&json.0) {
            Ok(_) => Ok(json),
            Err(error) => Err(Misfit::new(Self::EXPECTED, error)),
        }
    }

    fn short(text: impl Into<String> + AsRef<str>) -> Result<Self, Misfit> {
        match text.as_ref().len() {
            0..=Self::BYTES_MAX => Ok(Self(text.into())),
            bytes => Err(Misfit::new(Self::EXPECTED, format_args!("{bytes} bytes"))),
        }
    }
}

impl Text for Json {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(&self.0)
    }

    /// Parsing it costs many times what all the rest of its item does, and most readers pass it on.
    fn from_stored(text: &str) -> Result<Self, Misfit> {
        Self::short(text)
    }
}

impl FromStr for Json {
    type Err = Misfit;

    fn from_str(text: &str) -> Result<Self, Misfit> {
        Self::checked(text.to_owned())
    }
}

text_like! { Json: "JSON"; }

const _: () = assert!(Json::BYTES_MAX == 65_536, "as the error says");

/// When an item expires, in the seconds since the epoch that a table's `ttl` is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expiry(u64);

impl Expiry {
    /// At a time, or up to a second later: nothing expires early.
    pub const fn at(time: Time) -> Self {
        Self(time.ms().div_ceil(1000))
    }

    /// At so many seconds since the epoch.
    pub const fn at_seconds(seconds: u64) -> Self {
        Self(seconds)
    }

    /// Seconds since the epoch.
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// The time it stands for.
    pub const fn time(self) -> Time {
        Time::from_ms(self.0.saturating_mul(1000))
    }
}

impl Attribute for Expiry {
    const KIND: &'static str = "seconds since 1970";

    fn fill(&self, slot: Slot<'_>) {
        self.0.fill(slot);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, Misfit> {
        u64::from_value(value).map(Self)
    }
}

/// A share, from 0 to 100: exactly the number that was given, which no other number could be. A table
/// holds neither infinities nor NaN, so plain floating-point numbers are no attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentage(Number);

impl Percentage {
    const EXPECTED: &'static str = "a number from 0 to 100";

    /// This share.
    pub fn new(percentage: f64) -> Result<Self, Misfit> {
        // The shortest text that reads back as the same number has at most 17 of 38 digits.
        let number = format!("{percentage:e}").parse();
        let number = number.map_err(|_| Misfit::new(Self::EXPECTED, percentage))?;
        Self::of(number).ok_or_else(|| Misfit::new(Self::EXPECTED, percentage))
    }

    /// So many hundredths, all of them at most.
    pub fn whole(hundredths: u8) -> Self {
        Self(u32::from(hundredths.min(100)).into())
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0.to_string().parse().unwrap_or_default()
    }

    fn of(number: Number) -> Option<Self> {
        (Number::ZERO..=Number::from(100)).contains(&number).then_some(Self(number))
    }
}

impl Attribute for Percentage {
    const KIND: &'static str = "number";

    fn fill(&self, slot: Slot<'_>) {
        slot.number(self.0);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, Misfit> {
        let read = match value {
            Some(ValueRef::N(number)) => Self::of(number),
            _ => None,
        };
        read.ok_or_else(|| Misfit::of_value(Self::EXPECTED, value))
    }
}

/// A text that only the store and its reader see: a hash, a sealed key. It shows nowhere else, and
/// serde does not take it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl Attribute for Secret {
    const KIND: &'static str = "secret text";

    fn fill(&self, slot: Slot<'_>) {
        self.0.fill(slot);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, Misfit> {
        match value {
            Some(ValueRef::S(text)) => Ok(Self::new(text)),
            other => Err(Misfit::of_kind(Self::KIND, other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roundtable_table::item;

    use super::*;
    use crate::attribute::sample::round_trips;
    use crate::attribute::seeded;

    #[test]
    fn json_is_checked_and_kept_as_it_came() {
        let json: Json = " {\"a\" : [1, 2.50]}".parse().unwrap();
        assert_eq!(json.as_str(), " {\"a\" : [1, 2.50]}");
        assert_eq!(json.to::<serde_json::Value>().unwrap(), serde_json::json!({"a": [1, 2.5]}));
        assert!(json.to::<u64>().is_err());
        assert_eq!(Json::of(&[1, 2]).unwrap().as_str(), "[1,2]");
        for wrong in ["", "{", "{'a': 1}", "1 2", "nul", "\"\\ud800\"", "1e999"] {
            assert!(wrong.parse::<Json>().is_err(), "{wrong}");
        }
        assert!("[".repeat(200).parse::<Json>().is_err());
        assert!(format!("{}{}", "[".repeat(200), "]".repeat(200)).parse::<Json>().is_err());
    }

    #[test]
    fn json_has_a_limit() {
        let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
        assert!(text(Json::BYTES_MAX).parse::<Json>().is_ok());
        let refused = text(Json::BYTES_MAX + 1).parse::<Json>().unwrap_err();
        assert_eq!(refused.to_string(), "expected JSON of at most 65536 bytes, found 65537 bytes");
        assert!(Json::of(&"x".repeat(Json::BYTES_MAX)).is_err());
    }

    #[test]
    fn json_is_a_text_inside_other_json() {
        let json = Json::of(&[1]).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), "\"[1]\"");
        assert_eq!(serde_json::from_str::<Json>("\"[1]\"").unwrap(), json);
        assert!(serde_json::from_str::<Json>("\"[1\"").is_err());
    }

    #[test]
    fn stored_json_is_looked_at_when_it_is_used() {
        let stored = |text: &str| Json::from_value(item! { "x" => text }.get("x"));
        let broken = stored("{\"a\":").unwrap();
        assert_eq!(broken.as_str(), "{\"a\":");
        let refused = broken.to::<serde_json::Value>().unwrap_err();
        assert!(refused.to_string().contains("EOF while parsing"), "{refused}");
        assert!(stored(&"1".repeat(Json::BYTES_MAX)).is_ok());
        assert!(stored(&"1".repeat(Json::BYTES_MAX + 1)).is_err());
        assert!(Json::from_value(None).is_err());
    }

    #[test]
    fn shares_are_from_0_to_100_and_exact() {
        for share in [0.0, -0.0, 1e-130, 0.1, 33.333_333_333_333_336, 99.999_999_999_999_99, 100.0]
        {
            let percentage = Percentage::new(share).unwrap();
            assert!((percentage.value() - share).abs() <= 0.0, "{share}");
        }
        assert_eq!(Percentage::whole(50), Percentage::new(50.0).unwrap());
        assert_eq!(Percentage::whole(101), Percentage::whole(100));
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e-9, 100.000_001, 1e-131] {
            assert!(Percentage::new(wrong).is_err(), "{wrong}");
        }
        let refused = Percentage::new(f64::NAN).unwrap_err();
        assert_eq!(refused.to_string(), "expected a number from 0 to 100, found NaN");
        let refused = Percentage::from_value(item! { "x" => 101 }.get("x")).unwrap_err();
        assert_eq!(refused.to_string(), "expected a number from 0 to 100, found 101");
    }

    #[test]
    fn nothing_expires_early() {
        assert_eq!(Expiry::at(Time::from_ms(5_000)).seconds(), 5);
        assert_eq!(Expiry::at(Time::from_ms(5_001)).seconds(), 6);
        assert_eq!(Expiry::at(Time::from_ms(5_001)).time(), Time::from_ms(6_000));
        assert_eq!(Expiry::at_seconds(u64::MAX).time(), Time::MAX);
        assert_eq!(Expiry::at_seconds(7).to_value(), Some(7_u64.into()));
    }

    #[test]
    fn secrets_do_not_show() {
        let secret = Secret::new("$argon2id$…hash");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "… Some(…)");
        assert_eq!(secret.expose(), "$argon2id$…hash");
        let refused = Secret::from_value(item! { "x" => 31_337 }.get("x")).unwrap_err();
        assert_eq!(refused.to_string(), "expected secret text, found a value of type N");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(seed: u64) {
            let random = &mut seeded(seed);
            round_trips::<Json>(random)?;
            round_trips::<Percentage>(random)?;
            round_trips::<Expiry>(random)?;
            round_trips::<Secret>(random)?;
        }
    }
}
