//! The operations behind an answer, as a table with their sum and its price.

use std::fmt;

use roundtable_model::capacity::Prices;
use serde_json::Value;

/// What a server told of an answer.
#[derive(Debug)]
pub(super) struct Sheet {
    rows: Vec<Row>,
    read_units: f64,
    write_units: f64,
    microseconds: u64,
}

#[derive(Debug)]
struct Row {
    operation: String,
    pattern: String,
    place: String,
    items: u64,
    read_units: f64,
    write_units: f64,
    microseconds: u64,
}

/// The same, with what it costs.
#[derive(Debug)]
pub(super) struct Priced<'a>(&'a Sheet, &'a Prices);

impl Sheet {
    /// What is in `extensions.xray`; `None` if it is not there.
    pub(super) fn read(told: &Value) -> Option<Self> {
        let rows =
            told.get("operations").and_then(Value::as_array)?.iter().map(Row::read).collect();
        Some(Self {
            rows,
            read_units: told.get("readUnits").and_then(Value::as_f64)?,
            write_units: told.get("writeUnits").and_then(Value::as_f64)?,
            microseconds: told.get("microseconds").and_then(Value::as_u64).unwrap_or_default(),
        })
    }

    pub(super) const fn priced<'a>(&'a self, prices: &'a Prices) -> Priced<'a> {
        Priced(self, prices)
    }
}

impl Row {
    fn read(told: &Value) -> Self {
        let text = |key: &str| told.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (table, index) = (text("table"), text("index"));
        let place = if index.is_empty() { table } else { format!("{table}.{index}") };
        let failed = told.get("succeeded").and_then(Value::as_bool) == Some(false);
        Self {
            operation: if failed {
                format!("{} (refused)", text("operation"))
            } else {
                text("operation")
            },
            pattern: text("pattern"),
            place,
            items: told.get("items").and_then(Value::as_u64).unwrap_or_default(),
            read_units: told.get("readUnits").and_then(Value::as_f64).unwrap_or_default(),
            write_units: told.get("writeUnits").and_then(Value::as_f64).unwrap_or_default(),
            microseconds: told.get("microseconds").and_then(Value::as_u64).unwrap_or_default(),
        }
    }
}

impl fmt::Display for Priced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(sheet, prices) = self;
        let width = |title: &str, text: fn(&Row) -> &str| {
            let widths = sheet.rows.iter().map(|row| text(row).chars().count());
            widths.chain([title.len()]).max().unwrap_or_default()
        };
        let (a, b, c) = (
            width("operation", |row| &row.operation),
            width("pattern", |row| &row.pattern),
            width("table", |row| &row.place),
        );
        writeln!(
            f,
            "{:a$}  {:b$}  {:c$}  {:>6}  {:>7}  {:>7}  {:>8}",
            "operation", "pattern", "table", "items", "reads", "writes", "µs"
        )?;
        for row in &sheet.rows {
            let Row { operation, pattern, place, items, read_units, write_units, microseconds } =
                row;
            writeln!(
                f,
                "{operation:a$}  {pattern:b$}  {place:c$}  {items:>6}  {read_units:>7.1}  \
                 {write_units:>7.1}  {microseconds:>8}"
            )?;
        }
        let Sheet { rows, read_units, write_units, microseconds } = sheet;
        let title = format!("{} operations", rows.len());
        let gap = a + b + c + 4;
        writeln!(
            f,
            "{title:gap$}  {:>6}  {read_units:>7.1}  {write_units:>7.1}  {microseconds:>8}",
            ""
        )?;
        let millions =
            read_units * prices.read_per_million + write_units * prices.write_per_million;
        writeln!(
            f,
            "\n{millions:.2} {} for a million of these, on demand ({}, prices of {})",
            prices.currency, prices.region, prices.date
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_operation_has_a_row_and_the_sum_a_price() {
        let told = json!({
            "operations": [
                { "operation": "query", "pattern": "posts_by", "table": "gg_core", "index": "GSI1",
                  "items": 20, "readUnits": 2.5, "writeUnits": 0, "microseconds": 40, "succeeded": true },
                { "operation": "put", "pattern": null, "table": "gg_core", "index": null,
                  "items": 1, "readUnits": 0, "writeUnits": 4, "microseconds": 900, "succeeded": false },
            ],
            "readUnits": 2.5, "writeUnits": 4, "microseconds": 940,
        });
        let prices = Prices::published().unwrap();
        let shown = Sheet::read(&told).unwrap().priced(&prices).to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(
            lines[0],
            "operation      pattern   table          items    reads   writes        µs"
        );
        assert_eq!(
            lines[1],
            "query          posts_by  gg_core.GSI1      20      2.5      0.0        40"
        );
        assert_eq!(
            lines[2],
            "put (refused)            gg_core            1      0.0      4.0       900"
        );
        assert_eq!(
            lines[3],
            "2 operations                                       2.5      4.0       940"
        );
        assert!(lines[5].starts_with("2.81 USD for a million of these"), "{shown}");
        assert!(Sheet::read(&Value::Null).is_none());
    }
}
