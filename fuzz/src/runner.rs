//! Runs a target on mutated seeds, and keeps inputs whose responses show something new.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

use crate::response_checks::hash;

/// Hashes of the features that responses have shown.
pub type Coverage = HashSet<u64>;

type FuzzTarget = fn(&[u8]) -> Coverage;

const KEPT_MAX: usize = 20_000;
/// The largest generated input.
const INPUT_BYTES_MAX: usize = 2_000;
/// The longest acceptable time for one input.
const DURATION_MAX: Duration = Duration::from_secs(5);

/// The input of the current run.
static CURRENT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// Set by any panic, caught or not.
static PANICKED: AtomicBool = AtomicBool::new(false);

fn seeds_dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name)
}

fn read_seeds(name: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(seeds_dir(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "there are no seeds");
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Runs mutated seeds for the number of minutes on the command line, by default one. Writes the input to
/// a file and aborts when anything panics.
pub fn run(name: &'static str, target: FuzzTarget) {
    run_target(name, target, 1);
}

/// As [`run`], with the minutes at this place of the command line and the seed after it.
pub fn run_target(name: &'static str, target: FuzzTarget, place: usize) {
    let minutes = std::env::args().nth(place).map_or(1.0, |text| text.parse::<f64>().unwrap());
    let seed = std::env::args().nth(place + 1);
    let seed = seed.map_or_else(rand::random, |text| text.parse::<u64>().unwrap());
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        hook(info);
        let input = CURRENT.lock().map(|input| input.clone()).unwrap_or_default();
        let file = format!("found-{name}-{:016x}", hash(&String::from_utf8_lossy(&input)));
        let kept = fs::write(&file, &input).is_ok();
        eprintln!("the input was {} to {file}", if kept { "written" } else { "NOT written" });
        std::process::abort();
    }));
    eprintln!("{name}: {minutes} minutes from seed {seed}");
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let mut run = FuzzRun::new(name, target, seed);
    let mut reported_at = Instant::now();
    while Instant::now() < end {
        run.step();
        if reported_at.elapsed() > Duration::from_secs(10) {
            reported_at = Instant::now();
            eprintln!("{}", run.summary());
        }
    }
    eprintln!("done: {}", run.summary());
}

/// Runs all seeds and a fixed sequence of `steps` mutated ones.
pub fn smoke(name: &'static str, target: FuzzTarget, steps: usize) {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICKED.store(true, Ordering::SeqCst);
        hook(info);
    }));
    let mut run = FuzzRun::new(name, target, 7);
    (0..steps).for_each(|_| run.step());
    assert!(run.coverage.len() > 10, "no coverage: {}", run.summary());
}

struct FuzzRun {
    target: FuzzTarget,
    inputs: Vec<Vec<u8>>,
    coverage: Coverage,
    random: SmallRng,
    count: usize,
    slowest: Duration,
    started: Instant,
}

impl FuzzRun {
    fn new(name: &str, target: FuzzTarget, seed: u64) -> Self {
        let random = SmallRng::seed_from_u64(seed);
        let (coverage, slowest) = (Coverage::new(), Duration::ZERO);
        let started = Instant::now();
        let mut run =
            Self { target, inputs: Vec::new(), coverage, random, count: 0, slowest, started };
        for input in read_seeds(name) {
            run.run_input(&input);
            run.inputs.push(input);
        }
        run
    }

    fn summary(&self) -> String {
        let Self { count, inputs, coverage, slowest, .. } = self;
        let seconds = self.started.elapsed().as_secs();
        let (kept, features) = (inputs.len(), coverage.len());
        format!(
            "{count} inputs in {seconds} s, {kept} kept, {features} features, slowest {slowest:?}"
        )
    }

    fn run_input(&mut self, input: &[u8]) -> bool {
        input.clone_into(&mut CURRENT.lock().unwrap());
        let started = Instant::now();
        let coverage = (self.target)(input);
        // The first input includes the setup.
        if self.count > 0 {
            self.slowest = self.slowest.max(started.elapsed());
        }
        self.count += 1;
        assert!(self.slowest < DURATION_MAX, "this took {:?}", self.slowest);
        assert!(!PANICKED.load(Ordering::SeqCst), "a panic was caught");
        let before = self.coverage.len();
        self.coverage.extend(coverage);
        self.coverage.len() > before
    }

    fn step(&mut self) {
        let input = if self.random.random_ratio(1, 2) { self.choices() } else { self.mutated() };
        if self.run_input(&input) && self.inputs.len() < KEPT_MAX {
            self.inputs.push(input);
        }
    }

    /// Returns choices for a target that generates its input.
    fn choices(&mut self) -> Vec<u8> {
        let length = self.random.random_range(10..INPUT_BYTES_MAX);
        std::iter::once(255).chain((0..length).map(|_| self.random.random())).collect()
    }

    /// Returns one of the inputs with a few mutations.
    fn mutated(&mut self) -> Vec<u8> {
        let at = self.random.random_range(0..self.inputs.len());
        let mut input = self.inputs.get(at).cloned().unwrap_or_default();
        for _ in 0..1 << self.random.random_range(0..4) {
            self.mutate(&mut input);
        }
        input
    }

    fn mutate(&mut self, input: &mut Vec<u8>) {
        let at = self.random.random_range(0..=input.len());
        let end = (at + self.random.random_range(1..32)).min(input.len());
        match self.random.random_range(0..6) {
            0 => input.insert(at, self.random.random()),
            1 => drop(input.drain(at..end)),
            2 => {
                let part = input.get(at..end).unwrap_or_default().to_vec();
                let to = self.random.random_range(0..=input.len());
                input.splice(to..to, part);
            }
            3 => {
                let other = self.random.random_range(0..self.inputs.len());
                let other = self.inputs.get(other).map(Vec::as_slice).unwrap_or_default();
                let from = self.random.random_range(0..=other.len());
                let until = (from + self.random.random_range(1..64)).min(other.len());
                let part = other.get(from..until).unwrap_or_default().to_vec();
                input.splice(at..end.max(at), part);
            }
            4 => {
                let bit = 1 << self.random.random_range(0..8);
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= bit;
                }
            }
            _ => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = self.random.random();
                }
            }
        }
    }
}
