//! The second pass: reads the tallies of a few buckets in full and turns mismatches into findings.

use std::collections::HashMap;

use roundtable_model::entities::User;
use roundtable_model::shape::Index;

use crate::finding::{Finding, Findings, Invariant, Repair};
use crate::subject::{TallySubject, key_text};
use crate::sums::{BucketSet, KeyHash, TallySums};
use crate::tally::{EntryRole, TallyEntry, TallyKind};
use crate::tally_source::{DELETED, attribute, describe_facts};

/// Separates an item's key in an index from the digest of its content.
const CONTENT: char = '\u{1f}';

/// Receives entries: all of them as sums, or some of them in full.
pub(crate) trait TallySink {
    fn add_entry(&mut self, entry: TallyEntry);

    /// Adds that an item belongs in an index, or that the index shows it.
    fn add_index_entry(&mut self, entry: &IndexEntry<'_>, role: EntryRole);
}

/// An item's entry in an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexEntry<'a> {
    pub(crate) kind: TallyKind,
    /// The item's own key.
    pub(crate) base: (&'a str, &'a str),
    pub(crate) key: (&'a str, &'a str),
    pub(crate) digest: u64,
}

impl TallySink for TallySums {
    fn add_entry(&mut self, entry: TallyEntry) {
        // The sums need no owners, and most items are one.
        if entry.role == EntryRole::Owner {
            return;
        }
        let key = entry.subject.key(entry.kind);
        let part = roundtable_model::table::Scalar::as_text;
        let sort = key.sort.as_ref().and_then(part).unwrap_or_default();
        Self::add_entry(self, &entry, part(&key.partition).unwrap_or_default(), sort);
    }

    fn add_index_entry(&mut self, entry: &IndexEntry<'_>, role: EntryRole) {
        // Cheaper than the text label of the second pass, and equal whenever that is.
        let key_hash = KeyHash::of(entry.base.0, entry.base.1);
        let index_hash = KeyHash::of(entry.key.0, entry.key.1);
        let label: [u64; 2] = [index_hash.0, entry.digest];
        let label = label.map(u64::to_le_bytes);
        self.add(entry.kind, (key_hash, label.as_flattened()), role, 1);
    }
}

/// The tallies of some buckets.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    buckets: BucketSet,
    tallies: HashMap<(TallyKind, KeyHash), TallyRecord>,
}

#[derive(Debug)]
struct TallyRecord {
    subject: TallySubject,
    labels: Vec<LabelTotals>,
    /// True if an owner exists.
    is_owned: bool,
}

/// The entries of a tally that have the same label.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelTotals {
    label: String,
    facts: i128,
    stated: i128,
    /// True if any item states an amount, zero included.
    is_stated: bool,
}

impl LabelTotals {
    const fn matches(&self) -> bool {
        self.facts == self.stated
    }
}

impl TallyRecord {
    const fn new(subject: TallySubject) -> Self {
        Self { subject, labels: Vec::new(), is_owned: false }
    }

    /// Returns `true` if only remains of a deleted owner are left.
    fn is_moot(&self, kind: TallyKind) -> bool {
        let stated = self.labels.iter().any(|totals| totals.is_stated);
        !self.is_owned && (kind.outlives_owner() || kind.needs_owner() && !stated)
    }

    /// Returns `true` if a surplus may be expired facts: reads hide them at once, but they count
    /// until the store deletes them.
    fn may_count_expired(&self, kind: TallyKind) -> bool {
        kind == TallyKind::Counter
            && self.subject.counts_expiring_facts()
            && self.labels.iter().all(|totals| totals.stated >= totals.facts)
    }

    fn totals(&mut self, label: &str) -> Option<&mut LabelTotals> {
        let at = self.labels.iter().position(|totals| totals.label == label).unwrap_or_else(|| {
            let label = label.to_owned();
            self.labels.push(LabelTotals { label, facts: 0, stated: 0, is_stated: false });
            self.labels.len() - 1
        });
        self.labels.get_mut(at)
    }

    fn add(&mut self, label: &str, facts: i128, stated: Option<i128>) {
        if let Some(totals) = self.totals(label) {
            totals.facts += facts;
            totals.stated += stated.unwrap_or_default();
            totals.is_stated |= stated.is_some();
        }
    }
}

impl TallySink for Tallies {
    fn add_entry(&mut self, entry: TallyEntry) {
        let key = entry.subject.key(entry.kind);
        let part = roundtable_model::table::Scalar::as_text;
        let sort = key.sort.as_ref().and_then(part).unwrap_or_default();
        let key_hash = KeyHash::of(part(&key.partition).unwrap_or_default(), sort);
        if self.buckets.contains(entry.kind, key_hash) {
            self.add(entry, key_hash);
        }
    }

    fn add_index_entry(&mut self, entry: &IndexEntry<'_>, role: EntryRole) {
        let key_hash = KeyHash::of(entry.base.0, entry.base.1);
        if self.buckets.contains(entry.kind, key_hash) {
            let subject = TallySubject::Item(entry.base.into());
            let ((partition, sort), digest) = (entry.key, entry.digest);
            let label = format!("{partition} / {sort}{CONTENT}{digest:016x}");
            let fact = TallyEntry::fact(entry.kind, subject).label(label);
            self.add(TallyEntry { role, ..fact }, key_hash);
        }
    }
}

impl Tallies {
    pub(crate) fn of(buckets: BucketSet) -> Self {
        Self { buckets, tallies: HashMap::new() }
    }

    fn add(&mut self, entry: TallyEntry, key_hash: KeyHash) {
        let TallyEntry { kind, subject, label, role, amount } = entry;
        let tally =
            self.tallies.entry((kind, key_hash)).or_insert_with(|| TallyRecord::new(subject));
        match role {
            EntryRole::Fact => tally.add(&label, amount, None),
            EntryRole::Stated => tally.add(&label, 0, Some(amount)),
            EntryRole::Owner => tally.is_owned = true,
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for ((kind, key_hash), tally) in other.tallies {
            let TallyRecord { subject, labels, is_owned } = tally;
            let own =
                self.tallies.entry((kind, key_hash)).or_insert_with(|| TallyRecord::new(subject));
            own.is_owned |= is_owned;
            for LabelTotals { label, facts, stated, is_stated } in labels {
                own.add(&label, facts, is_stated.then_some(stated));
            }
        }
    }

    /// Adds a finding for each mismatch; returns how many it excused because expired facts were not
    /// `swept`.
    pub(crate) fn report_mismatches(self, swept: bool, findings: &mut Findings) -> u64 {
        let mut excused = 0;
        for ((kind, _), mut tally) in self.tallies {
            if tally.labels.iter().all(LabelTotals::matches) || tally.is_moot(kind) {
                continue;
            }
            if !swept && tally.may_count_expired(kind) {
                excused += 1;
                continue;
            }
            // Threads add labels in any order.
            tally.labels.sort_by(|one, other| one.label.cmp(&other.label));
            let found = match kind {
                TallyKind::Score => score_finding(&tally),
                TallyKind::Lock => Some(lock_finding(&tally)),
                TallyKind::Gsi1 | TallyKind::Gsi2 | TallyKind::Gsi3 => {
                    Some(index_finding(kind, &tally))
                }
                TallyKind::Reward
                | TallyKind::Tag
                | TallyKind::RoomMember
                | TallyKind::File
                | TallyKind::AssistHelper => Some(dependent_finding(kind, &tally)),
                // `ImageChains` reports these.
                TallyKind::Stream => None,
                _ => counter_finding(kind, &tally),
            };
            if let Some(finding) = found {
                findings.add(finding);
            }
        }
        excused
    }
}

fn counter_finding(kind: TallyKind, tally: &TallyRecord) -> Option<Finding> {
    let totals = tally.labels.first()?;
    let key = key_text(&tally.subject.key(kind));
    let (name, what) = (attribute(kind), describe_facts(kind, &tally.subject));
    let expected = format!("{name} {}, {what}", totals.facts);
    let found =
        if totals.is_stated { totals.stated.to_string() } else { String::from("no such item") };
    let repair = Repair::Recount(tally.subject.clone(), totals.facts);
    Some(Finding::new(Invariant::I1, key, expected, found, repair))
}

fn score_finding(tally: &TallyRecord) -> Option<Finding> {
    if tally.labels.iter().any(|totals| totals.label == DELETED) {
        return None;
    }
    let of = |wanted: fn(&LabelTotals) -> i128| {
        let totals = tally.labels.iter().find(|totals| wanted(totals) > 0);
        totals.map_or_else(|| String::from("no score"), |totals| format!("score {}", totals.label))
    };
    let key = key_text(&tally.subject.key(TallyKind::Score));
    let expected = format!("{}, as its counter says", of(|totals| totals.facts));
    let repair = Repair::Recount(tally.subject.clone(), 0);
    Some(Finding::new(Invariant::I6, key, expected, of(|totals| totals.stated), repair))
}

fn lock_finding(tally: &TallyRecord) -> Finding {
    let users_with = |wanted: fn(&LabelTotals) -> i128| -> Vec<&str> {
        let labels = tally.labels.iter().filter(|totals| wanted(totals) > 0);
        labels.map(|totals| &*totals.label).collect()
    };
    let (carriers, owners) =
        (users_with(|totals| totals.facts), users_with(|totals| totals.stated));
    let users = tally.labels.iter().filter_map(|totals| totals.label.parse().ok()).collect();
    let mut repair = Repair::RewriteLock(tally.subject.clone(), users);
    let expected = match &*carriers {
        [] => String::from("no lock: no live profile carries this name"),
        [one] => format!("a lock of {one}, whose profile carries this name"),
        _ => {
            repair = Repair::None("several users carry the name: rename all but one");
            String::from("one live profile that carries this name")
        }
    };
    let found = match (&*carriers, &*owners) {
        ([] | [_], []) => String::from("none"),
        ([] | [_], owners) => format!("a lock of {}", owners.join(", ")),
        (carriers, []) => format!("{}, and no lock", carriers.join(", ")),
        (carriers, owners) => {
            format!("{}; the lock is of {}", carriers.join(", "), owners.join(", "))
        }
    };
    let key = key_text(&tally.subject.key(TallyKind::Lock));
    let finding = Finding::new(Invariant::I2, key, expected, found, repair);
    let profiles = carriers.iter().chain(owners.iter().filter(|owner| !carriers.contains(owner)));
    profiles.fold(finding, |finding, user| match user.parse() {
        Ok(user) => finding.with_key(key_text(&User::at(&user).into_key())),
        Err(_) => finding,
    })
}

/// A mismatch of an item that exists because of another one.
fn dependent_finding(kind: TallyKind, tally: &TallyRecord) -> Finding {
    let (invariant, there, absent) = match kind {
        TallyKind::Reward => (Invariant::I6, "a reward of ", "none, as its quest is not completed"),
        TallyKind::RoomMember => {
            (Invariant::I15, "a room member", "none: the user is not in the group")
        }
        TallyKind::File => (Invariant::I6, "a file of ", "a file without a holder"),
        TallyKind::AssistHelper => {
            (Invariant::I6, "a helper entry", "none: the thread does not list this helper")
        }
        _ => (Invariant::I6, "a tag reference", "none: the entity does not carry the tag"),
    };
    let of = |wanted: fn(&LabelTotals) -> i128, absent: &str| {
        let labels = tally.labels.iter().filter(|totals| wanted(totals) > 0);
        let labels: Vec<String> = labels.map(|totals| format!("{there}{}", totals.label)).collect();
        if labels.is_empty() { absent.to_owned() } else { labels.join(", ") }
    };
    let expected = of(|totals| totals.facts, absent);
    let mut found = of(|totals| totals.stated, "none");
    if tally.labels.iter().any(|totals| totals.stated > 1) {
        found.push_str(", more than once");
    }
    let repair = match kind {
        TallyKind::File => Repair::None("either the file or its holder may be wrong"),
        TallyKind::AssistHelper => {
            Repair::None("either the thread or the helper entry may be wrong")
        }
        _ => Repair::RewriteDependent(tally.subject.clone(), kind),
    };
    Finding::new(invariant, key_text(&tally.subject.key(kind)), expected, found, repair)
}

fn index_finding(kind: TallyKind, tally: &TallyRecord) -> Finding {
    let index = kind.index().unwrap_or(Index::Main);
    let of = |wanted: fn(&LabelTotals) -> i128| {
        let labels = tally.labels.iter().filter(|totals| wanted(totals) > 0);
        let keys: Vec<&str> = labels.map(|totals| index_key_of(&totals.label)).collect();
        if keys.is_empty() { String::from("nothing") } else { keys.join(", ") }
    };
    let (expected, mut found) = (of(|totals| totals.facts), of(|totals| totals.stated));
    if tally.labels.iter().any(|totals| totals.stated > 1) {
        found.push_str(", more than once");
    } else if expected == found {
        found.push_str(" with other content");
    }
    let key = tally.subject.key(kind);
    let expected = format!("{expected} in {index}");
    Finding::new(Invariant::I3, key_text(&key), expected, found, Repair::Reindex(key))
}

fn index_key_of(label: &str) -> &str {
    label.split(CONTENT).next().unwrap_or_default()
}
