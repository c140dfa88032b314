//! Flipped bits on disk. In a synced record or in the tree they are detected and never served; in the
//! last group, which looks like a torn one, they are cut off and reported.

use std::path::Path;
use std::sync::Arc;

use roundtable_engine::{DiskFault, Engine, IoStep, Options, SimulatedDisk};
use roundtable_table::{Error, Get, Item, Key, Put, Query, Scan, Store, Table, Update, item};

use crate::{agreement, block_on, in_memory};

const SEGMENT_HEADER_BYTES: usize = 24;
/// Length, checksum, group, first sequence, time, flags, two counts; then a change's table, flags and
/// the length of its image.
const RECORD_HEADER_BYTES: usize = 4 + 4 + 8 + 8 + 8 + 1 + 4 + 4;
const CHANGE_HEADER_BYTES: usize = 2 + 1 + 4;
const GROUP_AT: usize = 8;
const FIRST_AT: usize = 16;
const FLAGS_AT: usize = 32;

/// A record of the log on disk.
#[derive(Clone, Debug)]
struct Logged {
    segment: String,
    offset: usize,
    len: usize,
}

fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let mut out = [0; 8];
    out[..len].copy_from_slice(&bytes[at..at + len]);
    u64::from_le_bytes(out)
}

/// The segment names of a log, in order.
fn segments(disk: &SimulatedDisk) -> Vec<String> {
    let is_segment = |name: &String| Path::new(name).extension().is_some_and(|end| end == "log");
    disk.names().into_iter().filter(is_segment).collect()
}

/// The records of a log, in order.
fn records(disk: &SimulatedDisk) -> Vec<Logged> {
    let mut found = Vec::new();
    for segment in segments(disk) {
        let bytes = disk.contents(&segment).unwrap();
        let mut offset = SEGMENT_HEADER_BYTES;
        while offset + RECORD_HEADER_BYTES < bytes.len() && number(&bytes, offset, 4) > 0 {
            let len = usize::try_from(number(&bytes, offset, 4)).unwrap() + 8;
            found.push(Logged { segment: segment.clone(), offset, len });
            offset += len;
        }
    }
    found
}

fn options(disk: &SimulatedDisk) -> Options {
    Options {
        segment_bytes: 1 << 10,
        sync_tree: false,
        disk: Some(Arc::new(disk.clone())),
        ..Options::default()
    }
}

fn row(n: u64) -> Item {
    item! {
        "PK" => "USER#ana", "SK" => format!("ROW#{n:02}"), "text" => "x".repeat(100),
        "GSI1PK" => "DAY#1", "GSI1SK" => format!("{n:02}"),
    }
}

/// Writes a log of a dozen groups, none of them in the tree.
async fn write_log() -> SimulatedDisk {
    let directory = in_memory();
    let disk = SimulatedDisk::new();
    let engine = Engine::open(directory.path(), options(&disk)).unwrap();
    let store = Store::new(engine.clone());
    let table = store.create_table(agreement::definition("town")).await.unwrap();
    for n in 0..12 {
        table.put(Put::new(row(n))).await.unwrap();
    }
    drop((store, table));
    engine.abandon();
    disk.crash(0)
}

async fn rows(engine: &Engine) -> Vec<String> {
    let table = Store::new(engine.clone()).table("town").await.unwrap();
    let page = table.query(Query::new("USER#ana")).await.unwrap();
    page.items.iter().map(|item| item.text("SK").unwrap().to_owned()).collect()
}

/// A bit to flip, varying with the byte.
fn bit_of(at: usize) -> u8 {
    u8::try_from(at % 8).unwrap()
}

#[test]
fn a_flipped_bit_in_a_synced_record_is_rejected_with_its_location() {
    block_on(async {
        let disk = write_log().await;
        let directory = in_memory();
        let records = records(&disk);
        let (_last, synced) = records.split_last().unwrap();
        assert!(synced.len() > 10 && disk.names().len() > 2);
        for record in synced {
            let head = RECORD_HEADER_BYTES + CHANGE_HEADER_BYTES;
            let image = [record.len / 2, record.len - 2, record.len - 1];
            for at in (0..head).chain(image) {
                let disk = disk.crash(0);
                assert!(disk.flip_bit(&record.segment, record.offset + at, bit_of(at)));
                let error = Engine::open(directory.path(), options(&disk)).unwrap_err();
                assert!(matches!(error, Error::Damaged { .. }), "{error}");
                let error = error.to_string();
                let location = format!("{} at byte {}:", record.segment, record.offset);
                assert!(error.contains(&location), "byte {at} of {record:?}: {error}");
            }
        }
    });
}

#[test]
fn a_flipped_bit_in_a_segment_header_is_rejected_with_the_segment_name() {
    block_on(async {
        let disk = write_log().await;
        let directory = in_memory();
        for segment in segments(&disk) {
            for at in 0..SEGMENT_HEADER_BYTES {
                let disk = disk.crash(0);
                assert!(disk.flip_bit(&segment, at, bit_of(at)));
                let error = Engine::open(directory.path(), options(&disk)).unwrap_err();
                assert!(matches!(error, Error::Damaged { .. }), "{error}");
                assert!(error.to_string().contains(&segment), "{error}");
            }
        }
    });
}

#[test]
fn a_flipped_bit_in_the_last_group_is_cut_off_and_reported() {
    block_on(async {
        let disk = write_log().await;
        let last = records(&disk).pop().unwrap();
        for at in (0..last.len).step_by(5) {
            let disk = disk.crash(0);
            assert!(disk.flip_bit(&last.segment, last.offset + at, bit_of(at)));
            let directory = in_memory();
            let engine = Engine::open(directory.path(), options(&disk)).unwrap();
            assert_eq!(engine.metrics().cut_bytes, last.len as u64);
            assert_eq!(rows(&engine).await.len(), 11);
            assert_eq!(engine.audit().unwrap(), Vec::<String>::new());
            let table = Store::new(engine.clone()).table("town").await.unwrap();
            table.put(Put::new(row(20))).await.unwrap();
            drop((table, engine));
            let engine = Engine::open(directory.path(), options(&disk.crash(1))).unwrap();
            assert_eq!(engine.metrics().cut_bytes, 0);
            assert_eq!(rows(&engine).await.last().unwrap(), "ROW#20");
        }
    });
}

/// Copies a record with other numbers in its header and a valid checksum.
fn rewritten(record: &[u8], group: u64, first: u64, ends_group: bool) -> Vec<u8> {
    let mut out = record.to_vec();
    out[GROUP_AT..GROUP_AT + 8].copy_from_slice(&group.to_le_bytes());
    out[FIRST_AT..FIRST_AT + 8].copy_from_slice(&first.to_le_bytes());
    out[FLAGS_AT] = u8::from(ends_group);
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&out[..4]);
    hasher.update(&out[8..]);
    out[4..8].copy_from_slice(&hasher.finalize().to_le_bytes());
    out
}

/// A group lost its end in a crash, and the rest of it was kept. Then the machine failed again before
/// the next checkpoint, within the next group, of which only the second half landed. Because the first
/// group was left open, that half once looked like proof of damage, and the directory could not be
/// opened any more.
#[test]
fn a_torn_group_after_a_torn_group_is_cut_off_too() {
    block_on(async {
        use roundtable_engine::Disk as _;
        let directory = in_memory();
        let disk = write_log().await;
        let last = records(&disk).pop().unwrap();
        let bytes = disk.contents(&last.segment).unwrap();
        let record = bytes[last.offset..last.offset + last.len].to_vec();
        let (group, first) = (number(&record, GROUP_AT, 8), number(&record, FIRST_AT, 8));
        let file = disk.open(&last.segment).unwrap();
        file.write_at(&rewritten(&record, group, first, false), last.offset as u64).unwrap();
        file.sync().unwrap();

        let recovering = disk.crash(0);
        // Recovery writes and syncs the last group again; then the tree is committed. Another thread may
        // prepare the next segment meanwhile.
        recovering.fail_at_nth(IoStep::TreeCommit, 1, DiskFault::CrashBefore);
        drop(Engine::open(directory.path(), options(&recovering)));
        let trace = recovering.trace();
        assert_eq!((trace[0].0, trace[1].0), (IoStep::Write, IoStep::Sync));
        assert_eq!(trace.last().map(|(step, _)| *step), Some(IoStep::TreeCommit));

        let torn = recovering.crash(0);
        let second_half = rewritten(&record, group + 1, first + 2, true);
        let file = torn.open(&last.segment).unwrap();
        file.write_at(&second_half, (last.offset + 2 * last.len) as u64).unwrap();
        file.sync().unwrap();
        let engine = Engine::open(directory.path(), options(&torn)).unwrap();
        assert_eq!(engine.metrics().cut_bytes, 2 * last.len as u64);
        assert_eq!(rows(&engine).await.len(), 12);
    });
}

/// Flips one bit in every copy of `needle` in a file.
fn flip_in_file(path: &Path, needle: &[u8], bit: u8) {
    let mut bytes = std::fs::read(path).unwrap();
    let offsets: Vec<usize> =
        (0..bytes.len() - needle.len()).filter(|at| bytes[*at..].starts_with(needle)).collect();
    assert!(!offsets.is_empty(), "the value is not in the file");
    for at in offsets {
        bytes[at + needle.len() / 2] ^= 1 << bit;
    }
    std::fs::write(path, bytes).unwrap();
}

/// Creates a data directory with three items in the tree, and damages it at `needle`.
async fn damaged_tree(needle: &[u8], bit: u8) -> (tempfile::TempDir, Result<Engine, Error>) {
    let directory = in_memory();
    let disk = SimulatedDisk::new();
    let engine = Engine::open(directory.path(), options(&disk)).unwrap();
    let store = Store::new(engine.clone());
    let table = store.create_table(agreement::definition("town")).await.unwrap();
    for name in ["ana", "bo", "cy"] {
        let item = item! {
            "PK" => "USERS", "SK" => name, "motto" => format!("the motto of {name} is long"),
            "GSI1PK" => format!("the town of {name}"), "GSI1SK" => "1",
        };
        table.put(Put::new(item)).await.unwrap();
    }
    drop((store, table));
    engine.close().unwrap();
    flip_in_file(&directory.path().join("tree.mdb"), needle, bit);
    let engine = Engine::open(directory.path(), options(&disk));
    (directory, engine)
}

fn assert_damaged<T: std::fmt::Debug>(result: Result<T, Error>) {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}

async fn get(table: &Table, name: &str) -> Result<Option<Item>, Error> {
    table.get(Get::new(Key::new("USERS", name))).await.map(|found| found.item)
}

#[test]
fn a_flipped_bit_in_an_item_of_the_tree_is_never_served() {
    block_on(async {
        for bit in 0..8 {
            let (_directory, engine) = damaged_tree(b"the motto of bo is long", bit).await;
            let engine = engine.unwrap();
            let table = Store::new(engine.clone()).table("town").await.unwrap();
            assert_damaged(get(&table, "bo").await);
            assert_damaged(table.query(Query::new("USERS")).await);
            assert_damaged(table.query(Query::new("the town of bo").index("GSI1")).await);
            assert_damaged(table.scan(Scan::new()).await);
            assert_damaged(engine.audit());
            // Writes that depend on the damaged item fail, too.
            let update = Update::new(Key::new("USERS", "bo")).set("n", 1);
            assert_damaged(table.update(update).await);
            assert!(get(&table, "ana").await.unwrap().is_some());
            assert!(get(&table, "cy").await.unwrap().is_some());
        }
    });
}

#[test]
fn a_flipped_bit_in_an_index_entry_or_a_definition_is_never_served() {
    block_on(async {
        let (_directory, engine) = damaged_tree(b"the town of bo", 0).await;
        let engine = engine.unwrap();
        let table = Store::new(engine.clone()).table("town").await.unwrap();
        // The damaged text is in the item and in the entry's key, so either read detects it.
        assert_damaged(get(&table, "bo").await);
        assert_damaged(table.scan(Scan::new().index("GSI1")).await);
        assert_damaged(engine.audit());

        let (_directory, engine) = damaged_tree(b"projection", 2).await;
        assert_damaged(engine);
    });
}
