//! A disk in memory that fails on demand, for tests that inject faults. It does not store anything
//! durably.
//!
//! Every change counts as one step, so that a test can run the same script once per step and fail at
//! each of them. Reads are not steps.

mod split_mix;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use self::split_mix::SplitMix;
use crate::disk::{Disk, DiskFile};

/// Unit that a disk writes atomically.
const SECTOR_BYTES: u64 = 512;
/// Part of a write that lands on a full disk before it fails.
const FULL_PERMILLE: u16 = 500;

/// A kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoStep {
    Create,
    Write,
    Sync,
    Rename,
    Truncate,
    Remove,
    /// Before a commit of the tree.
    TreeCommit,
}

/// A fault injected at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// The machine stops before the step: everything from then on fails.
    CrashBefore,
    /// The machine stops after the step, which is reported as failed.
    CrashAfter,
    /// The machine stops within a write or the creation of a file. Other steps do not happen at all.
    CrashWithin {
        /// Part of the bytes that land, in thousandths.
        permille: u16,
    },
    /// The step fails and changes nothing; after a failed sync, the bytes stay unsynced.
    Fails,
    /// A sync fails and drops its dirty pages: the bytes read back, but no later sync writes them, as
    /// on Linux. Other steps just fail.
    SyncForgets,
    /// From this step on the disk is full, until there is [room](SimulatedDisk::make_room) again: writes land
    /// in part, new files are too short, the tree cannot commit.
    DiskFull,
    /// The step fails and changes nothing, because the process has no file descriptors left.
    NoDescriptors,
    /// The thread that takes the step panics, as it would because of a bug.
    Panics,
}

/// A disk in memory that fails on demand. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SimulatedDisk(Arc<Mutex<SimulatedMachine>>);

#[derive(Clone, Debug, Default)]
struct SimulatedMachine {
    names: BTreeMap<String, usize>,
    files: Vec<FileContents>,
    plan: BTreeMap<u64, DiskFault>,
    plan_by_kind: BTreeMap<(IoStep, usize), DiskFault>,
    trace: Vec<(IoStep, String)>,
    is_off: bool,
    is_full: bool,
    /// Free bytes as reported; nothing is counted.
    free_bytes: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct FileContents {
    /// Survives a power loss.
    durable: Vec<u8>,
    current: Vec<u8>,
    /// Written since the last sync, in order.
    unsynced: Vec<(u64, Vec<u8>)>,
}

/// The part of a step that happens, and the state of the machine afterwards.
#[derive(Clone, Copy, Debug)]
enum StepExtent {
    Whole,
    WholeThenOff,
    PartThenOff(u16),
    PartThenFull(u16),
}

impl StepExtent {
    fn of(self, len: usize) -> usize {
        match self {
            Self::Whole | Self::WholeThenOff => len,
            Self::PartThenOff(permille) | Self::PartThenFull(permille) => {
                len * usize::from(permille.min(1000)) / 1000
            }
        }
    }
}

fn off() -> io::Error {
    io::Error::other("the simulated machine is off")
}

fn failed() -> io::Error {
    io::Error::other("a simulated input/output error")
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left on the simulated disk")
}

fn no_descriptors() -> io::Error {
    rustix::io::Errno::MFILE.into()
}

fn missing(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no file {name:?}"))
}

impl SimulatedDisk {
    pub fn new() -> Self {
        Self::default()
    }

    /// Injects `fault` at this step; the first step is 1.
    pub fn fail_at(&self, step: u64, fault: DiskFault) {
        self.0.lock().plan.insert(step, fault);
    }

    /// Injects `fault` at the `nth` step of its kind; the first one is 1.
    pub fn fail_at_nth(&self, kind: IoStep, nth: usize, fault: DiskFault) {
        self.0.lock().plan_by_kind.insert((kind, nth), fault);
    }

    /// Ends a full disk.
    pub fn make_room(&self) {
        self.0.lock().is_full = false;
    }

    /// Cancels the faults that have not come up yet.
    pub fn cancel_faults(&self) {
        let mut machine = self.0.lock();
        machine.plan.clear();
        machine.plan_by_kind.clear();
    }

    /// Sets the free bytes that the disk reports; a full disk reports none.
    pub fn set_free_bytes(&self, bytes: u64) {
        self.0.lock().free_bytes = Some(bytes);
    }

    /// Returns the number of steps taken.
    pub fn steps(&self) -> u64 {
        self.0.lock().trace.len() as u64
    }

    /// Returns the steps taken, each with its file.
    pub fn trace(&self) -> Vec<(IoStep, String)> {
        self.0.lock().trace.clone()
    }

    /// Returns the disk after a power loss: synced bytes survive, and of the rest a random subset of
    /// sectors that depends on `seed`.
    pub fn crash(&self, seed: u64) -> Self {
        let mut machine = self.0.lock().clone();
        let mut random = SplitMix(seed);
        for file in &mut machine.files {
            file.lose_power(&mut random);
        }
        Self::restarted(machine)
    }

    /// Returns the disk after the process was killed but the machine kept running: everything written
    /// survives, synced or not.
    pub fn kill(&self) -> Self {
        Self::restarted(self.0.lock().clone())
    }

    fn restarted(machine: SimulatedMachine) -> Self {
        let SimulatedMachine { names, files, .. } = machine;
        Self(Arc::new(Mutex::new(SimulatedMachine { names, files, ..SimulatedMachine::default() })))
    }

    /// Returns the names of all files, sorted, even while the machine is off.
    pub fn names(&self) -> Vec<String> {
        self.0.lock().names.keys().cloned().collect()
    }

    /// Returns the contents of a file, even while the machine is off.
    pub fn contents(&self, name: &str) -> Option<Vec<u8>> {
        let machine = self.0.lock();
        let file = machine.files.get(*machine.names.get(name)?)?;
        Some(file.current.clone())
    }

    /// Flips one bit of a file, on disk and in memory. Returns whether the bit exists.
    pub fn flip_bit(&self, name: &str, offset: usize, bit: u8) -> bool {
        let mut machine = self.0.lock();
        let Some(number) = machine.names.get(name).copied() else { return false };
        let Some(file) = machine.files.get_mut(number) else { return false };
        let FileContents { durable, current, .. } = file;
        let mut found = false;
        for byte in [durable, current].into_iter().filter_map(|bytes| bytes.get_mut(offset)) {
            *byte ^= 1 << (bit % 8);
            found = true;
        }
        found
    }

    /// Removes a file without a step, as another process would.
    pub fn remove_externally(&self, name: &str) -> bool {
        self.0.lock().names.remove(name).is_some()
    }

    fn file(&self, number: usize, name: &str) -> Arc<dyn DiskFile> {
        Arc::new(SimulatedFile { disk: self.clone(), number, name: name.to_owned() })
    }
}

impl SimulatedMachine {
    /// Counts a step and returns which part of it happens.
    fn begin(&mut self, step: IoStep, name: &str) -> io::Result<StepExtent> {
        if self.is_off {
            return Err(off());
        }
        self.trace.push((step, name.to_owned()));
        let takes_space = matches!(step, IoStep::Create | IoStep::Write);
        match self.planned() {
            Some(DiskFault::CrashAfter) => return Ok(StepExtent::WholeThenOff),
            Some(DiskFault::CrashWithin { permille }) if takes_space => {
                return Ok(StepExtent::PartThenOff(permille));
            }
            Some(DiskFault::CrashBefore | DiskFault::CrashWithin { .. }) => {
                self.is_off = true;
                return Err(off());
            }
            Some(DiskFault::Fails | DiskFault::SyncForgets) => return Err(failed()),
            Some(DiskFault::NoDescriptors) => return Err(no_descriptors()),
            #[expect(clippy::panic, reason = "this is the fault")]
            Some(DiskFault::Panics) => panic!("a simulated bug"),
            Some(DiskFault::DiskFull) => self.is_full = true,
            None => {}
        }
        match step {
            _ if takes_space && self.is_full => Ok(StepExtent::PartThenFull(FULL_PERMILLE)),
            IoStep::TreeCommit if self.is_full => Err(full()),
            _ => Ok(StepExtent::Whole),
        }
    }

    /// Returns the fault planned for the step just counted.
    fn planned(&self) -> Option<DiskFault> {
        let by_number = self.plan.get(&(self.trace.len() as u64)).copied();
        // Counting the steps of a kind takes longer the more there are.
        if by_number.is_some() || self.plan_by_kind.is_empty() {
            return by_number;
        }
        let (kind, _) = self.trace.last()?;
        let nth = self.trace.iter().filter(|(step, _)| step == kind).count();
        self.plan_by_kind.get(&(*kind, nth)).copied()
    }

    /// Ends a step of which `extent` happened.
    fn end(&mut self, extent: StepExtent) -> io::Result<()> {
        match extent {
            StepExtent::Whole => Ok(()),
            StepExtent::PartThenFull(_) => Err(full()),
            StepExtent::WholeThenOff | StepExtent::PartThenOff(_) => {
                self.is_off = true;
                Err(off())
            }
        }
    }

    fn read(&self) -> io::Result<&Self> {
        if self.is_off { Err(off()) } else { Ok(self) }
    }
}

impl FileContents {
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        overlay(&mut self.current, offset, bytes);
        self.unsynced.push((offset, bytes.to_vec()));
    }

    fn sync(&mut self) {
        for (offset, bytes) in self.unsynced.drain(..) {
            overlay(&mut self.durable, offset, &bytes);
        }
        // Truncation and growth are durable at once, so only the bytes can differ.
    }

    fn truncate(&mut self, len: u64) {
        let len = to_usize(len);
        self.current.resize(len, 0);
        self.durable.resize(len, 0);
        for (offset, bytes) in &mut self.unsynced {
            bytes.truncate(len.saturating_sub(to_usize(*offset)));
        }
    }

    /// Makes a random part of the unsynced writes durable, and drops the rest.
    fn lose_power(&mut self, random: &mut SplitMix) {
        let mut pieces: Vec<(u64, Vec<u8>)> = Vec::new();
        match random.below(4) {
            0 => {}
            1 => pieces.append(&mut self.unsynced),
            2 => pieces.extend(self.unsynced.drain(..).filter(|_| random.below(2) == 0)),
            _ => {
                let sectors =
                    self.unsynced.drain(..).flat_map(|(offset, bytes)| split(offset, &bytes));
                pieces.extend(sectors.filter(|_| random.below(2) == 0));
                random.shuffle(&mut pieces);
            }
        }
        self.unsynced.clear();
        for (offset, bytes) in pieces {
            overlay(&mut self.durable, offset, &bytes);
        }
        self.current.clone_from(&self.durable);
    }
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn overlay(file: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let offset = to_usize(offset);
    file.resize(file.len().max(offset + bytes.len()), 0);
    if let Some(place) = file.get_mut(offset..offset + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// Splits a write into sectors.
fn split(offset: u64, bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut pieces = Vec::new();
    let (mut at, mut rest) = (offset, bytes);
    while !rest.is_empty() {
        let in_sector = to_usize(SECTOR_BYTES - at % SECTOR_BYTES).min(rest.len());
        let (piece, after) = rest.split_at(in_sector);
        pieces.push((at, piece.to_vec()));
        at += in_sector as u64;
        rest = after;
    }
    pieces
}

impl Disk for SimulatedDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().read()?.names.keys().cloned().collect())
    }

    fn create(&self, name: &str, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut machine = self.0.lock();
        let extent = machine.begin(IoStep::Create, name)?;
        let fresh = machine.files.len();
        // An existing file is truncated, not replaced: other handles to it stay valid.
        let number = *machine.names.entry(name.to_owned()).or_insert(fresh);
        if number == fresh {
            machine.files.push(FileContents::default());
        }
        if let Some(file) = machine.files.get_mut(number) {
            file.truncate(0);
            file.unsynced.clear();
            file.truncate(extent.of(to_usize(len)) as u64);
        }
        machine.end(extent)?;
        Ok(self.file(number, name))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let number = self.0.lock().read()?.names.get(name).copied();
        number.map(|number| self.file(number, name)).ok_or_else(|| missing(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut machine = self.0.lock();
        let extent = machine.begin(IoStep::Rename, from)?;
        let number = machine.names.remove(from).ok_or_else(|| missing(from))?;
        machine.names.insert(to.to_owned(), number);
        machine.end(extent)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut machine = self.0.lock();
        let extent = machine.begin(IoStep::Remove, name)?;
        machine.names.remove(name).ok_or_else(|| missing(name))?;
        machine.end(extent)
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let machine = self.0.lock();
        let machine = machine.read()?;
        Ok(if machine.is_full { 0 } else { machine.free_bytes.unwrap_or(u64::MAX) })
    }

    fn before_tree_commit(&self) -> io::Result<()> {
        let mut machine = self.0.lock();
        match machine.begin(IoStep::TreeCommit, "the tree")? {
            // The commit itself still happens, but is not acknowledged.
            StepExtent::WholeThenOff => {
                machine.is_off = true;
                Ok(())
            }
            extent => machine.end(extent),
        }
    }
}

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    number: usize,
    name: String,
}

impl SimulatedFile {
    /// Performs one step on the file.
    fn step(
        &self,
        step: IoStep,
        act: impl FnOnce(&mut FileContents, StepExtent),
    ) -> io::Result<()> {
        let mut machine = self.disk.0.lock();
        let extent = match machine.begin(step, &self.name) {
            Ok(extent) => extent,
            Err(error) => {
                if step == IoStep::Sync
                    && !machine.is_off
                    && machine.planned() == Some(DiskFault::SyncForgets)
                    && let Some(file) = machine.files.get_mut(self.number)
                {
                    file.unsynced.clear();
                }
                return Err(error);
            }
        };
        let file = machine.files.get_mut(self.number).ok_or_else(|| missing(&self.name))?;
        act(file, extent);
        machine.end(extent)
    }
}

impl DiskFile for SimulatedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.step(IoStep::Write, |file, extent| {
            file.write(offset, bytes.get(..extent.of(bytes.len())).unwrap_or_default());
        })
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let machine = self.disk.0.lock();
        let file = machine.read()?.files.get(self.number).ok_or_else(|| missing(&self.name))?;
        let rest = file.current.get(to_usize(offset)..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..len), rest.get(..len)) {
            to.copy_from_slice(from);
        }
        Ok(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.step(IoStep::Sync, |file, _| file.sync())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.step(IoStep::Truncate, |file, _| file.truncate(len))
    }

    fn len(&self) -> io::Result<u64> {
        let machine = self.disk.0.lock();
        let file = machine.read()?.files.get(self.number).ok_or_else(|| missing(&self.name))?;
        Ok(file.current.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &Arc<dyn DiskFile>) -> Vec<u8> {
        let mut bytes = vec![0; to_usize(file.len().unwrap())];
        let read = file.read_at(&mut bytes, 0).unwrap();
        assert_eq!(read, bytes.len());
        bytes
    }

    #[test]
    fn a_power_loss_keeps_synced_bytes_and_any_subset_of_other_sectors() {
        let disk = SimulatedDisk::new();
        let file = disk.create("a", 4096).unwrap();
        file.write_at(&[1; 2048], 0).unwrap();
        file.sync().unwrap();
        file.write_at(&[2; 2048], 0).unwrap();
        let mut outcomes = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let bytes = disk.crash(seed).contents("a").unwrap();
            assert_eq!(bytes.len(), 4096);
            let sectors: Vec<u8> = bytes.chunks(512).map(|sector| sector[0]).collect();
            assert!(bytes.chunks(512).all(|s| s.iter().all(|b| *b == s[0])), "torn in a sector");
            assert!(sectors[..4].iter().all(|b| [1, 2].contains(b)) && sectors[4..] == [0; 4]);
            outcomes.insert(sectors);
        }
        assert_eq!(outcomes.len(), 16, "every subset of four sectors comes up");
    }

    #[test]
    fn bytes_dropped_by_a_failed_sync_read_back_until_a_power_loss() {
        let disk = SimulatedDisk::new();
        let file = disk.create("a", 4).unwrap();
        file.write_at(b"data", 0).unwrap();
        disk.fail_at(3, DiskFault::SyncForgets);
        assert!(file.sync().is_err());
        file.sync().unwrap();
        assert_eq!(read(&file), b"data");
        assert_eq!(disk.kill().contents("a").unwrap(), b"data");
        for seed in 0..20 {
            assert_eq!(disk.crash(seed).contents("a").unwrap(), [0; 4]);
        }
        file.write_at(b"data", 0).unwrap();
        file.sync().unwrap();
        assert_eq!(disk.crash(0).contents("a").unwrap(), b"data", "written again, it counts");
    }

    #[test]
    fn after_a_crash_everything_fails() {
        let disk = SimulatedDisk::new();
        let file = disk.create("a", 0).unwrap();
        disk.fail_at(2, DiskFault::CrashWithin { permille: 500 });
        assert!(file.write_at(b"abcd", 0).is_err());
        assert!(disk.list().is_err() && file.sync().is_err() && disk.create("b", 0).is_err());
        assert_eq!(disk.kill().contents("a").unwrap(), b"ab");
        assert_eq!(disk.steps(), 2, "a stopped machine counts no steps");
    }

    #[test]
    fn a_full_disk_rejects_writes_and_still_syncs() {
        let disk = SimulatedDisk::new();
        let file = disk.create("a", 0).unwrap();
        disk.fail_at(2, DiskFault::DiskFull);
        let error = file.write_at(b"abcd", 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        file.sync().unwrap();
        assert!(disk.before_tree_commit().is_err());
        assert_eq!(disk.crash(0).contents("a").unwrap(), b"ab");
    }
}
