//! The Markdown that the document needs. It does not pad columns: one long cell would change every
//! line of a diff.

use std::fmt::Write as _;

pub(super) struct MarkdownTable<const N: usize> {
    heads: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> MarkdownTable<N> {
    pub(super) const fn new(heads: &[&'static str; N]) -> Self {
        Self { heads: *heads, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    /// Writes the table without empty columns.
    pub(super) fn write(&self, out: &mut String) {
        let used: Vec<bool> = (0..N)
            .map(|at| self.rows.iter().any(|row| !row.get(at).is_none_or(String::is_empty)))
            .collect();
        let line = |out: &mut String, cells: &mut dyn Iterator<Item = &str>| {
            out.push('|');
            for (cell, used) in cells.zip(&used) {
                if *used {
                    let _ = write!(out, " {cell} |");
                }
            }
            out.push('\n');
        };
        line(out, &mut self.heads.iter().copied());
        line(out, &mut self.heads.iter().map(|_| "---"));
        for row in &self.rows {
            line(out, &mut row.iter().map(String::as_str));
        }
    }
}

/// Formats text as code; empty text stays empty.
pub(super) fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{}`", escape(text)) }
}

/// Escapes text for a cell.
pub(super) fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

pub(super) fn link(text: &str, anchor: &str) -> String {
    format!("[{text}](#{anchor})")
}

/// Returns the anchor of a heading, as GitHub forms it.
pub(super) fn anchor(heading: &str) -> String {
    let allowed = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    allowed.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_columns_are_left_out() {
        let mut grid = MarkdownTable::new(&["a", "b", "c"]);
        grid.row(["1", "", "x"].map(String::from));
        grid.row(["2", "", ""].map(String::from));
        let mut out = String::new();
        grid.write(&mut out);
        assert_eq!(out, "| a | c |\n| --- | --- |\n| 1 | x |\n| 2 |  |\n");
    }

    #[test]
    fn cells_and_anchors_are_safe() {
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code(""), "");
        assert_eq!(anchor("Table `gg_core`"), "table-gg_core");
        assert_eq!(anchor("Access patterns, and why"), "access-patterns-and-why");
    }
}
