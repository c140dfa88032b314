//! The scalars of the schema: how Rust values are written and read as AppSync's scalars, ids and texts.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use roundtable_domain::ResumePoint;
use roundtable_execution::{Input, InputError, JsonValue, Leaf, Writer};
use roundtable_interface::SealedCursor;
use roundtable_model as model;
use roundtable_model::{Day, InvalidValue, Time};

use crate::schema_types as gql;

/// An address that programs can fetch.
#[derive(Clone, Debug)]
pub(crate) struct Url(pub(crate) Arc<str>);

/// Any value, which clients see as a JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Json(pub(crate) serde_json::Value);

/// Seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timestamp(pub(crate) u64);

/// Values that are written and read as texts, validated as they are read.
macro_rules! texts {
    ($($marker:ident: $($ty:ident)*;)*) => {$($(
        impl Leaf<gql::$marker> for model::$ty {
            fn write(&self, out: &mut Writer) {
                out.display(self);
            }
        }

        impl Input<gql::$marker> for model::$ty {
            fn read(value: &JsonValue) -> Result<Self, InputError> {
                parse(value, str::parse)
            }
        }
    )*)*};
}

texts! {
    String: Handle InviteCode MediaKey Nickname Tag;
    AWSDate: Date;
    AWSEmail: Email;
}

impl Leaf<gql::String> for SealedCursor {
    fn write(&self, out: &mut Writer) {
        out.display(self);
    }
}

/// Ids, which may also be given as numbers.
macro_rules! ids {
    ($($ty:ident)*) => {$(
        impl Leaf<gql::ID> for model::$ty {
            fn write(&self, out: &mut Writer) {
                out.display(self);
            }
        }

        impl Input<gql::ID> for model::$ty {
            fn read(value: &JsonValue) -> Result<Self, InputError> {
                id_text(value)?.parse().map_err(invalid)
            }
        }
    )*};
}

ids! {
    ActivityId ActorId ApiKeyId AuditId CaseId CommentId CompanyId FeedName GoalId GroupId JobId MessageId
    MilestoneId
    NotificationId OfferId PostId QuestId RequestId RoomId SubjectId TaskId ThreadId UserId WebhookId
}

impl<K: Display> Leaf<gql::ID> for ResumePoint<K> {
    fn write(&self, out: &mut Writer) {
        out.display(self);
    }
}

impl<K: FromStr<Err = InvalidValue>> Input<gql::ID> for ResumePoint<K> {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        id_text(value)?.parse().map_err(invalid)
    }
}

/// Values that a method of the writer writes.
macro_rules! written {
    ($($marker:ident: $($ty:ty),* => $method:ident;)*) => {$($(
        impl Leaf<gql::$marker> for $ty {
            fn write(&self, out: &mut Writer) {
                out.$method(self);
            }
        }
    )*)*};
}

written! {
    Boolean: bool => value;
    Float: f64 => value;
    Int: u32, u64, usize => value;
    ID: str, String => text;
    String: str, String => text;
    AWSURL: str, String => text;
}

impl Leaf<gql::AWSURL> for Url {
    fn write(&self, out: &mut Writer) {
        out.text(&self.0);
    }
}

impl Leaf<gql::AWSDateTime> for Time {
    fn write(&self, out: &mut Writer) {
        out.display(self);
    }
}

impl Leaf<gql::AWSTimestamp> for Timestamp {
    fn write(&self, out: &mut Writer) {
        out.value(&self.0);
    }
}

impl Leaf<gql::AWSJSON> for Json {
    fn write(&self, out: &mut Writer) {
        out.text(&self.0.to_string());
    }
}

impl Input<gql::Boolean> for bool {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        value.as_bool().ok_or_else(|| InputError::new("expected true or false"))
    }
}

impl Input<gql::Float> for f64 {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        value.as_f64().ok_or_else(|| InputError::new("expected a number"))
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Input<gql::Int> for $ty {
            fn read(value: &JsonValue) -> Result<Self, InputError> {
                let number = value.as_i64().and_then(|number| Self::try_from(number).ok());
                let expected = || format!("expected a whole number from {} on", Self::MIN);
                number.ok_or_else(|| InputError::new(expected()))
            }
        }
    )*};
}

integers!(i32, u32, u64);

impl Input<gql::String> for String {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        parse(value, |text| Ok(text.to_owned()))
    }
}

impl Input<gql::ID> for String {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        id_text(value).map(Cow::into_owned)
    }
}

impl Input<gql::AWSURL> for Url {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        parse(value, |text| Ok(Self(text.into())))
    }
}

impl Input<gql::AWSDateTime> for Time {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        parse(value, Self::parse_lenient)
    }
}

impl Input<gql::AWSDate> for Day {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        parse(value, str::parse)
    }
}

impl Input<gql::AWSJSON> for Json {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        let read = |text: &str| serde_json::from_str(text).map_err(|error| invalid_json(&error));
        parse(value, read).map(Self)
    }
}

fn id_text(value: &JsonValue) -> Result<Cow<'_, str>, InputError> {
    match value {
        JsonValue::String(text) => Ok(text.as_str().into()),
        JsonValue::Number(number) => Ok(number.to_string().into()),
        _ => Err(InputError::new("expected an id")),
    }
}

fn parse<T>(
    value: &JsonValue,
    parse: impl FnOnce(&str) -> Result<T, InvalidValue>,
) -> Result<T, InputError> {
    let text = value.as_str().ok_or_else(|| InputError::new("expected a text"))?;
    parse(text).map_err(invalid)
}

fn invalid(error: impl Display) -> InputError {
    InputError::new(error.to_string())
}

/// Describes invalid JSON by its position. serde_json's own message is not stable enough for clients.
fn invalid_json(error: &serde_json::Error) -> InvalidValue {
    let problem = if error.is_eof() { "an unexpected end" } else { "a syntax error" };
    let (line, column) = (error.line(), error.column());
    InvalidValue::new("a JSON text", format_args!("{problem} at line {line}, column {column}"))
}
