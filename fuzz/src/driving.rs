//! Trying inputs: changed seeds, of which those are kept that show something new in the
//! answers.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

use crate::answers::hash;

/// What was seen of the program: what its answers hold, as numbers.
pub type Seen = HashSet<u64>;

/// What tries an input.
type Target = fn(&[u8]) -> Seen;

/// Inputs that are kept.
const KEPT: usize = 20_000;
/// Bytes of an input that is made up.
const LONG: usize = 2_000;
/// How long one input may take: nobody's request is answered later than that.
const SLOW: Duration = Duration::from_secs(5);

/// The input that is being tried.
static CURRENT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// Whether something panicked somewhere, caught or not.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Where the seeds of a target are.
fn seeds(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name)
}

fn read_seeds(name: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(seeds(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "there are no seeds");
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Tries changed seeds for as many minutes as the command line says, one if it says nothing. Ends the process
/// when something panics anywhere, with the input in a file.
pub fn drive(name: &'static str, target: Target) {
    let minutes = std::env::args().nth(1).map_or(1.0, |text| text.parse::<f64>().unwrap());
    let seed =
        std::env::args().nth(2).map_or_else(rand::random, |text| text.parse::<u64>().unwrap());
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        hook(info);
        let input = CURRENT.lock().map(|input| input.clone()).unwrap_or_default();
        let file = format!("found-{name}-{:016x}", hash(&String::from_utf8_lossy(&input)));
        let kept = fs::write(&file, &input).is_ok();
        eprintln!("the input is {} in {file}", if kept { "now" } else { "NOT" });
        std::process::abort();
    }));
    eprintln!("{name}: {minutes} minutes from seed {seed}");
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let mut run = Run::new(name, target, seed);
    let mut told = Instant::now();
    while Instant::now() < end {
        run.step();
        if told.elapsed() > Duration::from_secs(10) {
            told = Instant::now();
            eprintln!("{}", run.figures());
        }
    }
    eprintln!("done: {}", run.figures());
}

/// Tries all seeds, and so many changed ones, the same every time.
pub fn smoke(name: &'static str, target: Target, steps: usize) {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICKED.store(true, Ordering::SeqCst);
        hook(info);
    }));
    let mut run = Run::new(name, target, 7);
    (0..steps).for_each(|_| run.step());
    assert!(run.seen.len() > 10, "nothing was seen: {}", run.figures());
}

struct Run {
    target: Target,
    inputs: Vec<Vec<u8>>,
    seen: Seen,
    random: SmallRng,
    tried: usize,
    slowest: Duration,
    started: Instant,
}

impl Run {
    fn new(name: &str, target: Target, seed: u64) -> Self {
        let random = SmallRng::seed_from_u64(seed);
        let (seen, slowest) = (Seen::new(), Duration::ZERO);
        let started = Instant::now();
        let mut run = Self { target, inputs: Vec::new(), seen, random, tried: 0, slowest, started };
        for input in read_seeds(name) {
            run.try_one(&input);
            run.inputs.push(input);
        }
        run
    }

    fn figures(&self) -> String {
        let Self { tried, inputs, seen, slowest, .. } = self;
        let seconds = self.started.elapsed().as_secs();
        let (kept, seen) = (inputs.len(), seen.len());
        format!(
            "{tried} inputs in {seconds} s, {kept} kept, {seen} things seen, slowest {slowest:?}"
        )
    }

    fn try_one(&mut self, input: &[u8]) -> bool {
        input.clone_into(&mut CURRENT.lock().unwrap());
        let started = Instant::now();
        let seen = (self.target)(input);
        // The first one sets everything up.
        if self.tried > 0 {
            self.slowest = self.slowest.max(started.elapsed());
        }
        self.tried += 1;
        assert!(self.slowest < SLOW, "this took {:?}", self.slowest);
        assert!(!PANICKED.load(Ordering::SeqCst), "something panicked, and was caught");
        let before = self.seen.len();
        self.seen.extend(seen);
        self.seen.len() > before
    }

    fn step(&mut self) {
        let input = if self.random.random_ratio(1, 2) { self.choices() } else { self.changed() };
        if self.try_one(&input) && self.inputs.len() < KEPT {
            self.inputs.push(input);
        }
    }

    /// Choices for a target that writes its input by them.
    fn choices(&mut self) -> Vec<u8> {
        let length = self.random.random_range(10..LONG);
        std::iter::once(255).chain((0..length).map(|_| self.random.random())).collect()
    }

    /// One of the inputs, changed in a few places.
    fn changed(&mut self) -> Vec<u8> {
        let at = self.random.random_range(0..self.inputs.len());
        let mut input = self.inputs.get(at).cloned().unwrap_or_default();
        for _ in 0..1 << self.random.random_range(0..4) {
            self.change(&mut input);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
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
