//! What each question and each mutation costs by itself, whatever the rates.

use std::fmt;

use super::columns::Columns;
use super::mutations::{Act, Mutation, Step, mutations};
use super::plan::ReadLine;
use super::rates::ReadRate;
use super::{CapacityError, reads, units};

/// What every question and every mutation costs, once and as it usually is.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// Every access pattern, in the order of the page.
    pub reads: Vec<ReadLine>,
    /// Every mutation.
    pub writes: Vec<WriteEntry>,
}

/// A mutation, write by write.
#[derive(Clone, Debug)]
pub struct WriteEntry {
    /// The mutation.
    pub mutation: &'static str,
    /// What it writes itself.
    pub own: Vec<StepEntry>,
    /// What the stream processors add.
    pub derived: Vec<StepEntry>,
}

/// A write of a mutation.
#[derive(Clone, Debug)]
pub struct StepEntry {
    /// What it does.
    pub act: Act,
    /// To which entity.
    pub entity: &'static str,
    /// The larger of its images, in bytes.
    pub bytes: usize,
    /// Write units of one.
    pub units: f64,
    /// How many there usually are.
    pub number: f64,
    /// What tells how many there are, where it varies.
    pub count: Option<&'static str>,
}

/// Works out what every question and every mutation costs.
pub fn catalogue() -> Result<Catalogue, CapacityError> {
    let reads = reads::patterns().map(|pattern| ReadLine::of(&ReadRate::usual(pattern, 0.0)));
    let writes = mutations().into_iter().map(|Mutation { name, own, derived }| {
        Ok(WriteEntry { mutation: name, own: entries(&own)?, derived: entries(&derived)? })
    });
    Ok(Catalogue {
        reads: reads.collect::<Result<_, _>>()?,
        writes: writes.collect::<Result<_, CapacityError>>()?,
    })
}

fn entries(steps: &[Step]) -> Result<Vec<StepEntry>, CapacityError> {
    let entry = |step: &Step| {
        Ok(StepEntry {
            act: step.act,
            entity: step.entity,
            bytes: step.bytes(),
            units: units::writes(step.capacity()?),
            number: step.count.map_or(1.0, |(_, usually)| usually),
            count: step.count.map(|(name, _)| name),
        })
    };
    steps.iter().map(entry).collect()
}

impl fmt::Display for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reads = Columns::new(2, &["read", "how", "units/call"]);
        for line in &self.reads {
            reads.row(&[line.pattern, &line.how], &[Some(line.units)]);
        }
        writeln!(f, "{reads}")?;
        let titles =
            ["write", "by", "act", "entity", "count", "bytes", "units", "times", "units/call"];
        let mut writes = Columns::new(5, &titles);
        for entry in &self.writes {
            let mut name = entry.mutation;
            let mut all = 0.0;
            let own = entry.own.iter().map(|step| ("itself", step));
            for (by, step) in own.chain(entry.derived.iter().map(|step| ("stream", step))) {
                let words =
                    [name, by, step.act.name(), step.entity, step.count.unwrap_or_default()];
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
