//! Parser for `#tags` and `@nicknames` in texts of any script.
//!
//! A name begins after its sign and ends with the last letter, digit or `_`; nicknames may contain
//! single `.` and `-`. The sign must be at the beginning of a word, so an e-mail address mentions
//! no user and a URL fragment is not a tag. A tag needs a letter: `#1` is a number. Names that are
//! too long are plain text.

use std::collections::HashSet;

use roundtable_model::{Nickname, Tag};
use unicode_normalization::char::is_combining_mark;

use crate::limits::{MENTIONS_MAX, TAGS_MAX};
use crate::{Context, ServiceError};

/// The tags and nicknames in a text, without duplicates, in order and up to the limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextReferences {
    pub(crate) tags: Vec<Tag>,
    /// May contain nicknames that do not exist.
    pub(crate) nicknames: Vec<Nickname>,
}

/// Parses a text's hashtags and mentions, keeping only nicknames that exist.
pub(crate) async fn resolve_references(
    context: &Context,
    content: &str,
) -> Result<TextReferences, ServiceError> {
    let mut references = parse_references(content);
    let locks = context.core().nick_locks(&references.nicknames).get().await?;
    references.nicknames = locks.into_iter().flatten().map(|lock| lock.nickname).collect();
    Ok(references)
}

fn parse_references(text: &str) -> TextReferences {
    let mut references = TextReferences::default();
    let (mut tags, mut nicknames) = (HashSet::new(), HashSet::new());
    let mut before = None;
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let after = rest.get(char.len_utf8()..).unwrap_or_default();
        let starts_word = before.is_none_or(|before| !is_word(before) && !is_link(before));
        match char {
            '#' | '＃' | '﹟' if starts_word => {
                let tag = tag_in(after).filter(|_| references.tags.len() < TAGS_MAX);
                references.tags.extend(tag.filter(|tag| tags.insert(tag.fold().into_owned())));
            }
            '@' | '＠' if starts_word => {
                let name = nickname_in(after).filter(|_| references.nicknames.len() < MENTIONS_MAX);
                let new = name.filter(|name| nicknames.insert(name.fold().into_owned()));
                references.nicknames.extend(new);
            }
            _ => {}
        }
        (before, rest) = (Some(char), after);
    }
    references
}

fn tag_in(text: &str) -> Option<Tag> {
    let end = text.find(|char| !is_word(char)).unwrap_or(text.len());
    let word = text.get(..end)?.trim_end_matches(is_joiner);
    let starts_word = word.chars().next().is_some_and(|first| !is_inside(first));
    if !starts_word || !word.contains(char::is_alphabetic) {
        return None;
    }
    word.parse().ok()
}

/// Parses a nickname. One followed by a server name belongs to another server.
fn nickname_in(text: &str) -> Option<Nickname> {
    let end = text.find(|char| !is_word(char) && !is_dot(char)).unwrap_or(text.len());
    let word = text.get(..end)?.trim_end_matches(|char| is_dot(char) || is_joiner(char));
    let is_remote = text.get(word.len()..)?.starts_with(['@', '＠']);
    let starts_word = word.chars().next().is_some_and(|first| !is_inside(first) && !is_dot(first));
    if !starts_word || is_remote || !word.contains(char::is_alphanumeric) {
        return None;
    }
    word.parse().ok()
}

/// Letters and digits of every script, with their marks and joiners, and `_`.
fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || is_inside(char)
}

/// Characters that only continue a word: combining marks and joiners.
fn is_inside(char: char) -> bool {
    is_combining_mark(char) || is_joiner(char)
}

fn is_joiner(char: char) -> bool {
    matches!(char, '\u{200c}' | '\u{200d}')
}

fn is_dot(char: char) -> bool {
    matches!(char, '.' | '-')
}

/// Characters before a sign inside links and codes: `/@ana`, `?to=#top`, `&#39;`, `##`.
fn is_link(char: char) -> bool {
    matches!(char, '/' | '=' | '&' | '?' | '#' | '＃' | '﹟' | '@' | '＠')
}

#[cfg(test)]
mod tests;
