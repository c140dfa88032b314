//! Runs the check: one pass over all tables, and a second one over the tallies that do not match.

mod background;
mod unfinished;

use roundtable_domain_macros::boxed;
use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_model::Core;
use roundtable_model::shape::Index;
use roundtable_model::table::{self, Item, Table, TableDefinition};
use tokio::task::JoinHandle;

use crate::entity_checks::{check_item, entity_check_of, item_key};
use crate::finding::{Finding, Findings, Invariant, Repair, VerifyReport};
use crate::owner_checks::OwnerState;
use crate::partition_checks::PartitionState;
use crate::scan::ScannedItem;
use crate::stream_check::{ImageChains, KeySubset, StreamImages, StreamSnapshot};
use crate::sums::{BucketSet, KeyHash, TallySums, digest};
use crate::tallies::{IndexEntry, Tallies, TallySink};
use crate::tally::{EntryRole, TallyKind};
use crate::tally_source::CheckRules;
use crate::verifier::{CompareFn, DrainFn};
use crate::{Result, Verifier, VerifyError};

use self::background::PendingWork;
use self::unfinished::UnfinishedEntities;

/// Tally entries that the second pass holds at once: about a hundred megabytes.
const ENTRIES_MAX: u64 = 500_000;

#[boxed]
impl Verifier {
    /// Lets the processors finish, then checks the whole store.
    pub async fn check(&self) -> Result<VerifyReport> {
        self.check_with_limit(self.findings_max).await
    }

    pub(crate) async fn check_with_limit(&self, findings_max: usize) -> Result<VerifyReport> {
        let findings = Findings::new(findings_max);
        let mut audit =
            self.audit.clone().map(|audit| tokio::task::spawn_blocking(move || audit()));
        let report = VerifyReport::default();
        let pending = PendingWork::default();
        let mut check =
            CheckRun { verifier: self, findings_max, findings, report, pending, older: 0 };
        if let Some(drain) = &self.drain {
            // Damage must be found before processors derive anything from it.
            check.audit_store(audit.take()).await?;
            check.drain_processors(drain).await?;
        }
        let complete = check.run().await?;
        if !complete {
            let note = "damaged data could not be read: the rest was not checked";
            check.report.notes.push(note.into());
        }
        check.audit_store(audit).await?;
        if let Some(compare) = &self.compare {
            check.compare_index(compare).await?;
        }
        Ok(check.finish())
    }
}

struct CheckRun<'a> {
    verifier: &'a Verifier,
    findings_max: usize,
    findings: Findings,
    report: VerifyReport,
    pending: PendingWork,
    /// Items of an older shape.
    older: u64,
}

#[derive(Debug)]
struct SegmentResult<T> {
    state: T,
    findings: Findings,
    items: u64,
    older: u64,
    partition: PartitionState,
    owners: OwnerState,
    unfinished: UnfinishedEntities,
}

impl CheckRun<'_> {
    /// Checks all tables; `false` when damage kept it from finishing.
    async fn run(&mut self) -> Result<bool> {
        let verifier = self.verifier;
        self.report.checked.extend([Invariant::I1, Invariant::I2, Invariant::I3]);
        if !self.check_ops().await? || !self.check_logins().await? {
            return Ok(false);
        }
        let core = verifier.tables.core.table();
        let progress = &*verifier.reader.progress;
        // Only an embedded store knows the end of its stream and holds every change since the
        // oldest.
        let is_local = core.store().capabilities().single_process;
        let stream = if is_local { StreamSnapshot::of(core, progress).await? } else { None };
        let (mut sums, mut images) = (TallySums::default(), None);
        if let Some(stream) = &stream {
            self.report.checked.push(Invariant::I4);
            images = self.check_stream(stream, &mut sums).await?;
            if images.is_none() {
                return Ok(false);
            }
        }
        if !self.check_core(images, &mut sums).await? {
            return Ok(false);
        }
        self.report.checked.extend([Invariant::I6, Invariant::I10, Invariant::I15]);
        for index in Index::SECONDARY {
            self.check_index(index, &mut sums).await?;
        }
        let mut excused = 0;
        for portion in sums.mismatched(ENTRIES_MAX) {
            excused += self.check_mismatches(&portion, stream.as_ref()).await?;
        }
        if excused > 0 {
            let what = "include expired notifications or uploads, until the store deletes those";
            self.report.notes.push(format!("{excused} counters {what}"));
        }
        Ok(true)
    }

    /// Reads the stream, one subset of keys after the other; `None` when it is damaged. Returns the
    /// last subset, whose items are compared while the table is checked.
    async fn check_stream(
        &mut self,
        stream: &StreamSnapshot<'_>,
        sums: &mut TallySums,
    ) -> Result<Option<Arc<StreamImages>>> {
        let reader = &self.verifier.reader;
        let mut subsets = vec![KeySubset::ALL];
        while let Some(subset) = subsets.pop() {
            reader.progress.stage("reading the stream", None);
            let read = StreamImages::read(stream, subset, sums, &mut self.findings).await;
            let Some(images) = self.unless_damaged(read)? else { return Ok(None) };
            subsets.extend(images.subset.rest_of(subset));
            self.report.changes = self.report.changes.max(images.changes);
            images.state_images(reader.clock.now_seconds(), sums);
            let images = Arc::new(images);
            if subsets.is_empty() {
                return Ok(Some(images));
            }
            let visit = move |sums: &mut TallySums, scanned: ScannedItem<'_>| {
                if let Some(base) = key_in(scanned.item, Index::Main) {
                    let (key_hash, digest) =
                        (KeyHash::of(base.0, base.1), digest(scanned.item.as_stored()));
                    images.add_item(key_hash, digest, sums);
                }
            };
            reader.progress.stage("comparing with the stream", None);
            let core = self.verifier.tables.core.table();
            let results = reader.scan(core, None, TallySums::default, visit).await;
            let Some(results) = self.unless_damaged(results)? else { return Ok(None) };
            results.iter().for_each(|other| sums.merge(other));
        }
        Ok(None)
    }

    async fn check_core(
        &mut self,
        images: Option<Arc<StreamImages>>,
        sums: &mut TallySums,
    ) -> Result<bool> {
        let verifier = self.verifier;
        let (core, rules) = (verifier.tables.core.table(), verifier.rules.clone());
        let definition = Arc::clone(core.definition());
        let check_owners = !self.pending.purges;
        let visit = move |result: &mut SegmentResult<TallySums>, scanned: ScannedItem<'_>| {
            let SegmentResult { state, findings, items, partition, owners, unfinished, .. } =
                result;
            *items += 1;
            findings.extend(owners.visit(scanned.item, Index::Main).filter(|_| check_owners));
            findings.extend(expired_finding(&definition, scanned, None));
            unfinished.visit(scanned.item);
            add_item_entries(scanned.item, (&rules, partition), state, &mut |finding| {
                findings.add(finding);
            });
            if let (Some(images), Some(base)) = (&images, key_in(scanned.item, Index::Main)) {
                let key_hash = KeyHash::of(base.0, base.1);
                images.add_item(key_hash, digest(scanned.item.as_stored()), state);
            }
        };
        let Some(results) = self.read(core, None, TallySums::default, visit).await? else {
            return Ok(false);
        };
        let mut unfinished = UnfinishedEntities::default();
        for mut result in results {
            sums.merge(&result.state);
            result.findings.extend(result.owners.finish().filter(|_| check_owners));
            self.report.items += result.items;
            self.findings.merge(result.findings);
            unfinished.merge(result.unfinished);
        }
        self.check_unfinished(unfinished).await?;
        Ok(true)
    }

    async fn check_index(&mut self, index: Index, sums: &mut TallySums) -> Result<()> {
        let core = self.verifier.tables.core.table();
        let Some(kind) = TallyKind::of_index(index) else { return Ok(()) };
        let definition = Arc::clone(core.definition());
        // A server may return the entries of one index partition apart from each other.
        let is_local = core.store().capabilities().single_process;
        let check_owners = is_local && !self.pending.purges;
        let visit = move |result: &mut SegmentResult<TallySums>, scanned: ScannedItem<'_>| {
            let SegmentResult { state, findings, items, owners, .. } = result;
            *items += 1;
            findings.extend(owners.visit(scanned.item, index).filter(|_| check_owners));
            findings.extend(expired_finding(&definition, scanned, Some(index)));
            match index_entry(scanned.item, index, kind) {
                Some(entry) => state.add_index_entry(&entry, EntryRole::Stated),
                None => findings.add(unexpected_entry(scanned.item, index)),
            }
        };
        let Some(results) = self.read(core, Some(index), TallySums::default, visit).await? else {
            sums.discard(kind);
            return Ok(());
        };
        for mut result in results {
            sums.merge(&result.state);
            result.findings.extend(result.owners.finish().filter(|_| check_owners));
            self.report.entries += result.items;
            self.findings.merge(result.findings);
        }
        Ok(())
    }

    /// Reads some tallies in full; returns how many mismatches may be right.
    async fn check_mismatches(
        &mut self,
        portion: &BucketSet,
        stream: Option<&StreamSnapshot<'_>>,
    ) -> Result<u64> {
        let verifier = self.verifier;
        let (core, reader) = (verifier.tables.core.table(), &verifier.reader);
        let chains = match stream.filter(|_| portion.contains_any(TallyKind::Stream)) {
            Some(stream) => ImageChains::read(stream, portion.clone(), &mut self.findings).await?,
            None => ImageChains::default(),
        };
        let chains = Arc::new(Mutex::new(chains));
        let start = || Tallies::of(portion.clone());
        let (rules, links) = (verifier.rules.clone(), Arc::clone(&chains));
        let (definition, has_chains) = (Arc::clone(core.definition()), !chains.lock().is_empty());
        let visit = move |(tallies, partition): &mut (Tallies, PartitionState),
                          scanned: ScannedItem<'_>| {
            add_item_entries(scanned.item, (&rules, partition), tallies, &mut |_| {});
            if has_chains {
                links.lock().add_item(&definition, scanned.item);
            }
        };
        let total = Some(self.report.items);
        reader.progress.stage("reading mismatches again", total);
        let both = || (start(), PartitionState::default());
        let Some(results) = self.unless_damaged(reader.scan(core, None, both, visit).await)? else {
            return Ok(0);
        };
        let mut tallies = start();
        results.into_iter().for_each(|(other, _)| tallies.merge(other));
        for index in Index::SECONDARY {
            let Some(kind) = TallyKind::of_index(index).filter(|kind| portion.contains_any(*kind))
            else {
                continue;
            };
            let visit = move |tallies: &mut Tallies, scanned: ScannedItem<'_>| {
                if let Some(entry) = index_entry(scanned.item, index, kind) {
                    tallies.add_index_entry(&entry, EntryRole::Stated);
                }
            };
            let results = reader.scan(core, Some(index), start, visit).await;
            let Some(results) = self.unless_damaged(results)? else { return Ok(0) };
            results.into_iter().for_each(|other| tallies.merge(other));
        }
        let excused = tallies.report_mismatches(self.report.is_swept, &mut self.findings);
        let chains = std::mem::take(&mut *chains.lock());
        chains.report_mismatches(reader.clock.now_seconds(), &mut self.findings);
        Ok(excused)
    }

    /// Reads a table or an index; `None` when damage kept it from reaching the end.
    async fn read<T: Send + 'static>(
        &mut self,
        table: &Table,
        index: Option<Index>,
        state: impl Fn() -> T,
        visit: impl Fn(&mut SegmentResult<T>, ScannedItem<'_>) + Clone + Send + Sync + 'static,
    ) -> Result<Option<Vec<SegmentResult<T>>>> {
        let reader = &self.verifier.reader;
        let name = &table.definition().name;
        let what = match index {
            Some(index) => format!("reading {index} of {name}"),
            None => format!("reading {name}"),
        };
        reader.progress.stage(&what, None);
        let findings_max = self.findings_max;
        let start = || SegmentResult {
            state: state(),
            findings: Findings::new(findings_max),
            items: 0,
            older: 0,
            partition: PartitionState::default(),
            owners: OwnerState::default(),
            unfinished: UnfinishedEntities::default(),
        };
        let visit = move |result: &mut SegmentResult<T>, scanned: ScannedItem<'_>| {
            let entity = entity_check_of(scanned.item).filter(|_| index.is_none());
            result.older += u64::from(entity.is_some_and(|one| one.shape.is_older(scanned.item)));
            visit(result, scanned);
        };
        let results = reader.scan(table, index, start, visit).await;
        let results = self.unless_damaged(results)?;
        self.older += results.iter().flatten().map(|result| result.older).sum::<u64>();
        Ok(results)
    }

    /// Turns damage into a finding and `None`.
    fn unless_damaged<T>(&mut self, read: Result<T>) -> Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(VerifyError::Table(table::Error::Damaged { location, detail })) => {
                let repair = Repair::None("restore a backup");
                let expected = "intact data";
                let finding = Finding::new(Invariant::I16, location, expected, detail, repair);
                // The scan and the audit may find the same damage.
                self.findings.add_once(finding);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes expired items, then lets the processors read the stream to its end.
    async fn drain_processors(&mut self, drain: &DrainFn) -> Result<()> {
        if !self.findings.is_empty() {
            let note = "the processors did not run, because the store is damaged";
            self.report.notes.push(note.into());
            return Ok(());
        }
        if let Some(sweep) = self.verifier.sweep.clone() {
            self.verifier.reader.progress.stage("deleting expired items", None);
            let swept = tokio::task::spawn_blocking(move || sweep()).await;
            swept
                .map_err(|error| VerifyError::Interrupted(error.to_string()))?
                .map_err(VerifyError::Table)?;
            self.report.is_swept = true;
        }
        self.verifier.reader.progress.stage("running the processors", None);
        self.report.changes_applied = Some(drain().await.map_err(VerifyError::Drain)?);
        Ok(())
    }

    /// Compares the search index with the table.
    async fn compare_index(&mut self, compare: &CompareFn) -> Result<()> {
        self.verifier.reader.progress.stage("comparing the search index", None);
        let different = compare().await.map_err(VerifyError::Index)?;
        self.findings.extend(different.into_iter().map(|(key, found)| {
            let reason =
                "stop the server and delete the directory of the index: it is then built again";
            let expected = "a document of the search index like the item";
            Finding::new(Invariant::I6, key, expected, found, Repair::None(reason))
        }));
        Ok(())
    }

    /// Collects the findings of the store's own audit.
    async fn audit_store(
        &mut self,
        audit: Option<JoinHandle<std::result::Result<Vec<String>, table::Error>>>,
    ) -> Result<()> {
        let Some(audit) = audit else { return Ok(()) };
        self.verifier.reader.progress.stage("auditing the store", None);
        self.report.checked.extend([Invariant::I5, Invariant::I16]);
        let audited = audit.await.map_err(|error| VerifyError::Interrupted(error.to_string()))?;
        let name = self.verifier.tables.core.table().definition().name.clone();
        for found in self.unless_damaged(audited.map_err(VerifyError::Table))?.unwrap_or_default() {
            let repair = Repair::None("restore a backup");
            let expected = "table, indexes and stream that agree";
            self.findings.add(Finding::new(Invariant::I5, name.clone(), expected, found, repair));
        }
        Ok(())
    }

    fn finish(mut self) -> VerifyReport {
        if self.older > 0 {
            let note = "items have an older shape: `roundtable admin upgrade` rewrites them";
            self.report.notes.push(format!("{} {note}", self.older));
        }
        (self.report.findings, self.report.totals) = self.findings.finish();
        self.report.checked.sort_unstable();
        self.report
    }
}

/// Adds an item's tally entries and its expected index entries to `sink`.
fn add_item_entries(
    item: &Item,
    (rules, partition): (&CheckRules, &mut PartitionState),
    sink: &mut impl TallySink,
    report: &mut dyn FnMut(Finding),
) {
    check_item(item, Core::SHAPE.entities, rules, &mut |entry| sink.add_entry(entry), report);
    partition.visit(item, &mut |entry| sink.add_entry(entry), report);
    for index in Index::SECONDARY {
        if let Some(entry) =
            TallyKind::of_index(index).and_then(|kind| index_entry(item, index, kind))
        {
            sink.add_index_entry(&entry, EntryRole::Fact);
        }
    }
}

fn index_entry(item: &Item, index: Index, kind: TallyKind) -> Option<IndexEntry<'_>> {
    let (base, key) = (key_in(item, Index::Main)?, key_in(item, index)?);
    Some(IndexEntry { kind, base, key, digest: digest(item.as_stored()) })
}

/// The key of an item in an index, if it has both attributes.
fn key_in(item: &Item, index: Index) -> Option<(&str, &str)> {
    item.text(index.partition_attribute()).zip(item.text(index.sort_attribute()))
}

/// A finding if a scan returned an expired item.
fn expired_finding(
    definition: &TableDefinition,
    scanned: ScannedItem<'_>,
    index: Option<Index>,
) -> Option<Finding> {
    let at = definition.expires_at(scanned.item).filter(|at| *at <= scanned.requested_at)?;
    let expected = format!("nothing, from second {at} on");
    let location = index.map_or_else(String::new, |index| format!(" in {index}"));
    let found = format!("it was read{location} at second {}", scanned.requested_at);
    let repair = Repair::None("the store must hide expired items");
    Some(Finding::new(Invariant::I10, item_key(scanned.item), expected, found, repair))
}

fn unexpected_entry(item: &Item, index: Index) -> Finding {
    let (expected, found) = (format!("nothing in {index}: it has no keys for it"), "an entry");
    let repair = Repair::None("only the store could remove the entry: restore a backup");
    Finding::new(Invariant::I3, item_key(item), expected, found, repair)
}
