//! Words of texts: the same division for the search index, for queries, and for the comparison of a hit with
//! its present text.
//!
//! Texts are folded (case, width, ligatures). A word is a run of letters, digits and their marks.
//! Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces: each pair of neighboring
//! characters is a word there, and so is the last character of a run.

use roundtable_model::fold_text;
use unicode_normalization::char::is_combining_mark;

/// Longer words are cut. A word of the longest characters still fits into a term of an index.
const WORD_CHARS_MAX: usize = 64;
/// Separates the texts of one document.
pub(super) const TEXT_SEPARATOR: char = '\u{1e}';
/// Added to the positions of words behind a separator, so that no phrase reaches across.
const SEPARATOR_POSITIONS: u32 = 100;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// Words next to each other have positions next to each other.
    pub position: u32,
    /// True for the last character of a run without spaces, which is also in the pair before it.
    pub is_rest: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    /// Of scripts with spaces between words.
    Letter,
    /// Of scripts without.
    Joined,
    Separator,
    Other,
}

/// Divides a text into its words.
pub fn words(text: &str) -> Vec<Word> {
    let folded = fold_text(text);
    let mut division = Division { words: Vec::with_capacity(folded.len() / 6), position: 0 };
    let mut rest = &*folded;
    while let Some(first) = rest.chars().next() {
        let kind = kind_of(first, CharKind::Other);
        let end = rest.find(|char| kind_of(char, kind) != kind).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end.max(first.len_utf8()));
        division.add(kind, run);
        rest = after;
    }
    division.words
}

/// Returns the kind of a character behind one of the kind `before`: marks continue a word.
fn kind_of(char: char, before: CharKind) -> CharKind {
    let is_word = matches!(before, CharKind::Letter | CharKind::Joined);
    match char {
        'a'..='z' | '0'..='9' => CharKind::Letter,
        TEXT_SEPARATOR => CharKind::Separator,
        char if char.is_ascii() => CharKind::Other,
        char if is_joined(char) => CharKind::Joined,
        char if char.is_alphanumeric() => CharKind::Letter,
        char if is_word && is_combining_mark(char) => before,
        _ => CharKind::Other,
    }
}

/// Returns whether the character is of a script without spaces between words.
const fn is_joined(char: char) -> bool {
    matches!(char,
        '\u{e00}'..='\u{e7f}' | '\u{e80}'..='\u{eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' // Burmese, Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Kana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

struct Division {
    words: Vec<Word>,
    position: u32,
}

impl Division {
    fn add(&mut self, kind: CharKind, run: &str) {
        match kind {
            CharKind::Letter => {
                let end = run.char_indices().nth(WORD_CHARS_MAX).map_or(run.len(), |(at, _)| at);
                self.push(run.get(..end).unwrap_or(run).to_owned(), false);
            }
            CharKind::Joined => self.add_pairs(run),
            CharKind::Separator => {
                let separators = u32::try_from(run.len()).unwrap_or(u32::MAX);
                let gap = SEPARATOR_POSITIONS.saturating_mul(separators);
                self.position = self.position.saturating_add(gap);
            }
            CharKind::Other => {}
        }
    }

    fn add_pairs(&mut self, run: &str) {
        let mut starts = run.char_indices().map(|(at, _)| at).peekable();
        while let Some(start) = starts.next() {
            let is_rest = starts.peek().is_none();
            let chars = run.get(start..).unwrap_or_default().chars().take(2);
            self.push(chars.collect(), is_rest);
        }
    }

    fn push(&mut self, text: String, is_rest: bool) {
        self.words.push(Word { text, position: self.position, is_rest });
        self.position = self.position.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    /// R58: Unicode words, case-folded; bigrams for Chinese, Japanese and Thai.
    #[test]
    fn texts_are_divided_into_folded_words_and_pairs() {
        assert_eq!(texts("Hello, WORLD! It's 3.14"), ["hello", "world", "it", "s", "3", "14"]);
        assert_eq!(texts("Straße ΣΊΣΥΦΟΣ ﬁne Ｗｉｄｅ"), ["strasse", "σίσυφοσ", "fine", "wide"]);
        assert_eq!(texts("नमस्ते दुनिया"), ["नमस्ते", "दुनिया"]);
        assert_eq!(texts("привет_мир"), ["привет", "мир"]);
        assert_eq!(texts("東京都 tower"), ["東京", "京都", "都", "tower"]);
        assert_eq!(texts("カメラx日"), ["カメ", "メラ", "ラ", "x", "日"]);
        assert_eq!(texts("สวัส"), ["สว", "วั", "ัส", "ส"]);
        assert_eq!(texts("한국어 단어"), ["한국어", "단어"]);
        assert_eq!(texts("!?… 😀 \u{301}"), [] as [&str; 0]);
        assert_eq!(texts(&"x".repeat(100)), ["x".repeat(64)]);
    }

    #[test]
    fn positions_run_on_and_leap_between_texts() {
        let positions = |text| words(text).into_iter().map(|it| it.position).collect::<Vec<_>>();
        assert_eq!(positions("a, b 東京 c"), [0, 1, 2, 3, 4]);
        assert_eq!(positions("a\u{1e}b"), [0, 101]);
        let rests: Vec<bool> = words("東京").into_iter().map(|it| it.is_rest).collect();
        assert_eq!(rests, [false, true]);
    }
}
