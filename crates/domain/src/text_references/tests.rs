//! Parsing of tags and nicknames (R18, R26).

use proptest::prelude::*;

use super::*;

fn tags(text: &str) -> Vec<String> {
    parse_references(text).tags.iter().map(ToString::to_string).collect()
}

fn nicknames(text: &str) -> Vec<String> {
    parse_references(text).nicknames.iter().map(ToString::to_string).collect()
}

#[test]
fn tags_are_found_as_people_write_them() {
    for (text, expected) in [
        ("#running at dawn", &["running"][..]),
        ("so (#running), #sunrise! #Run_2025.", &["running", "sunrise", "Run_2025"]),
        ("#Running #running #ＲＵＮＮＩＮＧ", &["Running"]),
        (
            "#été #E\u{301}te\u{301} #日本語 #नमस्ते #می\u{200c}خواهم",
            &["été", "日本語", "नमस्ते", "می\u{200c}خواهم"],
        ),
        ("＃走る ﹟run", &["走る", "run"]),
        ("#c++ #50cent #rock'n'roll", &["c", "50cent", "rock"]),
        ("line\n#next", &["next"]),
    ] {
        assert_eq!(tags(text), expected, "{text}");
    }
}

#[test]
fn invalid_tags_are_plain_text() {
    for text in [
        "",
        "#",
        "# space",
        "#1 #2025 #_ #__",
        "##double",
        "C#minor a#b",
        "https://example.com/#about https://example.com/a#b?x=#c",
        "&#39;quoted&#39;",
        "#\u{200d} #\u{301} #🎉 #!",
    ] {
        assert!(tags(text).is_empty(), "{text}: {:?}", tags(text));
    }
}

#[test]
fn nicknames_are_found_as_people_write_them() {
    for (text, expected) in [
        ("@ana and @bo.", &["ana", "bo"][..]),
        ("(@ana-maria, @j.r.r, @x_1): @Ana", &["ana-maria", "j.r.r", "x_1", "Ana"]),
        ("@ana's, @ANA", &["ana"]),
        ("＠花子 @42", &["花子", "42"]),
        ("@ana... @bo- @cleo", &["ana", "bo", "cleo"]),
    ] {
        assert_eq!(nicknames(text), expected, "{text}");
    }
}

#[test]
fn invalid_nicknames_are_plain_text() {
    for text in [
        "@",
        "@ ana",
        "ana@example.com",
        "@ana@example.com",
        "@@ana",
        "https://example.com/@ana",
        "@.ana @-bo @_",
        "@\u{301}ana",
    ] {
        assert!(nicknames(text).is_empty(), "{text}: {:?}", nicknames(text));
    }
}

#[test]
fn tags_and_nicknames_are_limited() {
    let many = (0..100).map(|n| format!("#tag{n} @person{n}")).collect::<Vec<_>>().join(" ");
    let named = parse_references(&many);
    assert_eq!((named.tags.len(), named.nicknames.len()), (TAGS_MAX, MENTIONS_MAX));
    assert_eq!(named.tags.last().map(ToString::to_string).as_deref(), Some("tag29"));
    let long = "x".repeat(Tag::CHARS_MAX + 1);
    assert!(tags(&format!("#{long}")).is_empty());
    assert!(nicknames(&format!("@{long}")).is_empty());
    assert_eq!(tags(&format!("#{}", "x".repeat(Tag::CHARS_MAX))).len(), 1);
}

proptest! {
    /// R18: names are bounded, unique, and in the text behind their sign.
    #[test]
    fn every_name_is_in_the_text_once(text in ".{0,200}", near in "[#@＃ a-cA-C1_.\u{301}\u{200d}é日/&-]{0,80}") {
        for text in [text, near] {
            let TextReferences { tags, nicknames } = parse_references(&text);
            prop_assert!(tags.len() <= TAGS_MAX && nicknames.len() <= MENTIONS_MAX);
            for (at, tag) in tags.iter().enumerate() {
                let signs = ["#", "＃", "﹟"];
                let written = |sign: &&str| text.contains(&format!("{sign}{tag}"));
                prop_assert!(signs.iter().any(written));
                prop_assert!(!tags.iter().skip(at + 1).any(|other| other.same_as(tag)));
                prop_assert!(tag.as_str().chars().all(is_word));
                prop_assert!(tag.as_str().contains(char::is_alphabetic));
            }
            for (at, name) in nicknames.iter().enumerate() {
                let signs = ["@", "＠"];
                let written = |sign: &&str| text.contains(&format!("{sign}{name}"));
                prop_assert!(signs.iter().any(written));
                prop_assert!(!nicknames.iter().skip(at + 1).any(|other| other.same_as(name)));
            }
        }
    }

    /// R26: a tag between spaces is found in any spelling.
    #[test]
    fn a_written_tag_is_found(
        before in "[a-z ,.!]{0,20}",
        word in "[\\p{L}_][\\p{L}\\p{N}_]{0,20}",
        after in "[a-z ,.!]{0,20}",
    ) {
        prop_assume!(word.contains(char::is_alphabetic));
        let Ok(tag) = word.parse::<Tag>() else { return Ok(()) };
        let found = parse_references(&format!("{before} #{word} {after}"));
        prop_assert_eq!(found.tags.len(), 1, "{:?}", found);
        prop_assert!(found.tags.iter().all(|found| found.same_as(&tag)));
    }
}
