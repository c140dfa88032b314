//! Text in columns: words are left-aligned, numbers right-aligned.

use std::fmt;

use super::units::format_number;

pub(super) struct Columns {
    rows: Vec<Vec<String>>,
    /// The number of leading columns that hold words.
    words: usize,
}

impl Columns {
    /// Returns columns with these titles; the first `words` columns hold words, the others numbers.
    pub(super) fn new(words: usize, titles: &[&str]) -> Self {
        let titles = titles.iter().map(|title| (*title).to_owned()).collect();
        Self { rows: vec![titles], words }
    }

    /// Adds a row; a number may be left out.
    pub(super) fn row(&mut self, words: &[&str], figures: &[Option<f64>]) {
        let words = words.iter().map(|word| (*word).to_owned());
        let figures = figures.iter().map(|number| number.map(format_number).unwrap_or_default());
        self.rows.push(words.chain(figures).collect());
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in &self.rows {
            widths.resize(widths.len().max(row.len()), 0);
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| {
                if at < self.words { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}
