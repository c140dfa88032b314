//! Where the schema asks for trouble: hot partitions, collections without end, filters after the
//! limit, keys that move, roles that mix, orders that no query gives. It names what the page shows
//! and refuses to guess at traffic: the page says what is as it should be, with a reason.
//!
//! | lint | fires when |
//! |---|---|
//! | `hot` | writes of everybody, or of anybody to a popular thing or person, meet in one partition |
//! | `unbounded` | a partition gathers items for as long as time goes on, and some have no ttl |
//! | `filter-after-limit` | a question throws away what it has read and paid for |
//! | `mutable-key` | a change of a field moves an index entry |
//! | `mixed-roles` | one index partition holds what somebody did and what was done to them |
//! | `type-before-time` | no query gives several kinds of one partition in the order of time |
//! | `stale-acceptance` | the page accepts a finding that is not there |

mod filters;
mod growth;
mod heat;
mod moves;
mod order;
mod parts;
mod roles;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use roundtable_table::Item;

use crate::shape::{EntityShape, Index, TableShape};

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lint {
    /// Writes of many meet in one partition.
    Hot,
    /// A partition grows with time.
    Unbounded,
    /// A question drops what it has read.
    FilterAfterLimit,
    /// An index entry moves when a field changes.
    MutableKey,
    /// A partition holds what somebody did and what was done to them.
    MixedRoles,
    /// No query gives several kinds in the order of time.
    TypeBeforeTime,
    /// The page accepts what is not there.
    StaleAcceptance,
}

impl Lint {
    /// Its name on the page and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Unbounded => "unbounded",
            Self::FilterAfterLimit => "filter-after-limit",
            Self::MutableKey => "mutable-key",
            Self::MixedRoles => "mixed-roles",
            Self::TypeBeforeTime => "type-before-time",
            Self::StaleAcceptance => "stale-acceptance",
        }
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something the lint noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked for.
    pub lint: Lint,
    /// The table.
    pub table: &'static str,
    /// The entity or pattern.
    pub subject: &'static str,
    /// The index; the table itself when it is [`Index::Main`].
    pub index: Index,
    /// What was found.
    pub message: String,
    /// What would help.
    pub remedy: String,
    /// Why it is as it should be, if the page says so.
    pub accepted: Option<&'static str>,
}

impl Finding {
    /// Whether somebody has to do something about it.
    pub const fn is_open(&self) -> bool {
        self.accepted.is_none()
    }
}

/// Everything there is to find in `schema`; `bytes` is the size of a typical item of an entity.
pub fn check(schema: &[&TableShape], bytes: &dyn Fn(&EntityShape) -> usize) -> Vec<Finding> {
    schema.iter().flat_map(|table| check_table(table, bytes)).collect()
}

fn check_table(table: &TableShape, bytes: &dyn Fn(&EntityShape) -> usize) -> Vec<Finding> {
    let mut findings = heat::check(table, bytes);
    findings.extend(growth::check(table));
    findings.extend(filters::check(table));
    findings.extend(moves::check(table));
    findings.extend(roles::check(table));
    findings.extend(order::check(table));
    let mut stale = Vec::new();
    for accepted in table.accepted {
        let mut matched = findings.iter_mut().filter(|finding| {
            finding.lint.name() == accepted.lint
                && finding.subject == accepted.subject
                && finding.index == accepted.index
        });
        match matched.next() {
            Some(finding) => finding.accepted = Some(accepted.reason),
            None => stale.push(Finding {
                lint: Lint::StaleAcceptance,
                table: table.name,
                subject: accepted.subject,
                index: accepted.index,
                message: format!("the page accepts `{}` here, but there is none", accepted.lint),
                remedy: String::from("take the acceptance off the page"),
                accepted: None,
            }),
        }
    }
    findings.append(&mut stale);
    findings
}

/// The sizes of `samples`, for [`check`]. An entity without one counts as the smallest item.
pub fn sizes(samples: &[(&'static EntityShape, Item)]) -> impl Fn(&EntityShape) -> usize + use<> {
    let sizes: BTreeMap<&str, usize> =
        samples.iter().map(|(entity, item)| (entity.name, item.size())).collect();
    move |entity| sizes.get(entity.name).copied().unwrap_or_default()
}

/// The findings as text: those somebody has to do something about first.
pub fn render(findings: &[Finding]) -> String {
    let (open, accepted): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding.is_open());
    let mut text = String::new();
    for finding in open.iter().chain(&accepted) {
        let Finding { lint, table, subject, index, message, remedy, accepted } = finding;
        let place = match index {
            Index::Main => format!("table {table}"),
            index => format!("{index} of {table}"),
        };
        let mark = if finding.is_open() { "open" } else { "ok  " };
        let _ = writeln!(text, "{mark}  {lint}: {subject} in {place}");
        wrap(&mut text, message);
        match accepted {
            Some(reason) => wrap(&mut text, &format!("accepted: {reason}")),
            None => wrap(&mut text, &format!("remedy: {remedy}")),
        }
    }
    let _ = match (open.len(), accepted.len()) {
        (0, 0) => writeln!(text, "Nothing found."),
        (open, accepted) => writeln!(text, "{open} open, {accepted} accepted."),
    };
    text
}

/// Breaks a sentence into indented lines that fit a terminal.
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

/// `A`, `A and B`, `A, B and C`.
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
    use crate::derived::draft::{entity, query, table};
    use roundtable_table::item;

    fn noisy() -> crate::derived::draft::Table {
        table("noisy")
            .entity(
                entity("Song", "band: BandId, id: SongId", "BAND#{band}", "SONG#{id}")
                    .part("user_id: UserId"),
            )
            .asks(query("songs", "band: BandId", Index::Main, "BAND#{band}", "SONG#", "Song"))
    }

    fn seen(table: crate::derived::draft::Table) -> Vec<(Lint, &'static str, bool)> {
        let findings = check(&[table.shape()], &|_| 100);
        findings.iter().map(|found| (found.lint, found.subject, found.is_open())).collect()
    }

    #[test]
    fn what_the_page_accepts_is_not_open() {
        assert_eq!(seen(noisy()), [(Lint::Hot, "Song", true), (Lint::Unbounded, "Song", true)]);
        let accepting = noisy().accepts("hot", "Song", Index::Main);
        assert_eq!(seen(accepting), [(Lint::Hot, "Song", false), (Lint::Unbounded, "Song", true)]);
    }

    #[test]
    fn an_acceptance_of_nothing_is_a_finding() {
        let stale = noisy().accepts("hot", "Song", Index::Gsi1);
        assert_eq!(seen(stale).last(), Some(&(Lint::StaleAcceptance, "Song", true)));
        let stale = noisy().accepts("hott", "Song", Index::Main);
        assert_eq!(seen(stale).last(), Some(&(Lint::StaleAcceptance, "Song", true)));
    }

    /// What the page must speak for: what others do to the famous, what has no end, what has shards.
    #[test]
    fn the_schema_gives_its_reasons() {
        let findings = check(crate::SCHEMA, &sizes(&crate::samples::typical()));
        for (lint, subject, index) in [
            (Lint::Hot, "Notification", Index::Main),
            (Lint::Hot, "UserCounter", Index::Main),
            (Lint::Hot, "FeedItem", Index::Main),
            (Lint::Hot, "Post", Index::Gsi2),
            (Lint::Unbounded, "Message", Index::Main),
            (Lint::Unbounded, "Post", Index::Gsi1),
            (Lint::Unbounded, "Post", Index::Gsi3),
            (Lint::Unbounded, "Like", Index::Gsi1),
        ] {
            let found = findings
                .iter()
                .filter(|it| (it.lint, it.subject, it.index) == (lint, subject, index));
            assert_eq!(found.count(), 1, "{lint}: {subject} in {index}");
        }
        // A follow is for each other person, and a feed's items expire.
        for (subject, index) in [("Follow", Index::Gsi3), ("FeedItem", Index::Main)] {
            let found = |it: &Finding| (it.lint, it.subject) == (Lint::Unbounded, subject);
            assert!(!findings.iter().any(|it| found(it) && it.index == index), "{subject}");
        }
        let open: Vec<&Finding> = findings.iter().filter(|finding| finding.is_open()).collect();
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn open_findings_come_first_and_accepted_ones_say_why() {
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
        assert_eq!(render(&[]), "Nothing found.\n");
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
    fn lists_read_as_people_write_them() {
        assert_eq!(listed::<&str>(&[], "and"), "");
        assert_eq!(listed(&["a"], "and"), "a");
        assert_eq!(listed(&["a", "b", "c"], "or"), "a, b or c");
    }
}
