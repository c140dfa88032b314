//! What a text names: `#tags` and `@nicknames`, as people write them in any script.
//!
//! A name begins behind its sign and ends with the last letter, digit or `_`; nicknames may hold single
//! `.` and `-` inside. The sign stands at the beginning of a word, so an e-mail address names nobody and
//! the end of a link is no tag. A tag needs a letter: `#1` is a number. What is too long is only text.

use std::collections::HashSet;

use roundtable_model::{Nickname, Tag};
use unicode_normalization::char::is_combining_mark;

use crate::limits::{MENTIONS_MAX, TAGS_MAX};

/// What a text names, each once, in the order of the text; what is too much is only text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// The tags.
    pub(crate) tags: Vec<Tag>,
    /// Nicknames, of which some may be nobody's.
    pub(crate) nicknames: Vec<Nickname>,
}

/// Reads what a text names.
pub(crate) fn named(text: &str) -> Named {
    let mut named = Named::default();
    let (mut tags, mut nicknames) = (HashSet::new(), HashSet::new());
    let mut before = None;
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let after = rest.get(char.len_utf8()..).unwrap_or_default();
        let begins = before.is_none_or(|before| !is_word(before) && !is_link(before));
        match char {
            '#' | '＃' | '﹟' if begins => {
                let tag = tag_in(after).filter(|_| named.tags.len() < TAGS_MAX);
                named.tags.extend(tag.filter(|tag| tags.insert(tag.fold().into_owned())));
            }
            '@' | '＠' if begins => {
                let name = nickname_in(after).filter(|_| named.nicknames.len() < MENTIONS_MAX);
                let new = name.filter(|name| nicknames.insert(name.fold().into_owned()));
                named.nicknames.extend(new);
            }
            _ => {}
        }
        (before, rest) = (Some(char), after);
    }
    named
}

/// The tag that a text begins with.
fn tag_in(text: &str) -> Option<Tag> {
    let end = text.find(|char| !is_word(char)).unwrap_or(text.len());
    let word = text.get(..end)?.trim_end_matches(is_joiner);
    let begins = word.chars().next().is_some_and(|first| !is_inside(first));
    if !begins || !word.contains(char::is_alphabetic) {
        return None;
    }
    word.parse().ok()
}

/// The nickname that a text begins with. One with a server behind it is somebody's elsewhere.
fn nickname_in(text: &str) -> Option<Nickname> {
    let end = text.find(|char| !is_word(char) && !is_dot(char)).unwrap_or(text.len());
    let word = text.get(..end)?.trim_end_matches(|char| is_dot(char) || is_joiner(char));
    let elsewhere = text.get(word.len()..)?.starts_with(['@', '＠']);
    let begins = word.chars().next().is_some_and(|first| !is_inside(first) && !is_dot(first));
    if !begins || elsewhere || !word.contains(char::is_alphanumeric) {
        return None;
    }
    word.parse().ok()
}

/// Letters and digits of every script, with what stands on or joins them, and `_`.
fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || is_inside(char)
}

/// What only continues a word: marks of letters, and the joiners that some scripts are written with.
fn is_inside(char: char) -> bool {
    is_combining_mark(char) || is_joiner(char)
}

fn is_joiner(char: char) -> bool {
    matches!(char, '\u{200c}' | '\u{200d}')
}

fn is_dot(char: char) -> bool {
    matches!(char, '.' | '-')
}

/// What a sign follows inside links and codes: `/@ana`, `?to=#top`, `&#39;`, `##`.
fn is_link(char: char) -> bool {
    matches!(char, '/' | '=' | '&' | '?' | '#' | '＃' | '﹟' | '@' | '＠')
}

#[cfg(test)]
mod tests;
