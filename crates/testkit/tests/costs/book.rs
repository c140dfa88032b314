//! The recorded costs of all mutations, and their text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::expression::Expression;
use crate::recorder::{Origin, Recording};
use crate::scene::Scene;

const HEADER: &str = "\
# The cost of each mutation, recorded on the reference backend with typical users and texts. Do not
# edit: ROUNDTABLE_RECORD=1 cargo test -p roundtable-testkit --test costs
#
# `own` are the writes of the mutation itself, `derived` those of the stream processors; their leases,
# checkpoints and jobs are left out. `counts` are the numbers that vary, with their usual values.
# `bytes` is the size of the largest image, `units` the write units of one write.
";

/// The share of calls with a `requestId`.
const REQUEST_IDS: &str = "request_ids";

#[derive(Debug, Default)]
pub(crate) struct CostBook {
    mutations: Vec<RecordedMutation>,
}

#[derive(Debug)]
struct RecordedMutation {
    name: &'static str,
    counts: Vec<(&'static str, f64)>,
    base: Recording,
    /// A recording for each count, with that count one and all others zero.
    with_one: Vec<Recording>,
}

impl CostBook {
    /// Records a mutation that stores its outcome when the call has a `requestId`. `counts` are
    /// what else varies, with usual values; `case` reads them from the scene.
    pub(crate) async fn mutation(
        &mut self,
        name: &'static str,
        counts: &[(&'static str, f64)],
        case: impl AsyncFn(&Scene),
    ) {
        let counts = [(REQUEST_IDS, 1.0)].into_iter().chain(counts.iter().copied()).collect();
        self.record(name, counts, case).await;
    }

    /// Records a mutation without a `requestId`.
    pub(crate) async fn mutation_once(
        &mut self,
        name: &'static str,
        counts: &[(&'static str, f64)],
        case: impl AsyncFn(&Scene),
    ) {
        self.record(name, counts.to_vec(), case).await;
    }

    async fn record(
        &mut self,
        name: &'static str,
        counts: Vec<(&'static str, f64)>,
        case: impl AsyncFn(&Scene),
    ) {
        let run = async |count: Option<&'static str>| {
            let scene = Scene::new(count).await;
            case(&scene).await;
            let recording = scene.take_recording();
            assert!(!recording.writes.is_empty(), "{name} wrote nothing");
            recording
        };
        let base = run(None).await;
        let mut with_one = Vec::new();
        for (count, _) in &counts {
            with_one.push(run(Some(count)).await);
        }
        self.mutations.push(RecordedMutation { name, counts, base, with_one });
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
            mutation.render(&mut text);
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
        let with_one = self.counts.iter().zip(&self.with_one);
        let with_one = with_one.map(|((count, _), recording)| (*count, value(recording)));
        Expression::fit(value(&self.base), with_one)
    }

    fn render(&self, text: &mut String) {
        let counts: Vec<_> = self.counts.iter().map(|(name, usual)| format!("{name} = {usual}")).collect();
        let counts = if counts.is_empty() { String::from("{}") } else { format!("{{ {} }}", counts.join(", ")) };
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
    }

    fn write_lines(&self, origin: Origin) -> String {
        let mut classes = BTreeMap::new();
        for recording in [&self.base].into_iter().chain(&self.with_one) {
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
            assert!(!times.is_zero());
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
