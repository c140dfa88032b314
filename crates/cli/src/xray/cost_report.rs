//! The operations behind a response, as a table with their sum and its price.

use std::fmt;

use roundtable_planning::capacity::Prices;
use serde_json::Value;

/// A server's cost report.
#[derive(Debug)]
pub(super) struct CostReport {
    rows: Vec<CostRow>,
    read_units: f64,
    write_units: f64,
    microseconds: u64,
}

#[derive(Debug)]
struct CostRow {
    operation: String,
    pattern: String,
    table: String,
    items: u64,
    read_units: f64,
    write_units: f64,
    microseconds: u64,
    /// The field that the operation was for.
    path: String,
}

#[derive(Debug)]
pub(super) struct PricedReport<'a>(&'a CostReport, &'a Prices);

impl CostReport {
    /// Parses `extensions.xray`; `None` if it is missing.
    pub(super) fn read(json: &Value) -> Option<Self> {
        let rows =
            json.get("operations").and_then(Value::as_array)?.iter().map(CostRow::read).collect();
        Some(Self {
            rows,
            read_units: json.get("readUnits").and_then(Value::as_f64)?,
            write_units: json.get("writeUnits").and_then(Value::as_f64)?,
            microseconds: json.get("microseconds").and_then(Value::as_u64).unwrap_or_default(),
        })
    }

    pub(super) const fn priced<'a>(&'a self, prices: &'a Prices) -> PricedReport<'a> {
        PricedReport(self, prices)
    }
}

impl CostRow {
    fn read(json: &Value) -> Self {
        let text = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (name, index) = (text("table"), text("index"));
        let table = if index.is_empty() { name } else { format!("{name}.{index}") };
        let failed = json.get("succeeded").and_then(Value::as_bool) == Some(false);
        Self {
            operation: if failed {
                format!("{} (refused)", text("operation"))
            } else {
                text("operation")
            },
            pattern: text("pattern"),
            table,
            items: json.get("items").and_then(Value::as_u64).unwrap_or_default(),
            read_units: json.get("readUnits").and_then(Value::as_f64).unwrap_or_default(),
            write_units: json.get("writeUnits").and_then(Value::as_f64).unwrap_or_default(),
            microseconds: json.get("microseconds").and_then(Value::as_u64).unwrap_or_default(),
            path: text("path"),
        }
    }
}

impl fmt::Display for PricedReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(report, prices) = self;
        let width = |title: &str, text: fn(&CostRow) -> &str| {
            let widths = report.rows.iter().map(|row| text(row).chars().count());
            widths.chain([title.len()]).max().unwrap_or_default()
        };
        let (a, b, c) = (
            width("operation", |row| &row.operation),
            width("pattern", |row| &row.pattern),
            width("table", |row| &row.table),
        );
        writeln!(
            f,
            "{:a$}  {:b$}  {:c$}  {:>6}  {:>7}  {:>7}  {:>8}  for",
            "operation", "pattern", "table", "items", "reads", "writes", "µs"
        )?;
        for row in &report.rows {
            let CostRow { operation, pattern, table, items, read_units, .. } = row;
            let CostRow { write_units, microseconds, path, .. } = row;
            writeln!(
                f,
                "{operation:a$}  {pattern:b$}  {table:c$}  {items:>6}  {read_units:>7.1}  \
                 {write_units:>7.1}  {microseconds:>8}  {path}"
            )?;
        }
        let CostReport { rows, read_units, write_units, microseconds } = report;
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
        let json = json!({
            "operations": [
                { "operation": "query", "pattern": "posts_by", "table": "gg_core", "index": "GSI1",
                  "items": 20, "readUnits": 2.5, "writeUnits": 0, "microseconds": 40, "succeeded": true,
                  "path": "me.posts", "field": "User.posts" },
                { "operation": "put", "pattern": null, "table": "gg_core", "index": null,
                  "items": 1, "readUnits": 0, "writeUnits": 4, "microseconds": 900, "succeeded": false },
            ],
            "readUnits": 2.5, "writeUnits": 4, "microseconds": 940,
        });
        let prices = Prices::published().unwrap();
        let shown = CostReport::read(&json).unwrap().priced(&prices).to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(
            lines[0],
            "operation      pattern   table          items    reads   writes        µs  for"
        );
        assert_eq!(
            lines[1],
            "query          posts_by  gg_core.GSI1      20      2.5      0.0        40  me.posts"
        );
        assert_eq!(
            lines[2],
            "put (refused)            gg_core            1      0.0      4.0       900  "
        );
        assert_eq!(
            lines[3],
            "2 operations                                       2.5      4.0       940"
        );
        assert!(lines[5].starts_with("2.81 USD for a million of these"), "{shown}");
        assert!(CostReport::read(&Value::Null).is_none());
    }
}
