//! The cost of each access pattern and mutation by itself, independent of rates.

use std::fmt;

use super::columns::Columns;
use super::expression::CountExpression;
use super::mutations::{CountValues, MutationRecord, mutations};
use super::plan::ReadCost;
use super::rates::ReadRate;
use super::{CapacityError, reads};

/// The cost of one typical call of every access pattern and mutation.
#[derive(Clone, Debug)]
pub struct CostCatalogue {
    /// The access patterns, in the order of the schema.
    pub reads: Vec<ReadCost>,
    pub writes: Vec<MutationEntry>,
}

/// The operations of a mutation, with its usual counts.
#[derive(Clone, Debug)]
pub struct MutationEntry {
    pub mutation: &'static MutationRecord,
    pub counts: CountValues,
}

/// Computes the cost of every access pattern and mutation.
pub fn catalogue() -> Result<CostCatalogue, CapacityError> {
    let reads = reads::patterns().map(|pattern| ReadCost::of(&ReadRate::usual(pattern, 0.0)));
    let writes = mutations().iter();
    let writes = writes.map(|mutation| MutationEntry { mutation, counts: mutation.counts() });
    Ok(CostCatalogue { reads: reads.collect::<Result<_, _>>()?, writes: writes.collect() })
}

impl MutationEntry {
    /// Adds a row for each kind of write, for the reads, and for their sums.
    fn add_rows(&self, rows: &mut Columns) {
        let Self { mutation, counts } = self;
        let own = ("itself", &mutation.own, &mutation.own_reads);
        let derived = ("stream", &mutation.derived, &mutation.derived_reads);
        let mut name = mutation.name.as_str();
        for (by, writes, reads) in [own, derived] {
            for write in writes {
                let words = [name, by, write.kind.name(), &write.entity, &varying(&write.times)];
                let (bytes, units) = (f64::from(write.bytes), f64::from(write.units));
                let figures = [bytes, units, write.times.value(counts), write.units_of(counts)];
                rows.row(&words, &[&figures.map(Some)[..], &[None]].concat());
                name = "";
            }
            let read = reads.value(counts);
            if read > 0.0 {
                let words = [name, by, "read", "", &varying(reads)];
                rows.row(&words, &[None, None, None, None, Some(read)]);
                name = "";
            }
        }
        let written = mutation.own_units(counts) + mutation.derived_units(counts);
        let read = mutation.read_units(counts);
        rows.row(&["", "", "all", "", ""], &[None, None, None, Some(written), Some(read)]);
    }
}

/// Returns the text of an expression that depends on counts.
fn varying(expression: &CountExpression) -> String {
    if expression.is_constant() { String::new() } else { expression.to_string() }
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
            "reads/call",
        ];
        let mut writes = Columns::new(5, &titles);
        for entry in &self.writes {
            entry.add_rows(&mut writes);
        }
        write!(f, "{writes}")
    }
}
