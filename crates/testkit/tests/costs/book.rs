//! The recorded costs of all mutations, and their text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::expression::{Count, Expression, share};
use crate::recorder::{Origin, Recording};
use crate::scene::{Scene, TownSeed};

const HEADER: &str = "\
# The cost of each mutation, recorded on the reference backend with typical users and texts. Do not
# edit: ROUNDTABLE_RECORD=1 cargo test -p roundtable-testkit --test costs
#
# `own` are the writes of the mutation itself, `derived` those of the stream processors; their leases,
# checkpoints and jobs are left out. `counts` are the numbers that vary, with their usual values.
# `bytes` is the size of the largest image, `units` the write units of one write; reads are in read
# units. `any tags` is one if there are tags.
";

/// The share of calls with a `requestId`.
const REQUEST_IDS: &str = "request_ids";

#[derive(Debug)]
pub(crate) struct CostBook {
    seed: TownSeed,
    mutations: Vec<RecordedMutation>,
}

#[derive(Debug)]
struct RecordedMutation {
    name: &'static str,
    /// All counts at their first values.
    base: Recording,
    /// For each count, the recordings with its other values.
    others: Vec<(Count, Vec<Recording>)>,
}

impl CostBook {
    pub(crate) async fn new() -> Self {
        Self { seed: TownSeed::new().await, mutations: Vec::new() }
    }

    /// Records a mutation that stores its outcome when the call has a `requestId`. `case` reads the
    /// counts from the scene.
    pub(crate) async fn mutation(
        &mut self,
        name: &'static str,
        counts: &[Count],
        case: impl AsyncFn(&Scene),
    ) {
        let counts = [&[share(REQUEST_IDS, 1.0)], counts].concat();
        self.mutation_once(name, &counts, case).await;
    }

    /// Records a mutation without a `requestId`.
    pub(crate) async fn mutation_once(
        &mut self,
        name: &'static str,
        counts: &[Count],
        case: impl AsyncFn(&Scene),
    ) {
        let first: BTreeMap<_, _> =
            counts.iter().map(|count| (count.name, count.values[0])).collect();
        let run = async |counts| {
            let scene = Scene::new(&self.seed, counts).await;
            case(&scene).await;
            let recording = scene.take_recording();
            assert!(!recording.writes.is_empty(), "{name} wrote nothing");
            recording
        };
        let base = run(first.clone()).await;
        let mut others = Vec::new();
        for count in counts {
            let mut recordings = Vec::new();
            for value in &count.values[1..] {
                let mut counts = first.clone();
                counts.insert(count.name, *value);
                recordings.push(run(counts).await);
            }
            others.push((*count, recordings));
        }
        self.mutations.push(RecordedMutation { name, base, others });
    }

    pub(crate) fn has(&self, mutation: &str) -> bool {
        self.mutations.iter().any(|recorded| recorded.name == mutation)
    }

    /// Renders the mutations in the order of the contract, each followed by its variants.
    pub(crate) fn render(&self, contract: &[String]) -> String {
        let position = |recorded: &&RecordedMutation| {
            let of = contract.iter().enumerate().filter(|(_, name)| recorded.is_of(name));
            // Of several names it begins with, the longest is its own.
            let of = of.max_by_key(|(_, name)| name.len());
            let (at, _) = of.unwrap_or_else(|| panic!("{} is not in the contract", recorded.name));
            (at, recorded.name.len())
        };
        let mut mutations: Vec<_> = self.mutations.iter().collect();
        mutations.sort_by_key(position);
        let mut text = String::from(HEADER);
        for mutation in mutations {
            let rendered = mutation.render();
            mutation.assert_counts_matter(&rendered);
            text.push_str(&rendered);
        }
        text
    }
}

impl RecordedMutation {
    /// Returns whether this is the mutation `name`, or a variant of it: `updateTaskDone`.
    fn is_of(&self, name: &str) -> bool {
        let rest = self.name.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|first: char| first.is_ascii_lowercase()))
    }

    fn fit(&self, value: impl Fn(&Recording) -> f64) -> Expression {
        let base = value(&self.base);
        self.others.iter().fold(Expression::constant(base), |sum, (count, others)| {
            let recorded: Vec<f64> = [base].into_iter().chain(others.iter().map(&value)).collect();
            sum.with(count, &recorded)
        })
    }

    fn render(&self) -> String {
        let mut text = String::new();
        let counts =
            self.others.iter().map(|(count, _)| format!("{} = {}", count.name, count.usual));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let counts = if counts.is_empty() { String::from("{}") } else { format!("{{ {counts} }}") };
        writeln!(text, "\n[[mutation]]\nname = \"{}\"\ncounts = {counts}", self.name).unwrap();
        for (origin, title) in [(Origin::Own, "own"), (Origin::Derived, "derived")] {
            let reads = self.fit(|recording| {
                let halves = recording.reads.get(&origin).copied().unwrap_or_default();
                f64::from(u32::try_from(halves).unwrap()) / 2.0
            });
            writeln!(text, "{title}_reads = \"{reads}\"").unwrap();
            let lines = self.write_lines(origin);
            if lines.is_empty() {
                writeln!(text, "{title} = []").unwrap();
            } else {
                writeln!(text, "{title} = [\n{lines}]").unwrap();
            }
        }
        text
    }

    /// A count without effect is a mistake in the case.
    fn assert_counts_matter(&self, rendered: &str) {
        let (_, body) = rendered.split_once("\nown_reads").unwrap();
        let words: BTreeSet<&str> = body.split([' ', '"']).collect();
        for (count, _) in &self.others {
            assert!(words.contains(count.name), "{}: {} has no effect", self.name, count.name);
        }
    }

    fn write_lines(&self, origin: Origin) -> String {
        let mut classes = BTreeMap::new();
        let others = self.others.iter().flat_map(|(_, recordings)| recordings);
        for recording in [&self.base].into_iter().chain(others) {
            for (class, (_, bytes)) in &recording.writes {
                let largest = classes.entry(*class).or_default();
                *largest = (*bytes).max(*largest);
            }
        }
        let mut lines = String::new();
        for (class, bytes) in classes.into_iter().filter(|(class, _)| class.origin == origin) {
            let times = self.fit(|recording| {
                recording.writes.get(&class).map_or(0.0, |(number, _)| f64::from(*number))
            });
            let (kind, entity, units) = (class.kind, class.entity, class.units);
            let transaction = class.transactional;
            writeln!(
                lines,
                "  {{ kind = \"{kind}\", entity = \"{entity}\", bytes = {bytes}, transaction = \
                 {transaction}, units = {units}, times = \"{times}\" }},"
            )
            .unwrap();
        }
        lines
    }
}
