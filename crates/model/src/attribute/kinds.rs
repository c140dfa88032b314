//! Attributes with special rules: JSON, percentages, expiry times and secrets.

use std::fmt;
use std::str::FromStr;

use roundtable_table::{Number, ValueRef, ValueSlot};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::attribute::{Attribute, InvalidValue, TextValue, text_like};
use crate::time::Time;

/// JSON, stored as the text it was received in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Json(String);

impl Json {
    /// The longest text: larger data belongs into the media store.
    pub const BYTES_MAX: usize = 64 * 1024;

    const EXPECTED: &'static str = "JSON of at most 65536 bytes";

    /// Encodes a value as JSON.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, InvalidValue> {
        let text = serde_json::to_string(value);
        text.map_err(|error| InvalidValue::new(Self::EXPECTED, error)).and_then(Self::checked)
    }

    /// Decodes the value. JSON that comes from the table is not parsed before this.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, InvalidValue> {
        serde_json::from_str(&self.0)
            .map_err(|error| InvalidValue::new("JSON of another shape", error))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn checked(text: String) -> Result<Self, InvalidValue> {
        let json = Self::short(text)?;
        // Parsed in full: a quicker check would accept what readers then refuse, such as 200 nested
        // lists.
        match serde_json::from_str::<serde_json::Value>(&json.0) {
            Ok(_) => Ok(json),
            Err(error) => Err(InvalidValue::new(Self::EXPECTED, error)),
        }
    }

    fn short(text: impl Into<String> + AsRef<str>) -> Result<Self, InvalidValue> {
        match text.as_ref().len() {
            0..=Self::BYTES_MAX => Ok(Self(text.into())),
            bytes => Err(InvalidValue::new(Self::EXPECTED, format_args!("{bytes} bytes"))),
        }
    }
}

impl TextValue for Json {
    fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        read(&self.0)
    }

    /// Does not parse: that would cost more than the rest of the item, and most readers only pass
    /// it on.
    fn from_stored(text: &str) -> Result<Self, InvalidValue> {
        Self::short(text)
    }
}

impl FromStr for Json {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Self::checked(text.to_owned())
    }
}

text_like! { Json: "JSON"; }

const _: () = assert!(Json::BYTES_MAX == 65_536, "EXPECTED names the limit");

/// The time an item expires, in seconds since the epoch, as a table's `ttl` requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expiry(u64);

impl Expiry {
    /// Expires at a time, or up to a second later, but never earlier.
    pub const fn at(time: Time) -> Self {
        Self(time.ms().div_ceil(1000))
    }

    pub const fn at_seconds(seconds: u64) -> Self {
        Self(seconds)
    }

    pub const fn seconds(self) -> u64 {
        self.0
    }

    pub const fn time(self) -> Time {
        Time::from_ms(self.0.saturating_mul(1000))
    }
}

impl Attribute for Expiry {
    const KIND: &'static str = "seconds since 1970";

    fn fill(&self, slot: ValueSlot<'_>) {
        self.0.fill(slot);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        u64::from_value(value).map(Self)
    }
}

/// A percentage from 0 to 100, stored exactly. A table holds neither infinities nor NaN, so plain
/// floating-point numbers are no attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentage(Number);

impl Percentage {
    const EXPECTED: &'static str = "a number from 0 to 100";

    pub fn new(percentage: f64) -> Result<Self, InvalidValue> {
        // The shortest text that reads back as the same number has at most 17 of 38 digits.
        let number = format!("{percentage:e}").parse();
        let number = number.map_err(|_| InvalidValue::new(Self::EXPECTED, percentage))?;
        Self::of(number).ok_or_else(|| InvalidValue::new(Self::EXPECTED, percentage))
    }

    /// Returns a whole percentage, 100 at most.
    pub fn whole(hundredths: u8) -> Self {
        Self(u32::from(hundredths.min(100)).into())
    }

    pub fn value(self) -> f64 {
        self.0.to_string().parse().unwrap_or_default()
    }

    fn of(number: Number) -> Option<Self> {
        (Number::ZERO..=Number::from(100)).contains(&number).then_some(Self(number))
    }
}

impl Attribute for Percentage {
    const KIND: &'static str = "number";

    fn fill(&self, slot: ValueSlot<'_>) {
        slot.number(self.0);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        let read = match value {
            Some(ValueRef::N(number)) => Self::of(number),
            _ => None,
        };
        read.ok_or_else(|| InvalidValue::of_value(Self::EXPECTED, value))
    }
}

/// A secret text such as a hash or a sealed key. `Debug` does not print it, and serde does not
/// serialize it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

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

    fn fill(&self, slot: ValueSlot<'_>) {
        self.0.fill(slot);
    }

    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self, InvalidValue> {
        match value {
            Some(ValueRef::S(text)) => Ok(Self::new(text)),
            other => Err(InvalidValue::of_kind(Self::KIND, other)),
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
    fn json_is_checked_and_stored_unchanged() {
        let json: Json = " {\"a\" : [1, 2.50]}".parse().unwrap();
        assert_eq!(json.as_str(), " {\"a\" : [1, 2.50]}");
        assert_eq!(json.decode::<serde_json::Value>().unwrap(), serde_json::json!({"a": [1, 2.5]}));
        assert!(json.decode::<u64>().is_err());
        assert_eq!(Json::encode(&[1, 2]).unwrap().as_str(), "[1,2]");
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
        assert!(Json::encode(&"x".repeat(Json::BYTES_MAX)).is_err());
    }

    #[test]
    fn json_is_a_string_inside_other_json() {
        let json = Json::encode(&[1]).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), "\"[1]\"");
        assert_eq!(serde_json::from_str::<Json>("\"[1]\"").unwrap(), json);
        assert!(serde_json::from_str::<Json>("\"[1\"").is_err());
    }

    #[test]
    fn stored_json_is_parsed_when_it_is_decoded() {
        let stored = |text: &str| Json::from_value(item! { "x" => text }.get("x"));
        let broken = stored("{\"a\":").unwrap();
        assert_eq!(broken.as_str(), "{\"a\":");
        let refused = broken.decode::<serde_json::Value>().unwrap_err();
        assert!(refused.to_string().contains("EOF while parsing"), "{refused}");
        assert!(stored(&"1".repeat(Json::BYTES_MAX)).is_ok());
        assert!(stored(&"1".repeat(Json::BYTES_MAX + 1)).is_err());
        assert!(Json::from_value(None).is_err());
    }

    #[test]
    fn percentages_are_from_0_to_100_and_exact() {
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
    fn debug_hides_secrets() {
        let secret = Secret::new("$argon2id$…hash");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "… Some(…)");
        assert_eq!(secret.expose(), "$argon2id$…hash");
        let refused = Secret::from_value(item! { "x" => 31_337 }.get("x")).unwrap_err();
        assert_eq!(refused.to_string(), "expected secret text, found a value of type N");
    }

    proptest! {
        #[test]
        fn stored_values_read_back(seed: u64) {
            let random = &mut seeded(seed);
            round_trips::<Json>(random)?;
            round_trips::<Percentage>(random)?;
            round_trips::<Expiry>(random)?;
            round_trips::<Secret>(random)?;
        }
    }
}
