//! The tables as Terraform resources, formatted as by `terraform fmt`. It has neither providers nor
//! state: the file goes beside existing ones.

use std::fmt::Write as _;

use roundtable_table::{IndexDefinition, KeyDefinition, TableDefinition};

use super::projection::{key_attributes, projected_attributes, quoted, type_name};

const HEAD: &str = "\
# Generated from the schema by `roundtable table terraform`. Do not edit; generate it again.
# For the AWS provider, versions 5 and 6.
";

/// Renders a file with all of `tables`.
pub fn render(tables: &[TableDefinition]) -> String {
    let mut file = String::from(HEAD);
    for table in tables {
        file.push('\n');
        resource(&mut file, table);
    }
    file
}

/// Writes one table. Encryption is not mentioned: DynamoDB encrypts with its own key by default,
/// and an encryption block would choose a KMS key instead, which costs money with every request.
fn resource(file: &mut String, table: &TableDefinition) {
    let _ = writeln!(file, "resource \"aws_dynamodb_table\" {} {{", quoted(&label(&table.name)));
    let mut arguments = vec![("name", text(&table.name))];
    arguments.push(("billing_mode", text("PAY_PER_REQUEST")));
    arguments.extend(keys(&table.key));
    if table.stream {
        arguments.push(("stream_enabled", String::from("true")));
        arguments.push(("stream_view_type", text("NEW_AND_OLD_IMAGES")));
    }
    arguments.push(("deletion_protection_enabled", String::from("true")));
    lines(file, 1, &arguments);
    for attribute in key_attributes(table) {
        let kind = text(type_name(attribute.kind));
        block(file, "attribute", &[("name", text(&attribute.name)), ("type", kind)]);
    }
    for index in &table.indexes {
        block(file, "global_secondary_index", &index_arguments(table, index));
    }
    let enabled = || ("enabled", String::from("true"));
    if let Some(ttl) = &table.ttl {
        block(file, "ttl", &[("attribute_name", text(ttl)), enabled()]);
    }
    block(file, "point_in_time_recovery", &[enabled()]);
    file.push_str("}\n");
}

fn index_arguments(
    table: &TableDefinition,
    index: &IndexDefinition,
) -> Vec<(&'static str, String)> {
    let mut arguments = vec![("name", text(&index.name))];
    arguments.extend(keys(&index.key));
    match projected_attributes(table, index) {
        None => arguments.push(("projection_type", text("ALL"))),
        Some(names) if names.is_empty() => arguments.push(("projection_type", text("KEYS_ONLY"))),
        Some(names) => {
            let names: Vec<String> = names.into_iter().map(text).collect();
            arguments.push(("projection_type", text("INCLUDE")));
            arguments.push(("non_key_attributes", format!("[{}]", names.join(", "))));
        }
    }
    arguments
}

fn keys(key: &KeyDefinition) -> impl Iterator<Item = (&'static str, String)> {
    let names = ["hash_key", "range_key"];
    names.into_iter().zip(key.attributes().map(|attribute| text(&attribute.name)))
}

fn block(file: &mut String, name: &str, arguments: &[(&str, String)]) {
    let _ = writeln!(file, "\n  {name} {{");
    lines(file, 2, arguments);
    file.push_str("  }\n");
}

/// Writes arguments one per line, with aligned `=`.
fn lines(file: &mut String, depth: usize, arguments: &[(&str, String)]) {
    let width = arguments.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, value) in arguments {
        let _ = writeln!(file, "{:indent$}{name:width$} = {value}", "", indent = depth * 2);
    }
}

/// Returns a string literal in which template markers are escaped.
fn text(plain: &str) -> String {
    quoted(plain).replace("${", "$${").replace("%{", "%%{")
}

/// Returns the label of a resource: unlike a table name, it has no dots and no leading digit.
fn label(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let label: String = name.chars().map(plain).collect();
    if label.starts_with(|c: char| c.is_ascii_digit()) { format!("_{label}") } else { label }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtable_table::IndexProjection;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    fn tables() -> [TableDefinition; 2] {
        let included = IndexProjection::Include(vec![String::from("${title}"), String::from("PK")]);
        let core = TableDefinition::new("9.core", KeyDefinition::texts("PK", "SK"))
            .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
            .with_index_of("GSI2", KeyDefinition::partition("GSI2PK"), included)
            .with_index_of("GSI3", KeyDefinition::partition("PK"), IndexProjection::KeysOnly)
            .with_ttl("ttl")
            .with_stream();
        [core, TableDefinition::new("ops", KeyDefinition::partition("PK"))]
    }

    #[test]
    fn a_small_table_renders_to_this_text() {
        let expected = r#"
resource "aws_dynamodb_table" "ops" {
  name                        = "ops"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "PK"
  deletion_protection_enabled = true

  attribute {
    name = "PK"
    type = "S"
  }

  point_in_time_recovery {
    enabled = true
  }
}
"#;
        assert_eq!(render(&tables()[1..]), format!("{HEAD}{expected}"));
    }

    #[test]
    fn the_whole_definition_is_rendered() {
        let file = render(&tables()[..1]);
        for expected in [
            r#"resource "aws_dynamodb_table" "_9_core""#,
            r#"name                        = "9.core""#,
            r#"stream_view_type            = "NEW_AND_OLD_IMAGES""#,
            r#"range_key       = "GSI1SK""#,
            r#"projection_type = "ALL""#,
            r#"non_key_attributes = ["$${title}", "ttl"]"#,
            r#"attribute_name = "ttl""#,
        ] {
            assert!(file.contains(expected), "{expected} in {file}");
        }
        assert_eq!(file.matches("attribute {").count(), 5, "{file}");
        assert!(!file.contains("encryption"), "a key of KMS would be paid for: {file}");
        assert_eq!(file.matches("KEYS_ONLY").count(), 0, "expired items would show: {file}");
    }

    #[test]
    fn terraform_fmt_changes_nothing() {
        let check = Command::new("terraform")
            .args(["fmt", "-check", "-diff", "-"])
            .env("CHECKPOINT_DISABLE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut check) = check else {
            eprintln!("terraform is not installed: its formatting was not checked");
            return;
        };
        check.stdin.take().unwrap().write_all(render(&tables()).as_bytes()).unwrap();
        let output = check.wait_with_output().unwrap();
        let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success(), "{}", texts.concat());
    }
}
