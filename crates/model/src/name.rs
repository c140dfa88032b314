//! Text that people, and programs for them, choose. It is kept as it was given; in keys it is folded
//! where people would not tell two spellings apart, and `#` and `%` are escaped. Nothing empty, too
//! long, or with control characters is a name.

mod caller;
mod fold;
mod rule;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use self::rule::Rule;
use crate::attribute::{Misfit, Text, text_like};
use crate::part::KeyPart;

pub use self::caller::Caller;

/// Names, by the rule that they follow.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident: $rule:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(Cow<'static, str>);

        impl $name {
            const RULE: Rule = $rule;

            /// The most characters it can have, as given and folded.
            pub const CHARS_MAX: usize = Self::RULE.chars_max;

            /// The text as it was given, without the spaces around it.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text to compare with others.
            pub fn fold(&self) -> Cow<'_, str> {
                Self::RULE.fold(&self.0)
            }

            /// Whether people would take both for the same.
            pub fn same_as(&self, other: &Self) -> bool {
                self.fold() == other.fold()
            }
        }

        impl FromStr for $name {
            type Err = Misfit;

            fn from_str(text: &str) -> Result<Self, Misfit> {
                Self::RULE.check(text).map(|text| Self(text.to_owned().into()))
            }
        }

        impl Text for $name {
            fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
                read(&self.0)
            }

            fn from_stored(text: &str) -> Result<Self, Misfit> {
                Self::RULE.check_stored(text).map(|text| Self(text.to_owned().into()))
            }
        }

        /// The text, quoted.
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

        /// As keys are ordered, and by the text as given where that is the same.
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                by_key(self, other).then_with(|| self.0.cmp(&other.0))
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
    /// An e-mail address.
    Email: Rule::folding("an e-mail address of at most 254 bytes", 254).refusing(rule::not_an_email);
    /// What somebody is called.
    Nickname: Rule::folding("a nickname of 1 to 64 characters", 64);
    /// What somebody is called in the fediverse.
    Handle: Rule::folding("a handle of 1 to 64 characters", 64);
    /// What things are found by. The `#` in front of it is not a part of it.
    Tag: Rule::folding("a tag of 1 to 100 characters", 100).without(rule::is_before_a_tag);
    /// A feed that posts go to.
    FeedName: Rule::exact("the name of a feed, of 1 to 64 characters", 64);
    /// What an invitation is redeemed with.
    InviteCode: Rule::exact("an invitation's code of 1 to 64 characters", 64);
    /// Where a file is: names of letters, digits and `_.-`, with a `/` between them and no way up.
    MediaKey: Rule::token("a media key of at most 256 letters, digits and `_./-`", 256)
        .refusing(rule::not_a_path);
    /// What a client calls one of its requests.
    RequestId: Rule::exact("a request's id of 1 to 128 characters", 128);
    /// Who tries to sign in: an e-mail address, or an address in the network.
    LoginName: Rule::folding("an e-mail or network address", 254);
    /// Jobs that are done one after the other.
    Queue: Rule::token("the name of a queue", 64).refusing(rule::not_a_word);
    /// Whoever reads a stream.
    Processor: Rule::token("the name of a processor", 64).refusing(rule::not_a_word);
    /// A part of a stream, as the store calls it.
    StreamShard: Rule::exact("the name of a stream's shard", 128);
    /// What a key is for.
    Purpose: Rule::token("what a key is for", 64).refusing(rule::not_a_word);
}

impl FeedName {
    /// The feed of everybody.
    pub const GLOBAL: Self = Self(Cow::Borrowed("GLOBAL"));

    /// Whether it is [`FeedName::GLOBAL`].
    pub fn is_global(&self) -> bool {
        *self == Self::GLOBAL
    }
}

/// Names that programs choose, which can be constants.
macro_rules! named {
    ($($name:ident),*) => {$(
        impl $name {
            /// The name, for constants.
            ///
            /// # Panics
            /// Where it is not 1 to 64 letters, digits, `_`, `.` and `-`; of a constant, that is
            /// while compiling.
            pub const fn named(text: &'static str) -> Self {
                assert!(rule::is_word(text, Self::CHARS_MAX), "not a name");
                Self(Cow::Borrowed(text))
            }
        }
    )*};
}

named!(Queue, Processor, Purpose);

impl Queue {
    /// How the queues begin in which changes lie that a processor could not process; those of jobs
    /// never do.
    pub const CHANGES: &'static str = "stream.";

    /// Where the changes lie that a processor could not process.
    pub fn of_changes(processor: &Processor) -> Result<Self, Misfit> {
        format!("{}{processor}", Self::CHANGES).parse()
    }
}

impl From<&Email> for LoginName {
    fn from(email: &Email) -> Self {
        Self(email.0.clone())
    }
}

impl From<IpAddr> for LoginName {
    fn from(address: IpAddr) -> Self {
        Self(address.to_canonical().to_string().into())
    }
}

const _: () = assert!(Email::CHARS_MAX <= LoginName::CHARS_MAX);

/// The order of two parts in a key.
fn by_key<T: KeyPart>(one: &T, other: &T) -> Ordering {
    let text = |part: &T| {
        let mut text = String::new();
        part.write_part(&mut text);
        text
    };
    text(one).cmp(&text(other))
}

#[cfg(test)]
mod tests;
