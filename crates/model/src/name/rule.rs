//! The rules that names must follow.

use std::borrow::Cow;

use super::fold;
use crate::attribute::{InvalidValue, is_control};

/// The rule of one kind of name.
pub(super) struct NameRule {
    expected: &'static str,
    /// The largest number of characters, as given and folded: one character can fold to eighteen.
    pub(super) chars_max: usize,
    folds: bool,
    /// The most bytes of a character in a key: four of UTF-8, or three of an escape.
    char_bytes_max: usize,
    /// Characters in front of the name that are not part of it.
    dropped: fn(char) -> bool,
    /// Returns a further problem of the folded text, regardless of letter case.
    wrong: Option<fn(&str) -> Option<&'static str>>,
}

impl NameRule {
    /// Any text; spellings that fold alike are the same name.
    pub(super) const fn folding(expected: &'static str, chars_max: usize) -> Self {
        Self { folds: true, ..Self::exact(expected, chars_max) }
    }

    /// Any text; each spelling is another name.
    pub(super) const fn exact(expected: &'static str, chars_max: usize) -> Self {
        Self {
            expected,
            chars_max,
            folds: false,
            char_bytes_max: 4,
            dropped: char::is_whitespace,
            wrong: None,
        }
    }

    /// A text of characters that need no escape in keys; `refusing` must check them.
    pub(super) const fn token(expected: &'static str, chars_max: usize) -> Self {
        Self { char_bytes_max: 1, ..Self::exact(expected, chars_max) }
    }

    /// A text of ASCII, whose longest escape has three bytes; `refusing` must check it.
    pub(super) const fn ascii(expected: &'static str, chars_max: usize) -> Self {
        Self { char_bytes_max: 3, ..Self::exact(expected, chars_max) }
    }

    /// Removes such characters from the front.
    pub(super) const fn without(self, dropped: fn(char) -> bool) -> Self {
        Self { dropped, ..self }
    }

    /// Refuses texts for which `wrong` returns a problem.
    pub(super) const fn refusing(self, wrong: fn(&str) -> Option<&'static str>) -> Self {
        Self { wrong: Some(wrong), ..self }
    }

    pub(super) const fn key_bytes_max(&self) -> usize {
        self.chars_max * self.char_bytes_max
    }

    pub(super) fn fold<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.folds { fold::fold(text) } else { Cow::Borrowed(text) }
    }

    /// Checks the text and returns the part that is the name.
    pub(super) fn check<'a>(&self, text: &'a str) -> Result<&'a str, InvalidValue> {
        let text = text.trim().trim_start_matches(self.dropped);
        if text.is_empty() {
            return Err(InvalidValue::new(self.expected, "an empty text"));
        }
        if let Some(char) = text.chars().find(|char| is_control(*char)) {
            let wrong = format_args!("the control character U+{:04X}", u32::from(char));
            return Err(InvalidValue::in_text(self.expected, wrong, text));
        }
        let folded = self.fold(text);
        if folded.is_empty() {
            return Err(InvalidValue::new(self.expected, "only invisible characters"));
        }
        let chars = text.chars().count().max(folded.chars().count());
        if chars > self.chars_max {
            return Err(InvalidValue::new(self.expected, format_args!("{chars} characters")));
        }
        match self.wrong.and_then(|wrong| wrong(&folded)) {
            Some(wrong) => Err(InvalidValue::in_text(self.expected, wrong, text)),
            None => Ok(text),
        }
    }

    /// Like [`NameRule::check`], for a text that was checked before it was stored: text beyond
    /// ASCII is folded again only if the check depends on its folded form. The folded length is not
    /// checked, since the table refuses a key that is too long.
    pub(super) fn check_stored<'a>(&self, text: &'a str) -> Result<&'a str, InvalidValue> {
        if self.is_as_checked(text) { Ok(text) } else { self.check(text) }
    }

    fn is_as_checked(&self, text: &str) -> bool {
        let Some(first) = text.chars().next().filter(|first| !(self.dropped)(*first)) else {
            return false;
        };
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            let whole = first != ' ' && !text.ends_with(' ') && text.len() <= self.chars_max;
            return whole && self.wrong.is_none_or(|wrong| wrong(text).is_none());
        }
        // A text that begins with a visible character does not fold to an empty text.
        let visible = !first.is_whitespace() && !fold::is_ignorable(first);
        let whole = visible && !text.ends_with(char::is_whitespace);
        let fits = || text.chars().count() <= self.chars_max;
        whole && self.wrong.is_none() && !text.chars().any(is_control) && fits()
    }
}

/// Returns whether a character may precede a tag: `#` in all its widths, spaces, invisible
/// characters.
pub(super) fn is_before_a_tag(char: char) -> bool {
    matches!(char, '#' | '＃' | '﹟') || char.is_whitespace() || fold::is_ignorable(char)
}

pub(super) fn not_an_email(text: &str) -> Option<&'static str> {
    match text.split_once('@') {
        None => Some("no `@`"),
        Some((_, domain)) if domain.contains('@') => Some("more than one `@`"),
        Some(("", _) | (_, "")) => Some("nothing on one side of the `@`"),
        Some(_) if text.contains(char::is_whitespace) => Some("a space"),
        // The limit of mail servers, which count bytes.
        Some(_) if text.len() > 254 => Some("over 254 bytes"),
        Some(_) => None,
    }
}

/// Accepts what the URL of an issuer may hold, which has no fragment, and needs no escape in keys.
pub(super) fn not_an_issuer(text: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%');
    if text.bytes().all(is_plain) { None } else { Some("a character that no issuer has") }
}

pub(super) fn not_ascii(text: &str) -> Option<&'static str> {
    if text.is_ascii() { None } else { Some("a character that is not ASCII") }
}

pub(super) fn not_a_path(text: &str) -> Option<&'static str> {
    let wrong = |step: &[u8]| match step {
        // A store with directories would follow it upwards or to the root.
        b"" | b"." | b".." => Some("an empty, `.` or `..` segment"),
        _ if step.iter().all(|byte| is_word_byte(*byte)) => None,
        _ => Some("an invalid character"),
    };
    text.as_bytes().split(|byte| *byte == b'/').find_map(wrong)
}

pub(super) fn not_a_word(text: &str) -> Option<&'static str> {
    if is_word(text, usize::MAX) { None } else { Some("a character other than `A-Za-z0-9_.-`") }
}

/// Returns whether the text is 1 to `chars_max` letters, digits, `_`, `.` and `-`.
pub(super) const fn is_word(text: &str, chars_max: usize) -> bool {
    let mut rest = text.as_bytes();
    let fits = !rest.is_empty() && rest.len() <= chars_max;
    while let Some((byte, after)) = rest.split_first() {
        if !is_word_byte(*byte) {
            return false;
        }
        rest = after;
    }
    fits
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}
