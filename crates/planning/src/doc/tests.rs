use roundtable_model::shape::KeySegment;

use super::*;
use crate::test_schema::{PatternDraft, entity, otherwise, query, table, when};

fn page() -> &'static TableShape {
    table("gg_core")
        .entity(
            entity("User", "id: UserId", "USER#{id}", "PROFILE#{id}")
                .part("mut nickname: Nickname")
                .field("id", "UserId", "Who.")
                .field("bio", "text", "In a | few words.")
                .key(Index::Gsi2, "NICK#{nickname}", "PROFILE#{id}"),
        )
        .entity(
            entity("Follow", "a: UserId, b: UserId", "USER#{a}", "FOLLOWING#{b}")
                .part("mut status: FollowStatus")
                .key_if(Index::Gsi1, when("active", "status"), "USER#{b}[#{shard}]", "FOLLOWER#{a}")
                .key_if(Index::Gsi1, otherwise(), "USER#{b}", "REQUEST#{a}"),
        )
        .pattern(
            query("profile", "id: UserId", Index::Main, "USER#{id}", "PROFILE#{id}", "User").get(),
        )
        .pattern(
            query("followers", "user: UserId", Index::Gsi1, "USER#{user}", "FOLLOWER#", "Follow")
                .about("Who | follows."),
        )
        .pattern(
            query("by_word", "word: Tag", Index::Main, "USER#{user}", "FOLLOWING#", "Follow")
                .having("words", "word"),
        )
        .composite("circle", &["profile", "followers"])
        .accepts("hot", "Follow", Index::Gsi1)
        .accepts("hot", "Follow", Index::Gsi2)
        .accepts("hot", "User", Index::Gsi2)
        .accepts("unbounded", "User", Index::Main)
        .shape()
}

fn lines_with<'a>(text: &'a str, wanted: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.contains(wanted)).collect()
}

#[test]
fn the_head_says_that_the_document_is_generated() {
    let text = render(&[page()]);
    assert!(text.starts_with("# The table\n"));
    assert!(text.contains("roundtable table doc --write docs/TABLE.md"));
    assert!(text.contains("Do not\n> edit it"));
}

#[test]
fn entities_have_their_keys_with_conditions() {
    let text = render(&[page()]);
    let row = "| [Follow](#follow) | `USER#{a}` | `FOLLOWING#{b}` | \
               `USER#{b}[#{shard}]` / `FOLLOWER#{a}` if `active(status)`<br>\
               `USER#{b}` / `REQUEST#{a}` else |  |";
    assert_eq!(lines_with(&text, row), [row]);
}

#[test]
fn attributes_have_a_description_and_the_keys_that_contain_them() {
    let text = render(&[page()]);
    assert!(text.contains("\n| `id` | UserId | Who. | PK, SK, GSI2SK |\n"), "{text}");
    assert!(text.contains("\n| `nickname` | Nickname |  | GSI2PK; may change |\n"), "{text}");
    assert!(text.contains("\n| `bio` | text | In a \\| few words. |  |\n"), "{text}");
    assert!(text.contains("\n| `status` | FollowStatus | may change |\n"), "{text}");
}

#[test]
fn indexes_list_their_keys_and_patterns() {
    let text = render(&[page()]);
    let (_, gsi1) = text.split_once("### GSI1 of gg_core").unwrap();
    let (gsi1, rest) = gsi1.split_once("### GSI2 of gg_core").unwrap();
    let followers = "| `USER#{b}[#{shard}]` | `FOLLOWER#{a}` | [Follow](#follow) | \
                     if `active(status)` | `followers` |";
    assert_eq!(lines_with(gsi1, "FOLLOWER#"), [followers]);
    let requests = "| `USER#{b}` | `REQUEST#{a}` | [Follow](#follow) | else |  |";
    assert_eq!(lines_with(gsi1, "REQUEST#"), [requests]);
    assert!(rest.contains("### GSI3 of gg_core\n\nUnused.\n"));
}

#[test]
fn patterns_are_listed_with_their_reads() {
    let text = render(&[page()]);
    let profile = "| `profile(id: UserId)` | get | table | `USER#{id}` and `PROFILE#{id}` |  | \
                   strong |  |  | [User](#user) |";
    assert_eq!(lines_with(&text, "`profile(id"), [profile]);
    let followers = "| `followers(user: UserId)`<br>Who \\| follows. | query | GSI1 | \
                     `USER#{user}` begins `FOLLOWER#` | ↓ | eventual | 20 |  | [Follow](#follow) |";
    assert_eq!(lines_with(&text, "`followers(user"), [followers]);
    assert!(lines_with(&text, "`by_word(")[0].contains("| `words` has `word` |"));
    assert_eq!(
        lines_with(&text, "| `circle` |"),
        ["| `circle` | `profile`, `followers` | Both. |"]
    );
}

#[test]
fn accepted_findings_are_listed_with_their_reasons() {
    let text = render(&[page()]);
    assert_eq!(
        lines_with(&text, "It is so."),
        [
            "| `hot` | `Follow` in GSI1, `Follow` in GSI2, `User` in GSI2 | It is so. |",
            "| `unbounded` | `User` | It is so. |"
        ]
    );
    let without = render(&[table("plain").shape()]);
    assert!(!without.contains("Accepted lint findings"));
}

#[test]
fn every_link_leads_to_a_heading() {
    let text = render(&[page(), table("gg_ops").shape()]);
    let headings: Vec<String> = text
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| markdown::anchor(line.trim_start_matches('#').trim_start()))
        .collect();
    let mut links = 0;
    for target in text.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
        links += 1;
        let found = headings.iter().filter(|heading| *heading == target).count();
        assert_eq!(found, 1, "#{target} among {headings:?}");
    }
    assert!(links > 6, "only {links} links in {text}");
}

/// As the prose states: an id follows a time, unless the partition has one item for each time.
#[test]
fn a_sort_key_that_ends_in_a_time_is_unique() {
    let tables = roundtable_model::SCHEMA.iter().flat_map(|table| table.entities);
    let keys = tables.flat_map(|entity| entity.keys.iter().map(move |key| (entity, key)));
    let mut at_the_end = Vec::new();
    for (entity, key) in keys {
        let Some(KeySegment::Part { name, method: None }) = key.sort.segments.last() else {
            continue;
        };
        let part = entity.identity.iter().find(|part| part.name == *name).map(|part| part.kind);
        let field = entity.fields.iter().find(|field| field.field == *name);
        if !matches!(part.or(field.map(|field| field.kind)), Some("Time" | "time")) {
            continue;
        }
        at_the_end.push((entity.name, key.index));
        for part in entity.identity {
            let in_key = key.partition.parts().chain(key.sort.parts()).any(|it| it == part.name);
            assert!(in_key, "two of {} in {} may be one", entity.name, key.index);
        }
    }
    assert_eq!(at_the_end, [("User", Index::Gsi1), ("LoginAttempt", Index::Main)]);
}

#[test]
fn conditions_name_fields_everywhere() {
    let text = render(roundtable_model::SCHEMA);
    // In the overview, by index and by entity.
    assert_eq!(text.matches("if `due_at` and `open(done)`").count(), 3);
    assert!(!text.contains("if `dueAt`"), "attributes are for the table of attributes");
}

#[test]
fn the_same_schema_gives_the_same_text() {
    assert_eq!(render(&[page()]), render(&[page()]));
}
