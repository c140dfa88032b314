//! The rule for new nicknames. All names that exist already keep working.
//!
//! A nickname is what others are recognized by, so one must not look like another: it has letters and
//! digits of one script, and is spelled like no reserved word. Which characters are letters of names,
//! belong together and look alike is Unicode's data (UTS #39).

use roundtable_model::{InvalidValue, Nickname};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_security::{GeneralSecurityProfile, MixedScript, skeleton};

use crate::ServiceError;

/// Marks on one letter: scripts of India need three.
const MARKS_MAX: usize = 3;

/// Names that seem to speak for the installation, or for all users, or that stand for no user.
const RESERVED: [&str; 30] = [
    "abuse",
    "admin",
    "administration",
    "administrator",
    "all",
    "anonymous",
    "deleted",
    "everybody",
    "everyone",
    "here",
    "help",
    "hostmaster",
    "me",
    "mod",
    "moderation",
    "moderator",
    "nobody",
    "noreply",
    "null",
    "official",
    "operator",
    "postmaster",
    "root",
    "roundtable",
    "security",
    "staff",
    "support",
    "system",
    "undefined",
    "webmaster",
];

/// Refuses a name that breaks the rule, and names the part that it breaks.
pub(super) fn check_new(nickname: &Nickname) -> Result<(), ServiceError> {
    let name: String = nickname.as_str().nfc().collect();
    let refused = |expected, found: &dyn std::fmt::Display| {
        Err(ServiceError::bad_input("nickname", InvalidValue::new(expected, found)))
    };
    if let Some(other) = name.chars().find(|char| !is_allowed(*char)) {
        let shown = if other.is_alphanumeric() || other.is_ascii_graphic() {
            format!("\"{other}\" (U+{:04X})", u32::from(other))
        } else {
            format!("U+{:04X}", u32::from(other))
        };
        return refused("a nickname of letters, digits, `_`, `.` and `-`", &shown);
    }
    let is_edge = |char: Option<char>| char.is_some_and(|char| !matches!(char, '.' | '-'));
    if !is_edge(name.chars().next()) || !is_edge(name.chars().next_back()) {
        return refused(
            "a nickname that begins and ends with a letter, a digit or `_`",
            &quoted(&name),
        );
    }
    if !name.chars().any(char::is_alphanumeric) {
        return refused("a nickname with a letter or digit", &quoted(&name));
    }
    if has_stray_marks(&name) {
        return refused("a nickname with at most 3 marks on each letter", &quoted(&name));
    }
    if !name.as_str().is_single_script() {
        return refused("a nickname in the letters of one script", &quoted(&name));
    }
    if is_latin_lookalike(&name) {
        return refused("a nickname that cannot be read as Latin letters", &quoted(&name));
    }
    let bare: String = name.chars().filter(|char| !matches!(char, '_' | '.' | '-')).collect();
    let looks = look(&bare);
    if let Some(word) = RESERVED.into_iter().find(|word| look(word) == looks) {
        return refused("a nickname that is not reserved", &format_args!("the word \"{word}\""));
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn is_allowed(char: char) -> bool {
    let is_sign = matches!(char, '_' | '.' | '-');
    is_sign || (char.is_alphanumeric() || is_combining_mark(char)) && char.identifier_allowed()
}

/// Returns whether a mark stands alone, or too many stand on one letter.
fn has_stray_marks(name: &str) -> bool {
    let mut marks = MARKS_MAX;
    name.chars().any(|char| {
        marks = if is_combining_mark(char) { marks + 1 } else { 0 };
        marks > MARKS_MAX
    }) || name.chars().zip(name.chars().skip(1)).any(|(before, char)| {
        is_combining_mark(char) && !before.is_alphanumeric() && !is_combining_mark(before)
    })
}

/// Returns whether a name of another script looks like Latin letters, in either case.
fn is_latin_lookalike(name: &str) -> bool {
    let looks_latin = |name: &str| skeleton(name).all(|char| char.is_ascii());
    let has_latin = name.chars().any(|char| char.is_ascii_alphabetic());
    !has_latin && !name.is_ascii() && (looks_latin(name) || looks_latin(&name.to_lowercase()))
}

/// Returns the same text for names that look alike; stricter than Unicode for `I` and `l`, because either
/// may be lower case here.
fn look(name: &str) -> String {
    let lower: String = skeleton(name).collect::<String>().to_lowercase();
    skeleton(&lower).map(|char| if char == 'i' { 'l' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> String {
        let nickname: Nickname = name.parse().unwrap();
        check_new(&nickname).expect_err(name).to_string()
    }

    #[test]
    fn names_of_every_script_are_accepted() {
        for name in [
            "ana",
            "Ana_1",
            "a",
            "7",
            "_ana_",
            "ana.b-c",
            "zoë",
            "zoe\u{308}",
            "ANA",
            "straße",
            "anıl",
            "Łukasz",
            "nguyễn",
            "мария",
            "Юрий_1",
            "γιώργος",
            "דוד",
            "محمد",
            "मीनाक्षी",
            "สมชาย",
            "山田",
            "やまだ",
            "山田タロウ",
            "김민준",
            "corn",
            "administer",
            "me2",
            "allan",
            "modena",
        ] {
            let nickname: Nickname = name.parse().unwrap();
            check_new(&nickname).unwrap_or_else(|refused| panic!("{name}: {refused}"));
        }
    }

    #[test]
    fn each_part_of_the_rule_is_named() {
        for (part, names) in [
            (
                "letters, digits, `_`, `.` and `-`",
                &[
                    "ana b",
                    "<b>ana</b>",
                    "ana#1",
                    "ana@b",
                    "ana/..",
                    "ana'",
                    "ana\u{202e}nimda",
                    "a\u{2066}na",
                    "a\u{200b}na",
                    "a\u{200d}na",
                    "ana😀",
                    "ａｎａ",
                    "²ana",
                    "ana\u{ad}",
                    "ℵ",
                    "𝐚𝐧𝐚",
                    "ɑna",
                ][..],
            ),
            ("begins and ends", &[".ana", "ana.", "-ana", "ana-"]),
            ("with a letter or digit", &["_", "__", "_._"]),
            ("at most 3 marks", &["q\u{301}\u{301}\u{301}\u{301}", "\u{301}ana", "ana_\u{301}"]),
            ("one script", &["аdmin", "pаypal", "anaя", "ωmega", "ana山", "раyраl"]),
            ("read as Latin", &["сосо", "рорау", "СОСО"]),
            (
                "not reserved",
                &[
                    "admin",
                    "Admin",
                    "ADMIN",
                    "a.d-m_i.n",
                    "_admin_",
                    "ADMlN",
                    "adrnin",
                    "admın",
                    "r00t",
                    "roundtable",
                    "me",
                    "everyone",
                ],
            ),
        ] {
            for name in names {
                let message = refused(name);
                assert!(message.starts_with("nickname: expected a nickname"), "{message}");
                assert!(message.contains(part), "{name}: {message}");
            }
        }
    }
}
