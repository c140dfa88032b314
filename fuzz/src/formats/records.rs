//! Fuzzes recovery with changed log files. Half of the changes get a correct checksum, so that they reach
//! what decodes records.

use std::cell::OnceCell;

use roundtable_engine::{Engine, EngineStep};
use roundtable_table::{Error, Query, Store, StreamRead, StreamStart};

use super::base_store::{BaseStore, directory, options, stepped};
use super::edits::edit;
use crate::choices::ByteChoices;
use crate::response_checks::hash;
use crate::runner::Coverage;

/// Bytes of a segment before its first record, and of a record before its payload.
const SEGMENT_HEADER: usize = 24;
const RECORD_HEADER: usize = 8;

thread_local! {
    static BASE: OnceCell<BaseStore> = const { OnceCell::new() };
}

/// Changes the log, recovers it and reads everything. Panics on a finding.
pub fn records(bytes: &[u8]) -> Coverage {
    let mut choices = ByteChoices(bytes);
    let (mut log, tree) = BASE.with(|base| {
        let base = base.get_or_init(BaseStore::build);
        // Without its tree, the whole log is replayed.
        (base.log.clone(), choices.once_in(2).then(|| base.tree.clone()))
    });
    let number = choices.pick(log.len());
    let (_, file) = &mut log[number];
    if choices.once_in(2) {
        edit(file, &mut choices);
    } else {
        edit_payload(file, &mut choices);
    }
    let directory = directory();
    if let Some(tree) = tree {
        BaseStore::write_tree(&tree, directory.path());
    }
    let disk = BaseStore::disk(&log);
    match Engine::open(directory.path(), options(&disk)) {
        Ok(engine) => read_all(&engine),
        Err(error) => refused(&error),
    }
}

/// Changes the payload of one record and seals it again.
fn edit_payload(file: &mut Vec<u8>, choices: &mut ByteChoices<'_>) {
    let mut starts = Vec::new();
    let mut at = SEGMENT_HEADER;
    while let Some(len) =
        file.get(at..at + 4).map(|len| u32::from_le_bytes(len.try_into().unwrap()))
        && len > 0
        && at + RECORD_HEADER + len as usize <= file.len()
    {
        starts.push((at, len as usize));
        at += RECORD_HEADER + len as usize;
    }
    if starts.is_empty() {
        return;
    }
    let (start, len) = *choices.choose(&starts);
    let end = start + RECORD_HEADER + len;
    let mut payload = file[start + RECORD_HEADER..end].to_vec();
    edit(&mut payload, choices);
    let len = u32::try_from(payload.len()).unwrap().to_le_bytes();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&len);
    hasher.update(&payload);
    let sealed = [&len[..], &hasher.finalize().to_le_bytes(), &payload].concat();
    file.splice(start..end, sealed);
}

/// Reads everything that was recovered, and applies it to the tree.
fn read_all(engine: &Engine) -> Coverage {
    let mut coverage = Coverage::from([hash("recovered")]);
    for step in [EngineStep::Freeze, EngineStep::Checkpoint, EngineStep::Upkeep] {
        coverage.insert(hash(&format!("{step:?} {}", engine.step(step))));
    }
    match engine.audit() {
        Ok(faults) => drop(coverage.insert(hash(&format!("{} faults", faults.len())))),
        Err(error) => coverage.extend(refused(&error)),
    }
    let store = Store::new(engine.clone());
    let Ok(table) = stepped(engine, store.table("town")) else { return coverage };
    let page = stepped(engine, table.query(Query::new("ROWS")));
    coverage.insert(hash(&format!("{} rows", page.map_or(0, |page| page.items.len()))));
    let read = StreamRead::new("log", StreamStart::Oldest);
    match stepped(engine, table.stream_read(read)) {
        Ok(page) => drop(coverage.insert(hash(&format!("{} changes", page.changes.len())))),
        Err(error) => coverage.extend(refused(&error)),
    }
    coverage
}

/// What is refused is damaged, and nothing else.
pub(super) fn refused(error: &Error) -> Coverage {
    let text = error.to_string();
    assert!(matches!(error, Error::Damaged { .. }), "refused for another reason: {text}");
    let words: String = text.chars().filter(|char| !char.is_ascii_digit()).collect();
    Coverage::from([hash(&words)])
}
