//! R45: the served schema contains every type, field, argument, value and member of the contract.

#![expect(clippy::unwrap_used, reason = "a failed setup should stop the test")]

use std::collections::BTreeMap;

use async_graphql::Positioned;
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    FieldDefinition, InputValueDefinition, ServiceDocument, TypeKind, TypeSystemDefinition,
};

/// Returns a schema as comparable lines: `type Post`, `Post.likes(limit:): Int`, `Post.likes: …`.
fn lines(document: &ServiceDocument) -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    for definition in &document.definitions {
        match definition {
            TypeSystemDefinition::Schema(schema) => {
                let schema = &schema.node;
                let roots = [
                    ("query", &schema.query),
                    ("mutation", &schema.mutation),
                    ("subscription", &schema.subscription),
                ];
                for (name, root) in roots {
                    if let Some(root) = root {
                        lines.insert(format!("schema.{name}"), root.node.to_string());
                    }
                }
            }
            TypeSystemDefinition::Type(definition) => {
                let (name, kind) = (&definition.node.name.node, &definition.node.kind);
                describe(&mut lines, name, kind);
            }
            TypeSystemDefinition::Directive(_) => {}
        }
    }
    lines
}

fn describe(lines: &mut BTreeMap<String, String>, name: &str, kind: &TypeKind) {
    let what = match kind {
        TypeKind::Scalar => "scalar",
        TypeKind::Object(object) => {
            for interface in &object.implements {
                lines.insert(format!("{name} implements {}", interface.node), String::new());
            }
            fields(lines, name, &object.fields);
            "type"
        }
        TypeKind::Interface(interface) => {
            fields(lines, name, &interface.fields);
            "interface"
        }
        TypeKind::Union(union) => {
            for member in &union.members {
                lines.insert(format!("{name} = {}", member.node), String::new());
            }
            "union"
        }
        TypeKind::Enum(definition) => {
            for value in &definition.values {
                lines.insert(format!("{name}.{}", value.node.value.node), String::new());
            }
            "enum"
        }
        TypeKind::InputObject(input) => {
            for field in &input.fields {
                let (field, ty) = typed(field);
                lines.insert(format!("{name}.{field}"), ty);
            }
            "input"
        }
    };
    lines.insert(name.to_owned(), what.to_owned());
}

fn fields(
    lines: &mut BTreeMap<String, String>,
    name: &str,
    fields: &[Positioned<FieldDefinition>],
) {
    for field in fields.iter().map(|field| &field.node) {
        lines.insert(format!("{name}.{}", field.name.node), field.ty.node.to_string());
        for argument in &field.arguments {
            let (argument, ty) = typed(argument);
            lines.insert(format!("{name}.{}({argument}:)", field.name.node), ty);
        }
    }
}

fn typed(value: &Positioned<InputValueDefinition>) -> (String, String) {
    (value.node.name.node.to_string(), value.node.ty.node.to_string())
}

fn contract() -> BTreeMap<String, String> {
    // The description at the beginning is not valid for the parser.
    let contract = include_str!("../schema.graphql");
    let begin = contract.find("\nschema {").unwrap();
    lines(&parse_schema(&contract[begin..]).unwrap())
}

fn served() -> BTreeMap<String, String> {
    let sdl = roundtable_graphql::QueryLimits::default()
        .apply(roundtable_graphql::schema_builder())
        .sdl();
    lines(&parse_schema(sdl).unwrap())
}

#[test]
fn the_contract_and_nothing_else_is_served() {
    let (contract, served) = (contract(), served());
    let mut differences = Vec::new();
    for (line, expected) in &contract {
        match served.get(line) {
            Some(found) if found == expected => {}
            Some(found) => differences.push(format!("{line}: expected {expected}, found {found}")),
            None => differences.push(format!("{line}: {expected} is missing")),
        }
    }
    let others = served.iter().filter(|(line, _)| !contract.contains_key(*line));
    differences
        .extend(others.map(|(line, found)| format!("{line}: {found} is not in the contract")));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn internal_root_types_are_not_served() {
    let served = served();
    for name in ["SocialQueries", "OtherQueries", "SocialMutations", "OtherMutations", "QueryRoot"]
    {
        assert!(!served.keys().any(|line| line.contains(name)), "{name}");
    }
}
