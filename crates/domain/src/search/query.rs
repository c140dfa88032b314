//! Queries: any text is one. Words must all occur, words in quotation marks or without a space between them
//! next to each other.

use roundtable_model::{InvalidValue, Tag};

use super::words::{Word, words};
use crate::ServiceError;

/// Longer texts are refused.
const QUERY_CHARS_MAX: usize = 500;
/// Further words are ignored, so that one query costs no more than that many.
const QUERY_WORDS_MAX: usize = 16;

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryWord {
    pub text: String,
    /// The position in its phrase.
    pub offset: u32,
    /// A single character of a script without spaces: it also matches words that begin with it.
    pub is_prefix: bool,
}

/// Words that must occur next to each other, at least one.
pub type Phrase = Vec<QueryWord>;

/// A parsed query. One without words finds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// All must occur.
    phrases: Vec<Phrase>,
    /// The whole query as one phrase.
    whole: Phrase,
    /// All words joined, to compare with whole names.
    joined: String,
    /// The query as a tag, folded; `None` if it cannot be one.
    tag: Option<String>,
}

impl SearchQuery {
    pub fn parse(text: &str) -> Result<Self, ServiceError> {
        let chars = text.chars().count();
        if chars > QUERY_CHARS_MAX {
            let invalid = InvalidValue::new("at most 500 characters", format_args!("{chars}"));
            return Err(ServiceError::bad_input("query", invalid));
        }
        let mut left = QUERY_WORDS_MAX;
        let mut phrases: Vec<Phrase> = Vec::new();
        for part in parts(text) {
            let mut phrase = phrase_of(&words(part));
            phrase.truncate(left);
            left -= phrase.len();
            if !phrase.is_empty() && !phrases.contains(&phrase) {
                phrases.push(phrase);
            }
        }
        let all = words(text);
        let mut whole = phrase_of(&all);
        whole.truncate(QUERY_WORDS_MAX);
        Ok(Self { phrases, whole, joined: joined(&all), tag: tag_of(text) })
    }

    pub fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }

    /// The whole query as one phrase, if it has several.
    pub fn whole_phrase(&self) -> Option<&Phrase> {
        (self.phrases.len() > 1).then_some(&self.whole)
    }

    /// The words of all phrases.
    pub fn all_words(&self) -> impl Iterator<Item = &QueryWord> {
        self.phrases.iter().flatten()
    }

    pub fn joined(&self) -> &str {
        &self.joined
    }

    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    pub fn has_words(&self) -> bool {
        !self.phrases.is_empty()
    }
}

/// Returns the words of a name in the form in which whole names are compared.
pub fn joined_name(name: &str) -> String {
    joined(&words(name))
}

fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// Returns the parts between quotation marks and spaces.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_quotation_mark = |char| matches!(char, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」');
    text.split(is_quotation_mark).enumerate().flat_map(|(at, part)| {
        // Every other one is inside, and a missing last mark is at the end of the text.
        let is_quoted = at % 2 == 1;
        let (quoted, rest) = if is_quoted { (Some(part), "") } else { (None, part) };
        quoted.into_iter().chain(rest.split_whitespace())
    })
}

fn phrase_of(words: &[Word]) -> Phrase {
    let first = words.first().map_or(0, |word| word.position);
    let mut phrase = Phrase::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        // The last character of a longer run is in the pair before it.
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let is_in_pair = before.is_some_and(|before| {
            !before.is_rest && before.text.chars().count() == 2 && before.text.ends_with(&word.text)
        });
        if !(word.is_rest && is_in_pair) {
            let offset = word.position - first;
            phrase.push(QueryWord { text: word.text.clone(), offset, is_prefix: word.is_rest });
        }
    }
    phrase
}

fn tag_of(text: &str) -> Option<String> {
    let text = text.trim().trim_matches('"');
    if text.contains(char::is_whitespace) {
        return None;
    }
    let tag: Tag = text.trim_start_matches(['#', '＃', '﹟']).parse().ok()?;
    Some(tag.fold().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<String> {
        let query = SearchQuery::parse(text).unwrap();
        let text = |phrase: &Phrase| {
            let words = phrase.iter().map(|word| {
                let mark = if word.is_prefix { "*" } else { "" };
                format!("{}{mark}@{}", word.text, word.offset)
            });
            words.collect::<Vec<_>>().join(" ")
        };
        query.phrases().iter().map(text).collect()
    }

    /// R58: any text is a query.
    #[test]
    fn any_text_is_a_query_of_words_and_phrases() {
        assert_eq!(phrases("Green  tea"), ["green@0", "tea@0"]);
        assert_eq!(phrases(r#"a "Green tea" b"#), ["a@0", "green@0 tea@1", "b@0"]);
        assert_eq!(phrases(r#""not closed at all"#), ["not@0 closed@1 at@2 all@3"]);
        assert_eq!(phrases("well-known x.org"), ["well@0 known@1", "x@0 org@1"]);
        assert_eq!(phrases("東京都 日"), ["東京@0 京都@1", "日*@0"]);
        assert_eq!(phrases("東京tower"), ["東京@0 tower@2"]);
        for nothing in ["", "  ", "\"", "\"\"", "*:*", "+-&|!(){}[]^~?\\/", "😀"] {
            assert_eq!(phrases(nothing), [] as [&str; 0], "{nothing}");
            assert!(!SearchQuery::parse(nothing).unwrap().has_words());
        }
        assert_eq!(phrases("text:a AND -b"), ["text@0 a@1", "and@0", "b@0"]);
        let long: Vec<String> = (0..99).map(|n| n.to_string()).collect();
        assert_eq!(SearchQuery::parse(&long.join(" ")).unwrap().all_words().count(), 16);
        assert!(SearchQuery::parse(&"x".repeat(501)).is_err());
    }

    #[test]
    fn a_query_of_one_word_is_also_a_tag() {
        let tag = |text| SearchQuery::parse(text).unwrap().tag().map(str::to_owned);
        assert_eq!(tag(" #Rust ").as_deref(), Some("rust"));
        assert_eq!(tag("rust lang"), None);
        assert_eq!(tag("#"), None);
    }
}
