//! Counts the tokens of a document without parsing it, so that an oversized one never reaches a parser.

/// Nested brackets: more than any permitted depth needs, and fewer than overflow the parser's stack.
pub(crate) const NESTED_MAX: usize = 100;

/// Bytes of a name: no name of the schema is longer, and comparing long ones with all names takes time.
pub(crate) const NAME_BYTES_MAX: usize = 200;
/// The byte order mark, which parsers ignore anywhere.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenCounts {
    pub(crate) tokens: usize,
    /// Nested brackets.
    pub(crate) nested: usize,
    /// Bytes of the longest name or number.
    pub(crate) longest_name: usize,
}

/// Counts the tokens of a document. For an invalid one any count will do: the parser rejects it.
pub(crate) fn count(document: &str) -> TokenCounts {
    let (mut counts, mut nested) = (TokenCounts::default(), 0_usize);
    let mut rest = document.as_bytes();
    while let [byte, after @ ..] = rest {
        if let Some(after) = rest.strip_prefix(BYTE_ORDER_MARK) {
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
                rest = skip_until(after, |byte| matches!(byte, b'\n' | b'\r'));
                continue;
            }
            b'"' => skip_string(rest),
            byte if is_name(*byte) => skip_until(after, |byte| !is_name(byte)),
            b'-' => skip_until(after, |byte| !is_number(byte)),
            b'.' => rest.strip_prefix(b"...").unwrap_or(after),
            _ => after,
        };
        counts.tokens += 1;
        match byte {
            b'{' | b'[' | b'(' => nested += 1,
            b'}' | b']' | b')' => nested = nested.saturating_sub(1),
            b'"' => {}
            _ => counts.longest_name = counts.longest_name.max(before - rest.len()),
        }
        counts.nested = counts.nested.max(nested);
    }
    counts
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const fn is_number(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+')
}

fn skip_until(bytes: &[u8], ends: impl Fn(u8) -> bool) -> &[u8] {
    let end = bytes.iter().position(|byte| ends(*byte)).unwrap_or(bytes.len());
    bytes.get(end..).unwrap_or_default()
}

/// Returns the rest after a string or block string.
fn skip_string(bytes: &[u8]) -> &[u8] {
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
    fn tokens_count_and_whitespace_does_not() {
        assert_eq!(tokens("{ me { id } }"), 6);
        assert_eq!(tokens("query Q($a: [ID!]!) {\n a(b: -1.5e3), c }"), 21);
        assert_eq!(tokens("{ ...A...B }"), 6);
        assert_eq!(tokens("{ a\u{feff}a\u{feff}a }"), 5);
        assert_eq!(tokens("# { { {\n{ a }"), 3);
        assert_eq!(tokens(""), 0);
    }

    #[test]
    fn a_string_is_one_token() {
        assert_eq!(tokens(r#"{ a(b: "x y { \" z") }"#), 8);
        assert_eq!(tokens(r#"{ a(b: """x "y" \""" { z""") }"#), 8);
        assert_eq!(tokens(r#""never ends"#), 1);
        assert_eq!(tokens(r#""""never ends"#), 1);
    }

    #[test]
    fn long_names_are_measured_and_long_strings_are_not() {
        assert_eq!(count("{ abc(d: \"a long text\") }").longest_name, 3);
        assert_eq!(count(&"a".repeat(1_000)).longest_name, 1_000);
    }

    #[test]
    fn all_kinds_of_brackets_nest() {
        assert_eq!(count("{a(b:[[1]])}").nested, 4);
        assert_eq!(count(&"{a".repeat(1_000)).nested, 1_000);
        assert_eq!(count("}}}{").nested, 1);
    }
}
