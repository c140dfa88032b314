//! The report of a run: a table of figures with ratios, then one line per bar.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    Lower,
    Higher,
}

#[derive(Clone, Debug)]
struct Row {
    figure: String,
    better: Better,
    values: Vec<Option<f64>>,
}

#[derive(Clone, Debug)]
struct Bar {
    name: String,
    value: f64,
    target: f64,
    better: Better,
    unit: &'static str,
}

impl Bar {
    fn is_met(&self) -> bool {
        match self.better {
            Better::Higher => self.value >= self.target,
            Better::Lower => self.value < self.target,
        }
    }

    fn line(&self) -> String {
        let Self { name, value, target, unit, .. } = self;
        let relation = if self.better == Better::Higher { ">=" } else { "<" };
        let verdict = if self.is_met() { "ok" } else { "MISSED" };
        format!("bar {name} {value:.2}{unit} {relation}{target}{unit} {verdict}")
    }
}

/// The collected figures and bars. The first subject is ours; the others are its peers.
#[derive(Debug)]
pub(crate) struct Report {
    subjects: Vec<&'static str>,
    rows: Vec<Row>,
    bars: Vec<Bar>,
    notes: Vec<String>,
    with_ratios: bool,
    failed: bool,
}

impl Report {
    pub(crate) fn new(subjects: Vec<&'static str>) -> Self {
        let (rows, bars, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { subjects, rows, bars, notes, with_ratios: true, failed: false }
    }

    /// Creates a report of subjects that are no peers of each other: without ratios.
    pub(crate) fn without_ratios(subjects: Vec<&'static str>) -> Self {
        Self { with_ratios: false, ..Self::new(subjects) }
    }

    /// Adds a figure of every subject, in their order; missing ones stay empty.
    pub(crate) fn figure(
        &mut self,
        figure: impl Into<String>,
        better: Better,
        values: impl IntoIterator<Item = impl Into<Option<f64>>>,
    ) {
        let values = values.into_iter().map(Into::into).collect();
        self.rows.push(Row { figure: figure.into(), better, values });
    }

    /// Adds a bar that the value must reach.
    pub(crate) fn at_least(&mut self, name: impl Into<String>, times: f64, target: f64) {
        let (name, better, unit) = (name.into(), Better::Higher, "x");
        self.bars.push(Bar { name, value: times, target, better, unit });
    }

    /// Adds a bar that the value must stay below.
    pub(crate) fn under(
        &mut self,
        name: impl Into<String>,
        value: f64,
        target: f64,
        unit: &'static str,
    ) {
        self.bars.push(Bar { name: name.into(), value, target, better: Better::Lower, unit });
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Notes a failed workload. The run fails, but prints the figures of the others.
    pub(crate) fn failed(&mut self, workload: &str, error: &anyhow::Error) {
        self.failed = true;
        self.note(format!("{workload} FAILED: {error:#}"));
    }

    /// Prints the report; the exit code says whether all bars are met.
    pub(crate) fn print(&self) -> ExitCode {
        println!();
        for line in self.table() {
            println!("{}", line.trim_end());
        }
        if !self.notes.is_empty() {
            println!();
            self.notes.iter().for_each(|note| println!("note: {note}"));
        }
        if !self.bars.is_empty() {
            println!();
            self.bars.iter().for_each(|bar| println!("{}", bar.line()));
        }
        let good = !self.failed && self.bars.iter().all(Bar::is_met);
        if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn table(&self) -> Vec<String> {
        let width = self.rows.iter().map(|row| row.figure.chars().count()).max().unwrap_or(0);
        let cell = self.subjects.iter().map(|name| name.len() + "x  ".len()).max().unwrap_or(0);
        let aligned = |label: &str, cells: &mut dyn Iterator<Item = String>| {
            aligned((label, width), cells, cell.max(CELL_MIN))
        };
        let names = self.subjects.iter().map(ToString::to_string);
        let peers = if self.with_ratios { self.subjects.len() } else { 1 };
        let ratios = self.subjects.iter().take(peers).skip(1).map(|peer| format!("x {peer}"));
        let head = aligned("", &mut names.chain(ratios));
        let lines = self.rows.iter().map(|row| {
            let value = |at: usize| row.values.get(at).copied().flatten();
            let figures = (0..self.subjects.len()).map(|at| value(at).map(format_figure));
            let ratios = (1..peers).map(|at| {
                value(0).zip(value(at)).map(|(ours, peer)| match row.better {
                    Better::Higher => format!("{:.2}", ours / peer),
                    Better::Lower => format!("{:.2}", peer / ours),
                })
            });
            aligned(&row.figure, &mut figures.chain(ratios).map(Option::unwrap_or_default))
        });
        std::iter::once(head).chain(lines).collect()
    }
}

/// The least width of a column.
const CELL_MIN: usize = 12;

fn aligned(
    (label, width): (&str, usize),
    cells: &mut dyn Iterator<Item = String>,
    each: usize,
) -> String {
    cells.fold(format!("{label:width$}"), |line, cell| format!("{line}{cell:>each$}"))
}

/// Formats a figure with a readable precision and thousands separators.
fn format_figure(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.2}");
    }
    if value < 1000.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable_at_any_size() {
        assert_eq!(format_figure(1.234), "1.23");
        assert_eq!(format_figure(56.78), "56.8");
        assert_eq!(format_figure(1_234_567.0), "1,234,567");
    }

    #[test]
    fn bars_show_value_target_and_verdict() {
        let mut report = Report::new(vec!["ours", "LMDB"]);
        report.at_least("get", 0.834, 0.8);
        report.under("reopen", 1.2, 1.0, "s");
        let lines: Vec<String> = report.bars.iter().map(Bar::line).collect();
        assert_eq!(lines, ["bar get 0.83x >=0.8x ok", "bar reopen 1.20s <1s MISSED"]);
    }

    #[test]
    fn subjects_that_are_no_peers_have_no_ratios() {
        let mut report = Report::without_ratios(vec!["page", "healthz"]);
        report.figure("requests/s", Better::Higher, [100.0, 400.0]);
        let lines = report.table();
        assert!(
            lines.iter().all(|line| !line.contains('x') && !line.contains("0.25")),
            "{lines:?}"
        );
    }

    #[test]
    fn long_names_do_not_run_into_each_other() {
        let mut report = Report::new(vec!["ours", "PostGraphile"]);
        report.figure("requests/s", Better::Higher, [2.0, 1.0]);
        let head = report.table().first().cloned().unwrap_or_default();
        let names: Vec<&str> = head.split_whitespace().collect();
        assert_eq!(names, ["ours", "PostGraphile", "x", "PostGraphile"]);
    }

    #[test]
    fn ratios_are_above_one_where_ours_is_better() {
        let mut report = Report::new(vec!["ours", "LMDB"]);
        report.figure("get, p50 µs", Better::Lower, [2.0, 3.0]);
        report.figure("load, items/s", Better::Higher, [2000.0]);
        let lines = report.table();
        assert!(lines.iter().any(|line| line.ends_with("1.50")), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("2,000")), "{lines:?}");
    }
}
