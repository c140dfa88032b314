//! Keys are spelled in `schema.rs` alone: no other source of a crate has a text that looks like one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The sources that may spell keys, below `crates`, with the reason.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("model/src/schema.rs", "the schema"),
    ("table/src/lease_key.rs", "leases belong to the workers of a stream, below the schema"),
    ("testkit/src/storm/", "the checks of a storm look at the rows as they are stored"),
];

#[test]
fn no_other_file_spells_a_key() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut spelled = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            visit_directory(crates, &source, &mut spelled);
        }
    }
    let is_exception = |path: &str| EXCEPTIONS.iter().any(|(start, _)| path.starts_with(start));
    for (exception, _) in EXCEPTIONS {
        let is_used = spelled.iter().any(|(path, _)| path.starts_with(exception));
        assert!(is_used, "{exception} spells no key: remove the exception");
    }
    spelled.retain(|(path, _)| !is_exception(path));
    assert!(spelled.is_empty(), "spell keys in model/src/schema.rs only: {spelled:#?}");
}

#[test]
fn keys_are_recognized_in_code_but_not_in_tests_and_comments() {
    let source = r##"
        //! USER#ana
        /// Reads "FEED#ana".
        fn read() {
            // "FEED#ana"
            let key = format!("FEED#{reader}");
            let other = ["a", r#"FOLLOWER#"#];
            let (hash, tag, message) = ('#', "#C#", "delete `KEY#…`");
        }
        #[cfg(test)]
        mod tests {
            const KEY: &str = "USER#ana";
        }
        #[cfg(test)]
        mod far;
    "##;
    let mut found = SourceKeys::default();
    found.read(source.parse().unwrap());
    assert_eq!(found.keys, [r#""FEED#{reader}""#, r##"r#"FOLLOWER#"#"##]);
    assert_eq!(found.test_modules, ["tests", "far"]);
}

/// Adds the keys of a directory's sources with their paths, without files that only tests use.
fn visit_directory(crates: &Path, directory: &Path, spelled: &mut Vec<(String, String)>) {
    let mut entries: Vec<PathBuf> = Vec::new();
    let mut test_only = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        entries.push(entry.unwrap().path());
    }
    let files = entries.iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    for path in files {
        let mut found = SourceKeys::default();
        found.read(fs::read_to_string(path).unwrap().parse().unwrap());
        // `lib.rs` and `main.rs` declare the modules beside them, other files those below them.
        let is_root = path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
        let home = if is_root { directory.to_owned() } else { path.with_extension("") };
        test_only.extend(found.test_modules.iter().map(|module| home.join(module)));
        let name = path.strip_prefix(crates).unwrap().to_str().unwrap().replace('\\', "/");
        spelled.extend(found.keys.into_iter().map(|key| (name.clone(), key)));
    }
    for path in entries.iter().filter(|path| path.is_dir()) {
        visit_directory(crates, path, spelled);
    }
    spelled.retain(|(name, _)| {
        let path = crates.join(name).with_extension("");
        !test_only.iter().any(|module| path.starts_with(module))
    });
}

/// The texts of a source that look like keys, and the modules that only its tests have.
#[derive(Default)]
struct SourceKeys {
    keys: Vec<String>,
    test_modules: Vec<String>,
}

impl SourceKeys {
    fn read(&mut self, tokens: TokenStream) {
        let mut is_test = false;
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                // An attribute: `#[…]` or `#![…]`, which doc comments are, too.
                TokenTree::Punct(hash) if hash.as_char() == '#' => {
                    tokens.next_if(|next| next.to_string() == "!");
                    if let Some(TokenTree::Group(attribute)) = tokens.next_if(is_attribute) {
                        let text = attribute.stream().to_string();
                        is_test |= text.replace(' ', "") == "cfg(test)";
                        if !text.starts_with("doc") {
                            self.read(attribute.stream());
                        }
                    }
                }
                TokenTree::Ident(word) if is_test && word == "mod" => {
                    self.test_modules.extend(tokens.next().map(|name| name.to_string()));
                }
                // The end of the item that a `#[cfg(test)]` was for.
                TokenTree::Punct(end) if end.as_char() == ';' => is_test = false,
                TokenTree::Group(group) if is_test && group.delimiter() == Delimiter::Brace => {
                    is_test = false;
                }
                TokenTree::Group(group) => self.read(group.stream()),
                TokenTree::Literal(literal) if !is_test => {
                    let text = literal.to_string();
                    if looks_like_a_key(&text) {
                        self.keys.push(text);
                    }
                }
                TokenTree::Literal(_) | TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

fn is_attribute(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket)
}

/// Returns whether a text has a capitalized word of two or more letters before a `#`. A text with
/// spaces is a message that mentions keys.
fn looks_like_a_key(text: &str) -> bool {
    let is_letter = |char: char| char.is_ascii_alphabetic() || char == '_';
    let is_message = text.contains(char::is_whitespace);
    !is_message
        && text.match_indices('#').any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let word = before.get(before.trim_end_matches(is_letter).len()..).unwrap_or_default();
            word.len() >= 2 && word.starts_with(|first: char| first.is_ascii_uppercase())
        })
}
