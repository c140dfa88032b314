//! The check itself: one look at everything, and a second one where something does not add up.

mod beside;
mod open;

use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_model::Core;
use roundtable_model::shape::Index;
use roundtable_model::table::{self, Item, Table, TableDefinition};
use tokio::task::JoinHandle;

use crate::accounts::{Accounts, Books, Listed};
use crate::books::{Book, Side};
use crate::chain::{Chains, Class, Fold, Stream};
use crate::finding::{Finding, Findings, Invariant, Remedy, Report};
use crate::kinds::{judge_item, key_shown};
use crate::ledger::{Ledger, Place, Selection, digest};
use crate::runs::Runs;
use crate::scan::Met;
use crate::tell::Rules;
use crate::verify::Drain;
use crate::{Failure, Result, Verify};

use self::beside::Waiting;
use self::open::Opens;

/// Lines of the books that a second look holds at once: about a hundred megabytes.
const LINES_MAX: u64 = 500_000;

impl Verify {
    /// Lets the processors finish, then looks at everything.
    pub async fn check(&self) -> Result<Report> {
        self.check_keeping(self.findings_max).await
    }

    /// As [`Verify::check`], keeping so many findings.
    pub(crate) async fn check_keeping(&self, findings_max: usize) -> Result<Report> {
        let findings = Findings::new(findings_max);
        let mut audit =
            self.audit.clone().map(|audit| tokio::task::spawn_blocking(move || audit()));
        let report = Report::default();
        let waiting = Waiting::default();
        let mut check = Check { verify: self, findings_max, findings, report, waiting };
        if let Some(drain) = &self.drain {
            // Damage must be known before anything is derived from what is damaged.
            check.ask_the_store(audit.take()).await?;
            check.let_finish(drain).await?;
        }
        let complete = check.look().await?;
        if !complete {
            let note = "what is damaged could not be read: the rest was not checked";
            check.report.notes.push(note.into());
        }
        check.ask_the_store(audit).await?;
        Ok(check.finish())
    }
}

struct Check<'a> {
    verify: &'a Verify,
    findings_max: usize,
    findings: Findings,
    report: Report,
    waiting: Waiting,
}

/// What a scan of a segment gathers.
#[derive(Debug)]
struct Sight<B> {
    books: B,
    findings: Findings,
    items: u64,
    runs: Runs,
    open: Opens,
}

impl Check<'_> {
    /// Looks at everything; `false` when damage kept it from doing so.
    async fn look(&mut self) -> Result<bool> {
        let verify = self.verify;
        self.report.checked.extend([Invariant::I1, Invariant::I2, Invariant::I3]);
        if !self.look_at_ops().await? || !self.look_at_logins().await? {
            return Ok(false);
        }
        let core = verify.tables.core.table();
        let progress = &*verify.reader.progress;
        // Only one process can tell where a stream ends, and keeps all of it since its oldest change.
        let here = core.store().capabilities().one_process;
        let stream = if here { Stream::of(core, progress).await? } else { None };
        let (mut ledger, mut fold) = (Ledger::default(), None);
        if let Some(stream) = &stream {
            self.report.checked.push(Invariant::I4);
            fold = self.look_at_stream(stream, &mut ledger).await?;
            if fold.is_none() {
                return Ok(false);
            }
        }
        if !self.look_at_core(fold, &mut ledger).await? {
            return Ok(false);
        }
        self.report.checked.extend([Invariant::I6, Invariant::I10, Invariant::I15]);
        for index in Index::SECONDARY {
            self.look_at_index(index, &mut ledger).await?;
        }
        let mut excused = 0;
        for portion in ledger.unbalanced(LINES_MAX) {
            excused += self.look_again(&portion, stream.as_ref()).await?;
        }
        if excused > 0 {
            let what = "unread say more than is there, as they do until the store has taken away what \
                        has expired";
            self.report.notes.push(format!("{excused} counters of what is {what}"));
        }
        Ok(true)
    }

    /// Reads the stream, one class of keys after the other; `None` when it is damaged. The last class is
    /// handed on, so that its items need no reading of their own.
    async fn look_at_stream(
        &mut self,
        stream: &Stream<'_>,
        ledger: &mut Ledger,
    ) -> Result<Option<Arc<Fold>>> {
        let reader = &self.verify.reader;
        let mut classes = vec![Class::ALL];
        while let Some(class) = classes.pop() {
            reader.progress.stage("reading the stream", None);
            let read = Fold::read(stream, class, ledger, &mut self.findings).await;
            let Some(fold) = self.unless_damaged(read)? else { return Ok(None) };
            classes.extend(fold.class.left_of(class));
            self.report.changes = self.report.changes.max(fold.changes);
            fold.enter(reader.clock.now_seconds(), ledger);
            let fold = Arc::new(fold);
            if classes.is_empty() {
                return Ok(Some(fold));
            }
            let visit = move |ledger: &mut Ledger, met: Met<'_>| {
                if let Some(base) = place_in(met.item, Index::Main) {
                    let (place, digest) = (Place::of(base.0, base.1), digest(met.item.as_stored()));
                    fold.meet(place, digest, ledger);
                }
            };
            reader.progress.stage("comparing with the stream", None);
            let core = self.verify.tables.core.table();
            let seen = reader.each(core, None, Ledger::default, visit).await;
            let Some(seen) = self.unless_damaged(seen)? else { return Ok(None) };
            seen.iter().for_each(|seen| ledger.merge(seen));
        }
        Ok(None)
    }

    async fn look_at_core(&mut self, fold: Option<Arc<Fold>>, ledger: &mut Ledger) -> Result<bool> {
        let verify = self.verify;
        let (core, rules) = (verify.tables.core.table(), verify.rules.clone());
        let definition = Arc::clone(core.definition());
        let visit = move |sight: &mut Sight<Ledger>, met: Met<'_>| {
            let Sight { books, findings, items, runs, open } = sight;
            *items += 1;
            findings.extend(expired(&definition, met, None));
            open.meet(met.item);
            book_item(met.item, (&rules, runs), books, &mut |finding| {
                findings.add(finding);
            });
            if let (Some(fold), Some(base)) = (&fold, place_in(met.item, Index::Main)) {
                let place = Place::of(base.0, base.1);
                fold.meet(place, digest(met.item.as_stored()), books);
            }
        };
        let Some(seen) = self.read(core, None, Ledger::default, visit).await? else {
            return Ok(false);
        };
        let mut open = Opens::default();
        for sight in seen {
            ledger.merge(&sight.books);
            self.report.items += sight.items;
            self.findings.merge(sight.findings);
            open.merge(sight.open);
        }
        self.look_at_open(open).await?;
        Ok(true)
    }

    async fn look_at_index(&mut self, index: Index, ledger: &mut Ledger) -> Result<()> {
        let core = self.verify.tables.core.table();
        let Some(book) = Book::of_index(index) else { return Ok(()) };
        let definition = Arc::clone(core.definition());
        let visit = move |sight: &mut Sight<Ledger>, met: Met<'_>| {
            let Sight { books, findings, items, .. } = sight;
            *items += 1;
            findings.extend(expired(&definition, met, Some(index)));
            match listed(met.item, index, book) {
                Some(listed) => books.list(&listed, Side::Stated),
                None => findings.add(without_keys(met.item, index)),
            }
        };
        let Some(seen) = self.read(core, Some(index), Ledger::default, visit).await? else {
            ledger.close(book);
            return Ok(());
        };
        for sight in seen {
            ledger.merge(&sight.books);
            self.report.entries += sight.items;
            self.findings.merge(sight.findings);
        }
        Ok(())
    }

    /// Looks at some accounts in full; how many do not balance and may be right.
    async fn look_again(
        &mut self,
        portion: &Selection,
        stream: Option<&Stream<'_>>,
    ) -> Result<u64> {
        let verify = self.verify;
        let (core, reader) = (verify.tables.core.table(), &verify.reader);
        let chains = match stream.filter(|_| portion.has_any(Book::Stream)) {
            Some(stream) => Chains::read(stream, portion.clone(), &mut self.findings).await?,
            None => Chains::default(),
        };
        let chains = Arc::new(Mutex::new(chains));
        let start = || Accounts::of(portion.clone());
        let (rules, links) = (verify.rules.clone(), Arc::clone(&chains));
        let (definition, follows) = (Arc::clone(core.definition()), !chains.lock().is_empty());
        let visit = move |(accounts, runs): &mut (Accounts, Runs), met: Met<'_>| {
            book_item(met.item, (&rules, runs), accounts, &mut |_| {});
            if follows {
                links.lock().meet(&definition, met.item);
            }
        };
        let total = Some(self.report.items);
        reader.progress.stage("looking again at what does not add up", total);
        let both = || (start(), Runs::default());
        let Some(seen) = self.unless_damaged(reader.each(core, None, both, visit).await)? else {
            return Ok(0);
        };
        let mut accounts = start();
        seen.into_iter().for_each(|(seen, _)| accounts.merge(seen));
        for index in Index::SECONDARY {
            let Some(book) = Book::of_index(index).filter(|book| portion.has_any(*book)) else {
                continue;
            };
            let visit = move |accounts: &mut Accounts, met: Met<'_>| {
                if let Some(listed) = listed(met.item, index, book) {
                    accounts.list(&listed, Side::Stated);
                }
            };
            let seen = reader.each(core, Some(index), start, visit).await;
            let Some(seen) = self.unless_damaged(seen)? else { return Ok(0) };
            seen.into_iter().for_each(|seen| accounts.merge(seen));
        }
        let excused = accounts.settle(self.report.is_swept, &mut self.findings);
        let chains = std::mem::take(&mut *chains.lock());
        chains.settle(reader.clock.now_seconds(), &mut self.findings);
        Ok(excused)
    }

    /// Reads a table or an index; `None` when damage kept it from being read to its end.
    async fn read<B: Send + 'static>(
        &mut self,
        table: &Table,
        index: Option<Index>,
        books: impl Fn() -> B,
        visit: impl Fn(&mut Sight<B>, Met<'_>) + Clone + Send + Sync + 'static,
    ) -> Result<Option<Vec<Sight<B>>>> {
        let reader = &self.verify.reader;
        let name = &table.definition().name;
        let what = match index {
            Some(index) => format!("reading {index} of {name}"),
            None => format!("reading {name}"),
        };
        reader.progress.stage(&what, None);
        let findings_max = self.findings_max;
        let start = || Sight {
            books: books(),
            findings: Findings::new(findings_max),
            items: 0,
            runs: Runs::default(),
            open: Opens::default(),
        };
        let seen = reader.each(table, index, start, visit).await;
        self.unless_damaged(seen)
    }

    /// Makes a finding of what cannot be read because it is damaged.
    fn unless_damaged<T>(&mut self, read: Result<T>) -> Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(Failure::Table(table::Error::Damaged { place, detail })) => {
                let remedy = Remedy::None("only a backup has what was there");
                let expected = "what was written";
                let finding = Finding::new(Invariant::I16, place, expected, detail, remedy);
                // What is read and what the store says may be the same.
                self.findings.add_once(finding);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Lets the processors read the stream to its end, with what has expired in it.
    async fn let_finish(&mut self, drain: &Drain) -> Result<()> {
        if !self.findings.is_empty() {
            let note = "the processors were not let on: the store itself is not whole";
            self.report.notes.push(note.into());
            return Ok(());
        }
        if let Some(sweep) = self.verify.sweep.clone() {
            self.verify.reader.progress.stage("taking away what has expired", None);
            let swept = tokio::task::spawn_blocking(move || sweep()).await;
            swept
                .map_err(|error| Failure::Interrupted(error.to_string()))?
                .map_err(Failure::Table)?;
            self.report.is_swept = true;
        }
        self.verify.reader.progress.stage("letting the processors finish", None);
        self.report.applied = Some(drain().await.map_err(Failure::Drain)?);
        Ok(())
    }

    /// What the store says about itself.
    async fn ask_the_store(
        &mut self,
        audit: Option<JoinHandle<std::result::Result<Vec<String>, table::Error>>>,
    ) -> Result<()> {
        let Some(audit) = audit else { return Ok(()) };
        self.verify.reader.progress.stage("asking the store itself", None);
        self.report.checked.extend([Invariant::I5, Invariant::I16]);
        let said = audit.await.map_err(|error| Failure::Interrupted(error.to_string()))?;
        let name = self.verify.tables.core.table().definition().name.clone();
        for said in self.unless_damaged(said.map_err(Failure::Table))?.unwrap_or_default() {
            let remedy = Remedy::None("only the store itself could mend it; a backup has it whole");
            let expected = "base, indexes and stream that agree";
            self.findings.add(Finding::new(Invariant::I5, name.clone(), expected, said, remedy));
        }
        Ok(())
    }

    fn finish(mut self) -> Report {
        (self.report.findings, self.report.totals) = self.findings.finish();
        self.report.checked.sort_unstable();
        self.report
    }
}

/// Books all that an item tells, and where it stands in indexes.
fn book_item(
    item: &Item,
    (rules, runs): (&Rules, &mut Runs),
    books: &mut impl Books,
    find: &mut dyn FnMut(Finding),
) {
    judge_item(item, Core::SHAPE.entities, rules, &mut |entry| books.enter(entry), find);
    runs.meet(item, &mut |entry| books.enter(entry), find);
    for index in Index::SECONDARY {
        if let Some(listed) = Book::of_index(index).and_then(|book| listed(item, index, book)) {
            books.list(&listed, Side::Fact);
        }
    }
}

fn listed(item: &Item, index: Index, book: Book) -> Option<Listed<'_>> {
    let (base, key) = (place_in(item, Index::Main)?, place_in(item, index)?);
    Some(Listed { book, base, key, digest: digest(item.as_stored()) })
}

/// The key attributes of an item, where it has both.
fn place_in(item: &Item, index: Index) -> Option<(&str, &str)> {
    item.text(index.partition_attribute()).zip(item.text(index.sort_attribute()))
}

/// What is wrong with meeting an item that has expired.
fn expired(definition: &TableDefinition, met: Met<'_>, index: Option<Index>) -> Option<Finding> {
    let at = definition.expires_at(met.item).filter(|at| *at <= met.asked_at)?;
    let expected = format!("nothing, from second {at} on");
    let place = index.map_or_else(String::new, |index| format!(" in {index}"));
    let found = format!("it was read{place} at second {}", met.asked_at);
    let remedy = Remedy::None("the store shows what it should hide");
    Some(Finding::new(Invariant::I10, key_shown(met.item), expected, found, remedy))
}

fn without_keys(item: &Item, index: Index) -> Finding {
    let (expected, found) = (format!("nothing in {index}: it has no keys for it"), "an entry");
    let remedy = Remedy::None("only the store itself could take the entry away");
    Finding::new(Invariant::I3, key_shown(item), expected, found, remedy)
}
