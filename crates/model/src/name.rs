//! Names chosen by users and programs. They are stored as given; in keys they are folded, so that
//! spellings that look alike are equal, and `#` and `%` are escaped. A name is not empty, not too
//! long, and has no control characters.

mod caller;
mod fold;
mod rule;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use self::rule::NameRule;
use crate::attribute::{InvalidValue, TextValue, text_like};
use crate::part::KeyPart;
use crate::{DeviceId, UserId};

pub use self::caller::RequestCaller;
pub use self::fold::fold as fold_text;

/// Defines name types by their rules.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident: $rule:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(Cow<'static, str>);

        impl $name {
            const RULE: NameRule = $rule;

            /// The largest number of characters, as given and folded.
            pub const CHARS_MAX: usize = Self::RULE.chars_max;

            /// Returns the text as given, without surrounding spaces.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns the folded text, for comparison.
            pub fn fold(&self) -> Cow<'_, str> {
                Self::RULE.fold(&self.0)
            }

            /// Returns whether both names are equal when folded.
            pub fn same_as(&self, other: &Self) -> bool {
                self.fold() == other.fold()
            }
        }

        impl FromStr for $name {
            type Err = InvalidValue;

            fn from_str(text: &str) -> Result<Self, InvalidValue> {
                Self::RULE.check(text).map(|text| Self(text.to_owned().into()))
            }
        }

        impl TextValue for $name {
            fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
                read(&self.0)
            }

            fn from_stored(text: &str) -> Result<Self, InvalidValue> {
                Self::RULE.check_stored(text).map(|text| Self(text.to_owned().into()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl KeyPart for $name {
            const BYTES_MAX: usize = Self::RULE.key_bytes_max();

            fn write_part(&self, key: &mut String) {
                fold::escape(&self.fold(), key);
            }
        }

        /// Orders like keys, and by the text as given if the keys are equal.
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                cmp_in_key(self, other).then_with(|| self.0.cmp(&other.0))
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        text_like! { $name: stringify!($name); }

        #[cfg(test)]
        impl crate::attribute::Sample for $name {
            fn sample(random: &mut rand::rngs::SmallRng) -> Self {
                tests::sample_name(&Self::RULE, random)
            }
        }
    )*};
}

names! {
    Email: NameRule::folding("an e-mail address of at most 254 bytes", 254).refusing(rule::not_an_email);
    Nickname: NameRule::folding("a nickname of 1 to 64 characters", 64);
    /// The name of a user in the fediverse.
    Handle: NameRule::folding("a handle of 1 to 64 characters", 64);
    /// A tag, without the `#` in front of it.
    Tag: NameRule::folding("a tag of 1 to 100 characters", 100).without(rule::is_before_a_tag);
    FeedName: NameRule::exact("the name of a feed, of 1 to 64 characters", 64);
    InviteCode: NameRule::exact("an invitation's code of 1 to 64 characters", 64);
    /// The key of a file: names of letters, digits and `_.-`, separated by `/`, without `..`.
    MediaKey: NameRule::token("a media key of at most 256 letters, digits and `_./-`", 256)
        .refusing(rule::not_a_path);
    /// The id that a client gives to a request.
    RequestId: NameRule::exact("a request's id of 1 to 128 characters", 128);
    /// The subject of sign-in attempts: the name of an account, a network address, both, or a device.
    LoginName: NameRule::folding("an e-mail or network address", 320);
    /// The name of an external issuer of identities, usually its URL: the `iss` of its tokens.
    IssuerName: NameRule::token("an issuer of at most 200 ASCII characters without `#` and `%`", 200)
        .refusing(rule::not_an_issuer);
    /// The id that an issuer gives a person: the `sub` of its tokens, which OpenID Connect limits to this.
    IssuerSubject: NameRule::ascii("an issuer's subject of at most 255 ASCII characters", 255)
        .refusing(rule::not_ascii);
    /// The name of a job queue.
    Queue: NameRule::token("the name of a queue", 64).refusing(rule::not_a_word);
    /// The name of a stream processor.
    ProcessorName: NameRule::token("the name of a processor", 64).refusing(rule::not_a_word);
    /// The name of a stream's shard, as the store gives it.
    StreamShard: NameRule::exact("the name of a stream's shard", 128);
    /// The purpose of a signing or cursor key.
    Purpose: NameRule::token("what a key is for", 64).refusing(rule::not_a_word);
}

impl FeedName {
    /// The feed of all users.
    pub const GLOBAL: Self = Self(Cow::Borrowed("GLOBAL"));

    pub fn is_global(&self) -> bool {
        *self == Self::GLOBAL
    }
}

/// Defines constant constructors of names that programs choose.
macro_rules! static_names {
    ($($name:ident),*) => {$(
        impl $name {
            /// Returns the name of a constant text.
            ///
            /// # Panics
            /// If the text is not 1 to 64 letters, digits, `_`, `.` and `-`; a constant does not compile.
            pub const fn from_static(text: &'static str) -> Self {
                assert!(rule::is_word(text, Self::CHARS_MAX), "not a name");
                Self(Cow::Borrowed(text))
            }
        }
    )*};
}

static_names!(Queue, ProcessorName, Purpose);

impl Queue {
    /// The prefix of queues of changes that a processor could not process; job queues never have
    /// it.
    pub const CHANGES_PREFIX: &'static str = "stream.";

    /// Returns the queue of changes that a processor could not process.
    pub fn for_changes(processor: &ProcessorName) -> Result<Self, InvalidValue> {
        format!("{}{processor}", Self::CHANGES_PREFIX).parse()
    }
}

/// Defines the subject of attempts to sign in with a name.
macro_rules! login_names {
    ($($name:ident),*) => {$(
        impl From<&$name> for LoginName {
            fn from(name: &$name) -> Self {
                Self(name.0.clone())
            }
        }
    )*};
}

login_names!(Email, Nickname, Handle);

impl From<IpAddr> for LoginName {
    fn from(address: IpAddr) -> Self {
        Self(address.to_canonical().to_string().into())
    }
}

impl From<&UserId> for LoginName {
    fn from(user: &UserId) -> Self {
        Self(user.to_string().into())
    }
}

impl From<(&UserId, &DeviceId)> for LoginName {
    fn from((user, device): (&UserId, &DeviceId)) -> Self {
        Self(format!("{user} {device}").into())
    }
}

impl From<(&Self, Option<IpAddr>)> for LoginName {
    /// The strangers of a network who try to sign in to an account; without an address they are in this process.
    fn from((account, address): (&Self, Option<IpAddr>)) -> Self {
        let network = address.map(|address| address.to_canonical().to_string());
        Self(format!("{account} {}", network.as_deref().unwrap_or("local")).into())
    }
}

/// The characters of the longest IPv6 address.
const ADDRESS_CHARS_MAX: usize = 39;
// The address is the longest name of an account.
const _: () =
    assert!(Nickname::CHARS_MAX <= Email::CHARS_MAX && Handle::CHARS_MAX <= Email::CHARS_MAX);
const _: () = assert!(Email::CHARS_MAX + 1 + ADDRESS_CHARS_MAX <= LoginName::CHARS_MAX);

/// Compares two parts as keys do.
fn cmp_in_key<T: KeyPart>(one: &T, other: &T) -> Ordering {
    let text = |part: &T| {
        let mut text = String::new();
        part.write_part(&mut text);
        text
    };
    text(one).cmp(&text(other))
}

#[cfg(test)]
mod tests;
