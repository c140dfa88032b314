//! Matches of a query and a document, decided from the document alone: the same in every process, and as
//! true of a present text as of an indexed one.

use hashbrown::{HashMap, HashSet};

use super::document::SearchDocument;
use super::query::{Phrase, QueryWord, SearchQuery, joined_name};
use super::words::words;

/// The ways in which a document matches, best first. It is found by the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchClass {
    /// A name is the query.
    WholeName,
    /// All words are in the names.
    NameWords,
    /// All words begin words of the names.
    NamePrefixes,
    /// The query is in the text as one phrase.
    WholePhrase,
    /// All words and phrases are in the text.
    Words,
    /// All words are in the names, some with typos.
    NameTypos,
}

impl MatchClass {
    pub const ALL: [Self; 6] = [
        Self::WholeName,
        Self::NameWords,
        Self::NamePrefixes,
        Self::WholePhrase,
        Self::Words,
        Self::NameTypos,
    ];

    /// Returns whether only documents with names can match this way.
    pub const fn is_of_names(self) -> bool {
        !matches!(self, Self::WholePhrase | Self::Words)
    }
}

/// Returns how a document matches, if it does.
pub fn match_class(query: &SearchQuery, document: &SearchDocument) -> Option<MatchClass> {
    if !query.has_words() {
        return None;
    }
    let names = Names::of(document);
    if let Some(class) = names.class_without_typos(query) {
        return Some(class);
    }
    let text = TextWords::of(&document.text);
    if query.whole_phrase().is_some_and(|phrase| text.contains(phrase)) {
        return Some(MatchClass::WholePhrase);
    }
    if query.phrases().iter().all(|phrase| text.contains(phrase)) {
        return Some(MatchClass::Words);
    }
    names.match_with_typos(query).then_some(MatchClass::NameTypos)
}

/// The largest number of typos in a word of this many characters.
pub const fn typos_max(chars: usize) -> u8 {
    match chars {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// Returns whether a word is another one with at most so many typos: characters that are missing, added,
/// replaced, or swapped with their neighbor.
fn is_typo_of(word: &str, other: &str, typos: u8) -> bool {
    let (word, other): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
    if word.len().abs_diff(other.len()) > usize::from(typos) {
        return false;
    }
    // The rows of the table of distances: two characters before, one before, and the current one.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, char) in word.iter().enumerate() {
        let mut row = Vec::with_capacity(last.len());
        row.push(i + 1);
        for (j, of_other) in other.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let replaced = at(&last, j) + usize::from(char != of_other);
            let mut least = replaced.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let is_swapped = i > 0
                && j > 0
                && word.get(i - 1) == Some(of_other)
                && other.get(j - 1) == Some(char);
            if is_swapped {
                least = least.min(at(&before, j - 1) + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().is_some_and(|distance| *distance <= usize::from(typos))
}

/// The names of a document.
struct Names {
    joined: Vec<String>,
    words: HashSet<String>,
}

impl Names {
    fn of(document: &SearchDocument) -> Self {
        let joined = document.names.iter().map(|name| joined_name(name)).collect();
        let each = document.names.iter().flat_map(|name| words(name));
        Self { joined, words: each.map(|word| word.text).collect() }
    }

    fn class_without_typos(&self, query: &SearchQuery) -> Option<MatchClass> {
        if self.words.is_empty() {
            return None;
        }
        if self.joined.iter().any(|name| name == query.joined()) {
            return Some(MatchClass::WholeName);
        }
        let all = |matches: fn(&Self, &QueryWord) -> bool| {
            query.all_words().all(|word| matches(self, word))
        };
        if all(|names, word| names.words.contains(&word.text)) {
            return Some(MatchClass::NameWords);
        }
        all(Self::begins).then_some(MatchClass::NamePrefixes)
    }

    fn begins(&self, word: &QueryWord) -> bool {
        self.words.iter().any(|name| name.starts_with(&word.text))
    }

    fn match_with_typos(&self, query: &SearchQuery) -> bool {
        !self.words.is_empty()
            && query.all_words().all(|word| {
                let typos = typos_max(word.text.chars().count());
                let is_typo = |name: &String| is_typo_of(&word.text, name, typos);
                self.begins(word) || (typos > 0 && self.words.iter().any(is_typo))
            })
    }
}

/// The words of a text with their positions.
struct TextWords(HashMap<String, Vec<u32>>);

impl TextWords {
    fn of(text: &str) -> Self {
        let mut positions: HashMap<String, Vec<u32>> = HashMap::new();
        for word in words(text) {
            positions.entry(word.text).or_default().push(word.position);
        }
        Self(positions)
    }

    fn contains(&self, phrase: &Phrase) -> bool {
        let Some((first, rest)) = phrase.split_first() else { return false };
        self.positions(first).any(|start| {
            let begin = start.checked_sub(first.offset);
            begin
                .is_some_and(|begin| rest.iter().all(|word| self.has_at(word, begin + word.offset)))
        })
    }

    fn positions<'a>(&'a self, word: &'a QueryWord) -> Box<dyn Iterator<Item = u32> + 'a> {
        if !word.is_prefix {
            return Box::new(self.0.get(&word.text).into_iter().flatten().copied());
        }
        let begin = self.0.iter().filter(|(text, _)| text.starts_with(&word.text));
        Box::new(begin.flat_map(|(_, positions)| positions.iter().copied()))
    }

    fn has_at(&self, word: &QueryWord, position: u32) -> bool {
        self.positions(word).any(|at| at == position)
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::entities::{Post, User};
    use roundtable_model::samples;

    use super::*;

    fn class(query: &str, document: &SearchDocument) -> Option<MatchClass> {
        match_class(&SearchQuery::parse(query).unwrap(), document)
    }

    /// R58: prefixes and typos for names.
    #[test]
    fn names_match_whole_in_words_by_prefixes_and_with_typos() {
        let user = User {
            nickname: "Ana_Smith".parse().unwrap(),
            handle: None,
            display_name: Some("Doctor Anastasia".into()),
            full_name: None,
            bio: Some("grows roses in the garden".into()),
            ..samples::user()
        };
        let document = SearchDocument::of_user(&user);
        for (query, expected) in [
            ("ana smith", Some(MatchClass::WholeName)),
            ("DOCTOR anastasia", Some(MatchClass::WholeName)),
            ("smith ana", Some(MatchClass::NameWords)),
            ("anast", Some(MatchClass::NamePrefixes)),
            ("doc smi", Some(MatchClass::NamePrefixes)),
            ("roses garden", Some(MatchClass::Words)),
            ("grows roses", Some(MatchClass::WholePhrase)),
            ("smith roses", Some(MatchClass::Words)),
            ("smiht", Some(MatchClass::NameTypos)),
            ("anastsai", Some(MatchClass::NameTypos)),
            ("dcotor smyth", Some(MatchClass::NameTypos)),
            ("anb", None),
            ("rozes", None),
            ("", None),
        ] {
            assert_eq!(class(query, &document), expected, "{query}");
        }
    }

    /// R58: words and phrases for texts.
    #[test]
    fn texts_match_by_words_and_phrases() {
        let post =
            Post { content: "Green tea, black coffee. 東京都は夏".into(), ..samples::post() };
        let document = SearchDocument::of_post(&post);
        for (query, expected) in [
            ("tea", Some(MatchClass::Words)),
            ("green tea", Some(MatchClass::WholePhrase)),
            ("coffee tea", Some(MatchClass::Words)),
            ("\"black coffee\" tea", Some(MatchClass::Words)),
            ("\"green coffee\"", None),
            ("gree", None),
            ("京都", Some(MatchClass::Words)),
            ("東京都は夏", Some(MatchClass::Words)),
            ("東都", None),
            ("夏", Some(MatchClass::Words)),
            ("京", Some(MatchClass::Words)),
            ("coffee 東京", Some(MatchClass::WholePhrase)),
        ] {
            assert_eq!(class(query, &document), expected, "{query}");
        }
    }

    #[test]
    fn typos_are_counted() {
        for (word, other, typos, expected) in [
            ("smith", "smith", 0, true),
            ("smiht", "smith", 1, true),
            ("smit", "smith", 1, true),
            ("smiths", "smith", 1, true),
            ("smyth", "smith", 1, true),
            ("smyht", "smith", 1, false),
            ("smyht", "smith", 2, true),
            ("", "ab", 2, true),
            ("abc", "xyz", 2, false),
        ] {
            assert_eq!(is_typo_of(word, other, typos), expected, "{word} {other}");
            assert_eq!(is_typo_of(other, word, typos), expected, "{other} {word}");
        }
    }
}
