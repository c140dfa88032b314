//! How long a document is, found without reading it: what is too long never comes to a parser.

/// Brackets within brackets: more than any depth that is allowed, less than any stack.
pub(super) const NESTED_MAX: usize = 100;

/// Bytes of a name: longer ones would only be compared with every name there is.
pub(super) const NAME_BYTES_MAX: usize = 200;
/// A mark of the byte order, which parsers read over wherever it is.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// What was counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// Words, numbers, texts and signs.
    pub(super) tokens: usize,
    /// Brackets within brackets.
    pub(super) nested: usize,
    /// Bytes of the longest name or number.
    pub(super) longest: usize,
}

/// Counts; what is no document is counted somehow, and refused by the parser.
pub(super) fn count(document: &str) -> Counted {
    let (mut counted, mut nested) = (Counted::default(), 0_usize);
    let mut rest = document.as_bytes();
    while let [byte, after @ ..] = rest {
        if let Some(after) = rest.strip_prefix(MARK) {
            rest = after;
            continue;
        }
        let before = rest.len();
        rest = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b',' => {
                rest = after;
                continue;
            }
            b'#' => {
                rest = behind(after, |byte| matches!(byte, b'\n' | b'\r'));
                continue;
            }
            b'"' => behind_text(rest),
            byte if is_name(*byte) => behind(after, |byte| !is_name(byte)),
            b'-' => behind(after, |byte| !is_number(byte)),
            b'.' => rest.strip_prefix(b"...").unwrap_or(after),
            _ => after,
        };
        counted.tokens += 1;
        match byte {
            b'{' | b'[' | b'(' => nested += 1,
            b'}' | b']' | b')' => nested = nested.saturating_sub(1),
            b'"' => {}
            _ => counted.longest = counted.longest.max(before - rest.len()),
        }
        counted.nested = counted.nested.max(nested);
    }
    counted
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const fn is_number(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+')
}

fn behind(bytes: &[u8], ends: impl Fn(u8) -> bool) -> &[u8] {
    let end = bytes.iter().position(|byte| ends(*byte)).unwrap_or(bytes.len());
    bytes.get(end..).unwrap_or_default()
}

/// What comes after a text in quotes, or in three of them.
fn behind_text(bytes: &[u8]) -> &[u8] {
    let block: &[u8] = b"\"\"\"";
    if let Some(text) = bytes.strip_prefix(block) {
        // Only a backslash before all three keeps a block open.
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            if rest.starts_with(b"\\\"\"\"") {
                at += 4;
            } else if let Some(after) = rest.strip_prefix(block) {
                return after;
            } else {
                at += 1;
            }
        }
        return &[];
    }
    let mut is_escaped = false;
    let text = bytes.get(1..).unwrap_or_default();
    let end = text.iter().position(|byte| {
        let ends = matches!(byte, b'"' | b'\n') && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.and_then(|end| text.get(end + 1..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(document: &str) -> usize {
        count(document).tokens
    }

    #[test]
    fn words_and_signs_count_and_what_is_between_them_does_not() {
        assert_eq!(tokens("{ me { id } }"), 6);
        assert_eq!(tokens("query Q($a: [ID!]!) {\n a(b: -1.5e3), c }"), 21);
        assert_eq!(tokens("{ ...A...B }"), 6);
        assert_eq!(tokens("{ a\u{feff}a\u{feff}a }"), 5);
        assert_eq!(tokens("# { { {\n{ a }"), 3);
        assert_eq!(tokens(""), 0);
    }

    #[test]
    fn a_text_counts_once_whatever_is_in_it() {
        assert_eq!(tokens(r#"{ a(b: "x y { \" z") }"#), 8);
        assert_eq!(tokens(r#"{ a(b: """x "y" \""" { z""") }"#), 8);
        assert_eq!(tokens(r#""never ends"#), 1);
        assert_eq!(tokens(r#""""never ends"#), 1);
    }

    #[test]
    fn long_names_are_noticed_and_long_texts_are_not() {
        assert_eq!(count("{ abc(d: \"a long text\") }").longest, 3);
        assert_eq!(count(&"a".repeat(1_000)).longest, 1_000);
    }

    #[test]
    fn nesting_is_that_of_all_brackets() {
        assert_eq!(count("{a(b:[[1]])}").nested, 4);
        assert_eq!(count(&"{a".repeat(1_000)).nested, 1_000);
        assert_eq!(count("}}}{").nested, 1);
    }
}
