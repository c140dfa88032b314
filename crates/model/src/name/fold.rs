//! Folds texts that look alike to the same text, and escapes texts for keys.

use std::borrow::Cow;

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;

/// Removes differences of case, width and ligatures, and invisible characters. Keys depend on it:
/// folding a folded text changes nothing.
///
/// Case is folded as Unicode defines, in full and without a locale: `ß` becomes `ss`, `ς` becomes
/// `σ`, and the dotless `ı` stays different from `i`. With the compatibility forms before and
/// after, this is Unicode's `toNFKC_Casefold`, except that surrounding spaces are trimmed.
pub fn fold(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        let visible: String = text.nfkc().filter(|char| !is_ignorable(*char)).collect();
        let folded = UniCase::unicode(visible).to_folded_case();
        // Folded letters, and neighbors of removed characters, can compose again.
        let folded: String = folded.nfkc().collect();
        Cow::Owned(folded.trim().to_owned())
    } else if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Appends a text to a key, with `#` escaped, which would end the part, and `%`, the escape
/// character.
pub(super) fn escape(text: &str, key: &mut String) {
    for char in text.chars() {
        match char {
            '#' => key.push_str("%23"),
            '%' => key.push_str("%25"),
            char => key.push(char),
        }
    }
}

/// Unicode's `Default_Ignorable_Code_Point`: joiners, variation selectors, direction marks,
/// fillers.
pub(super) fn is_ignorable(char: char) -> bool {
    matches!(char,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::attribute::is_control;
    use crate::name::rule::is_before_a_tag;

    #[test]
    fn texts_that_look_alike_fold_to_the_same_text() {
        for (one, other) in [
            ("Ana", "ana"),
            ("ＡＮＡ", "ana"),
            ("ﬁne", "fine"),
            ("É", "e\u{301}"),
            ("ΟΔΟΣ", "οδος"),
            ("straße", "STRASSE"),
            ("STRAẞE", "strasse"),
            ("ŉ", "ʼN"),
            ("ᾲ", "ὰι"),
            ("Ꭰ", "ꭰ"),
            ("a\u{200b}n\u{ad}a", "ana"),
            ("\u{212b}ngström", "ångström"),
            ("＃１", "#1"),
            ("\u{202e}ana", "ana"),
        ] {
            assert_eq!(fold(one), fold(other), "{one} {other}");
        }
        for (one, other) in [("ana", "anna"), ("e", "é"), ("日", "目"), ("a b", "ab"), ("ı", "i")]
        {
            assert_ne!(fold(one), fold(other), "{one} {other}");
        }
    }

    #[test]
    fn a_folded_text_is_not_copied() {
        assert!(matches!(fold("ana #%_42"), Cow::Borrowed("ana #%_42")));
    }

    #[test]
    fn folding_each_character_twice_changes_nothing() {
        // The characters in between and above are private or unassigned.
        for char in ('\0'..'\u{32000}').chain('\u{e0000}'..'\u{e1000}') {
            let text = format!("x{char}y");
            let folded = fold(&text);
            assert_eq!(fold(&folded), folded, "{char:?}");
            assert_eq!(folded.chars().any(is_control), is_control(char), "{char:?}");
            // The first character decides whether a name folds to nothing, and where a tag begins.
            let alone = char.to_string();
            let first = fold(&alone).chars().next();
            let shows = !char.is_whitespace() && !is_ignorable(char);
            assert!(first.is_some() || !shows, "{char:?}");
            assert!(first != Some('#') || is_before_a_tag(char), "{char:?}");
        }
    }

    #[test]
    fn escapes_leave_no_hash() {
        let mut key = "TAG#".to_owned();
        escape("c# 100% %23", &mut key);
        assert_eq!(key, "TAG#c%23 100%25 %2523");
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in any::<String>(), near in "[Σςİıßﬁ\u{345}\u{307}\u{200b}Ǆé가ᅠ ´A-Z]{0,12}") {
            for text in [text, near] {
                let folded = fold(&text);
                prop_assert_eq!(&fold(&folded), &folded);
            }
        }

        #[test]
        fn different_texts_have_different_escapes(one: String, other: String) {
            let (mut a, mut b) = (String::new(), String::new());
            escape(&one, &mut a);
            escape(&other, &mut b);
            prop_assert_eq!(a == b, one == other);
            prop_assert!(!a.contains('#'));
            prop_assert_eq!(a.replace("%23", "#").replace("%25", "%"), one);
        }
    }
}
