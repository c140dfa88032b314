//! Text in columns: words from the left, figures from the right.

use std::fmt;

use super::units::figure;

/// Rows of text in columns.
pub(super) struct Columns {
    rows: Vec<Vec<String>>,
    /// How many columns are words.
    words: usize,
}

impl Columns {
    /// Columns under these titles, of which the first so many are words.
    pub(super) fn new(words: usize, titles: &[&str]) -> Self {
        let titles = titles.iter().map(|title| (*title).to_owned()).collect();
        Self { rows: vec![titles], words }
    }

    /// One more row; a figure may be left out.
    pub(super) fn row(&mut self, words: &[&str], figures: &[Option<f64>]) {
        let words = words.iter().map(|word| (*word).to_owned());
        let figures = figures.iter().map(|number| number.map(figure).unwrap_or_default());
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
