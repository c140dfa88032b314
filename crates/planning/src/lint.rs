//! Risks of the schema: hot partitions, unbounded collections, filters after the limit, mutable
//! keys, mixed roles, orders that no query returns, items that no purge removes. It does not guess
//! at traffic: the schema accepts a finding with a reason.
//!
//! | lint | fires if |
//! |---|---|
//! | `hot` | all writes, or those of any user to a popular object or user, go to one partition |
//! | `unbounded` | a partition grows with time, and some of its items have no ttl |
//! | `filter-after-limit` | a pattern drops items that it has read and paid for |
//! | `mutable-key` | a change of a field moves an index entry |
//! | `mixed-roles` | one index partition holds both a user's actions and actions on the user |
//! | `type-before-time` | no query returns several kinds of one partition in time order |
//! | `unowned` | items have no owner and never expire |
//! | `undeclared-owner` | a field of the keys names an owner, but is not declared as one |
//! | `partial-owner` | a purge does not find all items of an owner |
//! | `stale-acceptance` | the schema accepts a finding that does not exist |

mod filter_after_limit;
mod hot;
mod mixed_roles;
mod mutable_keys;
mod owners;
mod parts;
mod type_before_time;
mod unbounded;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use roundtable_model::shape::{EntityShape, Index, TableShape};
use roundtable_table::Item;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LintRule {
    /// Many users write to one partition.
    Hot,
    Unbounded,
    /// A pattern drops items that it has read.
    FilterAfterLimit,
    MutableKey,
    /// A partition holds both a user's actions and actions on the user.
    MixedRoles,
    /// No query returns several kinds in time order.
    TypeBeforeTime,
    /// Items have no owner and never expire.
    Unowned,
    /// A field of the keys names an owner, but is not declared as one.
    UndeclaredOwner,
    /// A purge does not find all items of an owner.
    PartialOwner,
    /// The schema accepts a finding that does not exist.
    StaleAcceptance,
}

impl LintRule {
    /// Returns its name in the schema and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Unbounded => "unbounded",
            Self::FilterAfterLimit => "filter-after-limit",
            Self::MutableKey => "mutable-key",
            Self::MixedRoles => "mixed-roles",
            Self::TypeBeforeTime => "type-before-time",
            Self::Unowned => "unowned",
            Self::UndeclaredOwner => "undeclared-owner",
            Self::PartialOwner => "partial-owner",
            Self::StaleAcceptance => "stale-acceptance",
        }
    }
}

impl fmt::Display for LintRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    pub lint: LintRule,
    pub table: &'static str,
    pub subject: &'static str,
    /// The index; [`Index::Main`] is the table itself.
    pub index: Index,
    pub message: String,
    pub remedy: String,
    /// The reason the schema gives for accepting it.
    pub accepted: Option<&'static str>,
}

impl LintFinding {
    /// Returns whether the schema does not accept the finding.
    pub const fn is_open(&self) -> bool {
        self.accepted.is_none()
    }
}

/// Returns all findings in `schema`; `bytes` returns the size of a typical item of an entity.
pub fn check(schema: &[&TableShape], bytes: &dyn Fn(&EntityShape) -> usize) -> Vec<LintFinding> {
    schema.iter().flat_map(|table| check_table(table, bytes)).collect()
}

fn check_table(table: &TableShape, bytes: &dyn Fn(&EntityShape) -> usize) -> Vec<LintFinding> {
    let mut findings = hot::check(table, bytes);
    findings.extend(unbounded::check(table));
    findings.extend(filter_after_limit::check(table));
    findings.extend(mutable_keys::check(table));
    findings.extend(mixed_roles::check(table));
    findings.extend(type_before_time::check(table));
    findings.extend(owners::check(table));
    let mut stale = Vec::new();
    for accepted in table.accepted {
        let mut matched = findings.iter_mut().filter(|finding| {
            finding.lint.name() == accepted.lint
                && finding.subject == accepted.subject
                && finding.index == accepted.index
        });
        match matched.next() {
            Some(finding) => finding.accepted = Some(accepted.reason),
            None => stale.push(LintFinding {
                lint: LintRule::StaleAcceptance,
                table: table.name,
                subject: accepted.subject,
                index: accepted.index,
                message: format!(
                    "the schema accepts `{}` here, but there is no such finding",
                    accepted.lint
                ),
                remedy: String::from("remove the acceptance from the schema"),
                accepted: None,
            }),
        }
    }
    findings.append(&mut stale);
    findings
}

/// Returns the sizes of `samples`, for [`check`]. An entity without a sample counts as an empty
/// item.
pub fn sizes(samples: &[(&'static EntityShape, Item)]) -> impl Fn(&EntityShape) -> usize + use<> {
    let sizes: BTreeMap<&str, usize> =
        samples.iter().map(|(entity, item)| (entity.name, item.size())).collect();
    move |entity| sizes.get(entity.name).copied().unwrap_or_default()
}

/// Renders the findings as text, open ones first.
pub fn render(findings: &[LintFinding]) -> String {
    let (open, accepted): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding.is_open());
    let mut text = String::new();
    for finding in open.iter().chain(&accepted) {
        let LintFinding { lint, table, subject, index, message, remedy, accepted } = finding;
        let location = match index {
            Index::Main => format!("table {table}"),
            index => format!("{index} of {table}"),
        };
        let mark = if finding.is_open() { "open" } else { "ok  " };
        let _ = writeln!(text, "{mark}  {lint}: {subject} in {location}");
        wrap(&mut text, message);
        match accepted {
            Some(reason) => wrap(&mut text, &format!("accepted: {reason}")),
            None => wrap(&mut text, &format!("remedy: {remedy}")),
        }
    }
    let _ = match (open.len(), accepted.len()) {
        (0, 0) => writeln!(text, "No findings."),
        (open, accepted) => writeln!(text, "{open} open, {accepted} accepted."),
    };
    text
}

/// Breaks a sentence into indented lines of terminal width.
fn wrap(text: &mut String, sentence: &str) {
    const INDENT: &str = "      ";
    const COLUMNS_MAX: usize = 100;
    let mut columns = COLUMNS_MAX;
    for (at, word) in sentence.split(' ').enumerate() {
        let wide = word.chars().count();
        if at == 0 || columns + 1 + wide > COLUMNS_MAX {
            if at > 0 {
                text.push('\n');
            }
            text.push_str(INDENT);
            columns = INDENT.len();
        } else {
            text.push(' ');
            columns += 1;
        }
        text.push_str(word);
        columns += wide;
    }
    text.push('\n');
}

/// Formats `A`, `A and B`, `A, B and C`.
fn listed<T: fmt::Display>(words: &[T], last_with: &str) -> String {
    let Some((last, first)) = words.split_last() else { return String::new() };
    if first.is_empty() {
        return last.to_string();
    }
    let first: Vec<String> = first.iter().map(ToString::to_string).collect();
    format!("{} {last_with} {last}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_schema::{entity, query, table};
    use roundtable_model::OwnerKind;
    use roundtable_table::item;

    fn noisy() -> crate::test_schema::TableDraft {
        table("noisy")
            .entity(
                entity("Song", "band: BandId, id: SongId", "BAND#{band}", "SONG#{id}")
                    .part("singer_id: SingerId")
                    .owner("band", OwnerKind::Group, &[0]),
            )
            .pattern(query("songs", "band: BandId", Index::Main, "BAND#{band}", "SONG#", "Song"))
    }

    fn seen(table: crate::test_schema::TableDraft) -> Vec<(LintRule, &'static str, bool)> {
        let findings = check(&[table.shape()], &|_| 100);
        findings.iter().map(|found| (found.lint, found.subject, found.is_open())).collect()
    }

    #[test]
    fn accepted_findings_are_not_open() {
        assert_eq!(
            seen(noisy()),
            [(LintRule::Hot, "Song", true), (LintRule::Unbounded, "Song", true)]
        );
        let accepting = noisy().accepts("hot", "Song", Index::Main);
        assert_eq!(
            seen(accepting),
            [(LintRule::Hot, "Song", false), (LintRule::Unbounded, "Song", true)]
        );
    }

    #[test]
    fn an_acceptance_without_a_finding_is_a_finding() {
        let stale = noisy().accepts("hot", "Song", Index::Gsi1);
        assert_eq!(seen(stale).last(), Some(&(LintRule::StaleAcceptance, "Song", true)));
        let stale = noisy().accepts("hott", "Song", Index::Main);
        assert_eq!(seen(stale).last(), Some(&(LintRule::StaleAcceptance, "Song", true)));
    }

    #[test]
    fn the_schema_accepts_all_its_findings() {
        let findings =
            check(roundtable_model::SCHEMA, &sizes(&roundtable_model::samples::typical()));
        for (lint, subject, index) in [
            (LintRule::Hot, "Notification", Index::Main),
            (LintRule::Hot, "UserCounter", Index::Main),
            (LintRule::Hot, "FeedItem", Index::Main),
            (LintRule::Hot, "Post", Index::Gsi2),
            (LintRule::Unbounded, "Message", Index::Main),
            (LintRule::Unbounded, "Post", Index::Gsi1),
            (LintRule::Unbounded, "Post", Index::Gsi3),
            (LintRule::Unbounded, "Like", Index::Gsi1),
        ] {
            let found = findings
                .iter()
                .filter(|it| (it.lint, it.subject, it.index) == (lint, subject, index));
            assert_eq!(found.count(), 1, "{lint}: {subject} in {index}");
        }
        // There is one follow for each pair of users, and feed items expire.
        for (subject, index) in [("Follow", Index::Gsi3), ("FeedItem", Index::Main)] {
            let found = |it: &LintFinding| (it.lint, it.subject) == (LintRule::Unbounded, subject);
            assert!(!findings.iter().any(|it| found(it) && it.index == index), "{subject}");
        }
        let open: Vec<&LintFinding> = findings.iter().filter(|finding| finding.is_open()).collect();
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn open_findings_come_first_and_accepted_ones_have_a_reason() {
        let page = noisy().accepts("hot", "Song", Index::Main).shape();
        let text = render(&check(&[page], &|_| 100));
        let heads: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
        assert_eq!(
            heads,
            [
                "open  unbounded: Song in table noisy",
                "ok    hot: Song in table noisy",
                "1 open, 1 accepted."
            ]
        );
        assert!(text.contains("accepted: It is so."), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert_eq!(render(&[]), "No findings.\n");
    }

    #[test]
    fn sizes_come_from_samples() {
        let page = noisy().shape();
        let song = page.entities[0];
        let of = sizes(&[(song, item! { "PK" => "BAND#x" })]);
        assert_eq!(of(song), 8);
        assert_eq!(sizes(&[])(song), 0);
    }

    #[test]
    fn lists_are_joined_with_commas_and_a_conjunction() {
        assert_eq!(listed::<&str>(&[], "and"), "");
        assert_eq!(listed(&["a"], "and"), "a");
        assert_eq!(listed(&["a", "b", "c"], "or"), "a, b or c");
    }
}
