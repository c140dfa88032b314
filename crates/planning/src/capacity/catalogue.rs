//! The cost of each access pattern and mutation by itself, independent of rates.

use std::fmt;

use super::columns::Columns;
use super::mutations::{MutationStep, MutationWrites, WriteKind, mutations};
use super::plan::ReadCost;
use super::rates::ReadRate;
use super::{CapacityError, reads, units};

/// The cost of one typical call of every access pattern and mutation.
#[derive(Clone, Debug)]
pub struct CostCatalogue {
    /// The access patterns, in the order of the schema.
    pub reads: Vec<ReadCost>,
    pub writes: Vec<MutationEntry>,
}

/// The writes of a mutation.
#[derive(Clone, Debug)]
pub struct MutationEntry {
    pub mutation: &'static str,
    /// The writes of the mutation itself.
    pub own: Vec<StepEntry>,
    /// The writes that stream processors add.
    pub derived: Vec<StepEntry>,
}

/// One write of a mutation.
#[derive(Clone, Debug)]
pub struct StepEntry {
    pub kind: WriteKind,
    pub entity: &'static str,
    /// The size of the larger image, before or after the write.
    pub bytes: usize,
    /// The write units of one such write.
    pub units: f64,
    /// The usual number of such writes.
    pub number: f64,
    /// The name of the count that determines the number, where it varies.
    pub count: Option<&'static str>,
}

/// Computes the cost of every access pattern and mutation.
pub fn catalogue() -> Result<CostCatalogue, CapacityError> {
    let reads = reads::patterns().map(|pattern| ReadCost::of(&ReadRate::usual(pattern, 0.0)));
    let writes = mutations().into_iter().map(|MutationWrites { name, own, derived }| {
        Ok(MutationEntry { mutation: name, own: entries(&own)?, derived: entries(&derived)? })
    });
    Ok(CostCatalogue {
        reads: reads.collect::<Result<_, _>>()?,
        writes: writes.collect::<Result<_, CapacityError>>()?,
    })
}

fn entries(steps: &[MutationStep]) -> Result<Vec<StepEntry>, CapacityError> {
    let entry = |step: &MutationStep| {
        Ok(StepEntry {
            kind: step.kind,
            entity: step.entity,
            bytes: step.bytes(),
            units: units::writes(step.capacity()?),
            number: step.count.map_or(1.0, |(_, usually)| usually),
            count: step.count.map(|(name, _)| name),
        })
    };
    steps.iter().map(entry).collect()
}

impl fmt::Display for CostCatalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reads = Columns::new(2, &["read", "how", "units/call"]);
        for line in &self.reads {
            reads.row(&[line.pattern, &line.description], &[Some(line.units)]);
        }
        writeln!(f, "{reads}")?;
        let titles = [
            "write",
            "by",
            "operation",
            "entity",
            "count",
            "bytes",
            "units",
            "times",
            "units/call",
        ];
        let mut writes = Columns::new(5, &titles);
        for entry in &self.writes {
            let mut name = entry.mutation;
            let mut all = 0.0;
            let own = entry.own.iter().map(|step| ("itself", step));
            for (by, step) in own.chain(entry.derived.iter().map(|step| ("stream", step))) {
                let words =
                    [name, by, step.kind.name(), step.entity, step.count.unwrap_or_default()];
                let total = step.units * step.number;
                let bytes = u32::try_from(step.bytes).map(f64::from).ok();
                writes.row(&words, &[bytes, Some(step.units), Some(step.number), Some(total)]);
                name = "";
                all += total;
            }
            writes.row(&["", "", "all", "", ""], &[None, None, None, Some(all)]);
        }
        write!(f, "{writes}")
    }
}
