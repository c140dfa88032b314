//! Flags for the names of tables.

use clap::Args;
use roundtable_domain::TableNames;
use roundtable_model::SCHEMA;
use roundtable_table::TableDefinition;

#[derive(Args, Debug)]
pub(crate) struct TableNameArgs {
    /// Prefixes the name of every table: `staging_` makes `staging_gg_core`
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    #[arg(value_parser = plain)]
    prefix: String,
}

impl TableNameArgs {
    /// The configured table names with the prefix.
    pub(crate) fn prefixed(&self, names: &TableNames) -> TableNames {
        let prefixed = |name: &str| format!("{}{name}", self.prefix);
        let TableNames { core, logins, ops } = names;
        TableNames { core: prefixed(core), logins: prefixed(logins), ops: prefixed(ops) }
    }

    /// All tables of the schema, with the prefix.
    pub(crate) fn definitions(&self) -> Vec<TableDefinition> {
        let named = SCHEMA.iter().map(|table| (table, format!("{}{}", self.prefix, table.name)));
        named.map(|(table, name)| table.definition(&name)).collect()
    }
}

/// Leaves room for the schema's own names in DynamoDB's 255 bytes.
const PREFIX_BYTES_MAX: usize = 200;

fn plain(prefix: &str) -> Result<String, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if prefix.len() <= PREFIX_BYTES_MAX && prefix.chars().all(known) {
        return Ok(prefix.to_owned());
    }
    Err(format!("expected up to {PREFIX_BYTES_MAX} letters, digits, `_`, `-` and `.`"))
}
