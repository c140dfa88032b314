//! R45: the contract is served as it is, and helps who reads it. That every field of it has a resolver is
//! checked when the crate is compiled.

#![expect(clippy::unwrap_used, reason = "a failed setup should stop the test")]

use std::collections::HashSet;
use std::fs;

use apollo_compiler::Schema;
use apollo_compiler::ast::{FieldDefinition, InputValueDefinition};
use apollo_compiler::schema::ExtendedType;

fn contract() -> Schema {
    let contract = Schema::parse_and_validate(roundtable_graphql::SDL, "schema.graphql");
    contract.unwrap().into_inner()
}

/// Collects what has no description.
#[derive(Default)]
struct Undescribed(Vec<String>);

impl Undescribed {
    fn check(&mut self, place: &str, has_description: bool) {
        if !has_description {
            self.0.push(place.to_owned());
        }
    }

    fn field(&mut self, of: &str, field: &FieldDefinition) {
        let place = format!("{of}.{}", field.name);
        self.check(&place, field.description.is_some());
        field.arguments.iter().for_each(|argument| self.argument(&place, argument));
    }

    fn argument(&mut self, of: &str, argument: &InputValueDefinition) {
        self.check(&format!("{of}({}:)", argument.name), argument.description.is_some());
    }
}

#[test]
fn everything_in_the_contract_has_a_description() {
    let (contract, mut missing) = (contract(), Undescribed::default());
    for (name, ty) in contract.types.iter().filter(|(_, ty)| !ty.is_built_in()) {
        missing.check(name, ty.description().is_some());
        match ty {
            ExtendedType::Object(object) => {
                object.fields.values().for_each(|field| missing.field(name, field));
            }
            ExtendedType::Interface(interface) => {
                interface.fields.values().for_each(|field| missing.field(name, field));
            }
            ExtendedType::InputObject(input) => {
                input.fields.values().for_each(|field| missing.argument(name, field));
            }
            ExtendedType::Enum(definition) => definition.values.values().for_each(|value| {
                missing.check(&format!("{name}.{}", value.value), value.description.is_some());
            }),
            ExtendedType::Scalar(scalar) => {
                let place = format!("{name} has no @specifiedBy");
                missing.check(&place, scalar.directives.has("specifiedBy"));
            }
            ExtendedType::Union(_) => {}
        }
    }
    assert!(missing.0.is_empty(), "{}", missing.0.join("\n"));
}

/// Both kinds of paging on every list.
#[test]
fn every_list_has_both_kinds_of_paging() {
    let contract = contract();
    let objects = contract.types.iter().filter_map(|(name, ty)| Some((name, ty.as_object()?)));
    for (name, object) in objects {
        for field in object.fields.values() {
            if field.ty.inner_named_type().ends_with("Connection") {
                for argument in ["limit", "nextToken", "first", "after"] {
                    let place = format!("{name}.{}({argument}:)", field.name);
                    assert!(field.argument_by_name(argument).is_some(), "{place} is missing");
                }
            }
        }
    }
}

/// A field of a root that no document in `tests/api` names is not tested.
#[test]
fn every_field_of_a_root_is_in_a_test() {
    let folder = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api")).unwrap();
    let tests: String =
        folder.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    let words: HashSet<&str> = tests.split(|letter: char| !letter.is_alphanumeric()).collect();
    let contract = contract();
    for root in ["Query", "Mutation", "Subscription"] {
        let fields = contract.get_object(root).unwrap().fields.keys();
        let missing: Vec<&str> = fields
            .map(apollo_compiler::Name::as_str)
            .filter(|name| !words.contains(name))
            .collect();
        assert!(missing.is_empty(), "{root}: {missing:?}");
    }
}
