//! The tables as a CloudFormation template in YAML. It has no parameters: the names are those of
//! the definitions.

use std::fmt::Write as _;

use roundtable_table::{IndexDefinition, KeyDefinition, TableDefinition};

use super::projection::{key_attributes, projected_attributes, quoted, type_name};

const HEAD: &str = "\
# Generated from the schema by `roundtable table cloudformation`. Do not edit; generate it again.
AWSTemplateFormatVersion: \"2010-09-09\"
Description: The tables of Roundtable
Resources:
";

/// Renders a template with all of `tables`.
pub fn render(tables: &[TableDefinition]) -> String {
    let mut template = String::from(HEAD);
    let mut before: Option<&TableDefinition> = None;
    for table in tables {
        resource(&mut template, table, before);
        if !table.indexes.is_empty() {
            before = Some(table);
        }
    }
    template
}

/// Writes one table. DynamoDB creates few tables with indexes at a time, so each depends on the one
/// `before`.
///
/// Encryption is not mentioned: DynamoDB encrypts with its own key by default, and `SSEEnabled`
/// would choose a KMS key instead, which costs money with every request.
fn resource(out: &mut String, table: &TableDefinition, before: Option<&TableDefinition>) {
    let _ = writeln!(out, "  {}:", logical_id(&table.name));
    out.push_str("    Type: AWS::DynamoDB::Table\n");
    if let Some(before) = before.filter(|_| !table.indexes.is_empty()) {
        let _ = writeln!(out, "    DependsOn: {}", logical_id(&before.name));
    }
    out.push_str("    DeletionPolicy: Retain\n    UpdateReplacePolicy: Retain\n    Properties:\n");
    let _ = writeln!(out, "      TableName: {}", quoted(&table.name));
    out.push_str("      BillingMode: PAY_PER_REQUEST\n      DeletionProtectionEnabled: true\n");
    out.push_str("      AttributeDefinitions:\n");
    for attribute in key_attributes(table) {
        let _ = writeln!(out, "        - AttributeName: {}", quoted(&attribute.name));
        let _ = writeln!(out, "          AttributeType: {}", quoted(type_name(attribute.kind)));
    }
    key_schema(out, "      ", &table.key);
    if !table.indexes.is_empty() {
        out.push_str("      GlobalSecondaryIndexes:\n");
    }
    for index in &table.indexes {
        global_index(out, table, index);
    }
    if let Some(ttl) = &table.ttl {
        out.push_str("      TimeToLiveSpecification:\n");
        let _ = writeln!(out, "        AttributeName: {}\n        Enabled: true", quoted(ttl));
    }
    if table.stream {
        out.push_str("      StreamSpecification:\n        StreamViewType: NEW_AND_OLD_IMAGES\n");
    }
    out.push_str("      PointInTimeRecoverySpecification:\n");
    out.push_str("        PointInTimeRecoveryEnabled: true\n");
}

fn global_index(out: &mut String, table: &TableDefinition, index: &IndexDefinition) {
    let _ = writeln!(out, "        - IndexName: {}", quoted(&index.name));
    key_schema(out, "          ", &index.key);
    out.push_str("          Projection:\n");
    match projected_attributes(table, index) {
        None => out.push_str("            ProjectionType: ALL\n"),
        Some(names) if names.is_empty() => out.push_str("            ProjectionType: KEYS_ONLY\n"),
        Some(names) => {
            out.push_str("            ProjectionType: INCLUDE\n            NonKeyAttributes:\n");
            for name in names {
                let _ = writeln!(out, "              - {}", quoted(name));
            }
        }
    }
}

fn key_schema(out: &mut String, indent: &str, key: &KeyDefinition) {
    let _ = writeln!(out, "{indent}KeySchema:");
    for (attribute, kind) in key.attributes().zip(["HASH", "RANGE"]) {
        let _ = writeln!(out, "{indent}  - AttributeName: {}", quoted(&attribute.name));
        let _ = writeln!(out, "{indent}    KeyType: {kind}");
    }
}

/// Converts `gg_core` to `GgCore`: only letters and digits are allowed.
fn logical_id(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtable_table::{IndexProjection, KeyKind};

    #[test]
    fn a_table_renders_to_this_text() {
        let key = KeyDefinition::partition("PK").sorted_by("at", KeyKind::N);
        let included = IndexProjection::Include(vec![String::from("title")]);
        let table = TableDefinition::new("gg_core", key)
            .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
            .with_index_of("by", KeyDefinition::partition("by"), included)
            .with_ttl("ttl")
            .with_stream();
        let expected = r#"  GgCore:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      TableName: "gg_core"
      BillingMode: PAY_PER_REQUEST
      DeletionProtectionEnabled: true
      AttributeDefinitions:
        - AttributeName: "GSI1PK"
          AttributeType: "S"
        - AttributeName: "GSI1SK"
          AttributeType: "S"
        - AttributeName: "PK"
          AttributeType: "S"
        - AttributeName: "at"
          AttributeType: "N"
        - AttributeName: "by"
          AttributeType: "S"
      KeySchema:
        - AttributeName: "PK"
          KeyType: HASH
        - AttributeName: "at"
          KeyType: RANGE
      GlobalSecondaryIndexes:
        - IndexName: "GSI1"
          KeySchema:
            - AttributeName: "GSI1PK"
              KeyType: HASH
            - AttributeName: "GSI1SK"
              KeyType: RANGE
          Projection:
            ProjectionType: ALL
        - IndexName: "by"
          KeySchema:
            - AttributeName: "by"
              KeyType: HASH
          Projection:
            ProjectionType: INCLUDE
            NonKeyAttributes:
              - "title"
              - "ttl"
      TimeToLiveSpecification:
        AttributeName: "ttl"
        Enabled: true
      StreamSpecification:
        StreamViewType: NEW_AND_OLD_IMAGES
      PointInTimeRecoverySpecification:
        PointInTimeRecoveryEnabled: true
"#;
        assert_eq!(render(&[table]), format!("{HEAD}{expected}"));
    }

    #[test]
    fn absent_features_are_omitted() {
        let template = render(&[TableDefinition::new("ops", KeyDefinition::partition("PK"))]);
        for absent in
            ["GlobalSecondaryIndexes", "TimeToLive", "Stream", "RANGE", "DependsOn", "SSE"]
        {
            assert!(!template.contains(absent), "{absent} in {template}");
        }
    }

    #[test]
    fn tables_with_indexes_depend_on_the_previous_one() {
        let table = |name: &str| TableDefinition::new(name, KeyDefinition::texts("PK", "SK"));
        let indexed = |name: &str| table(name).with_index("GSI1", KeyDefinition::partition("x"));
        let template = render(&[indexed("a"), table("b"), indexed("c"), indexed("d")]);
        let waits: Vec<&str> = template.lines().filter(|line| line.contains("DependsOn")).collect();
        assert_eq!(waits, ["    DependsOn: A", "    DependsOn: C"]);
    }
}
