//! What can be asked, as the schema itself says it.

use std::collections::BTreeMap;

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    BaseType, FieldDefinition, InputValueDefinition, Type, TypeDefinition, TypeKind,
    TypeSystemDefinition,
};

/// The types by their names.
#[derive(Debug)]
pub(crate) struct Grammar(BTreeMap<String, Kind>);

/// What a type is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// An object, or something that can be one of several: fields it has, and what it can be.
    Composite { fields: Vec<Field>, kinds: Vec<String> },
    /// One of these words.
    Words(Vec<String>),
    /// An object to be given.
    Input(Vec<Argument>),
    /// Anything else.
    Scalar,
}

/// A field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) of: String,
}

/// What a field, or an object to be given, takes.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

impl Grammar {
    /// Reads a schema.
    pub(crate) fn of(sdl: &str) -> Self {
        let definitions = parse_schema(sdl).unwrap().definitions.into_iter();
        let types = definitions.filter_map(|definition| match definition {
            TypeSystemDefinition::Type(ty) => Some(ty.node),
            _ => None,
        });
        let types: Vec<TypeDefinition> = types.collect();
        let kinds = types.iter().map(|ty| (ty.name.node.to_string(), kind(ty, &types)));
        Self(kinds.collect())
    }

    pub(crate) fn kind(&self, name: &str) -> &Kind {
        self.0.get(name).unwrap_or(&Kind::Scalar)
    }
}

fn kind(ty: &TypeDefinition, all: &[TypeDefinition]) -> Kind {
    match &ty.kind {
        TypeKind::Scalar => Kind::Scalar,
        TypeKind::Object(object) => {
            let fields = object.fields.iter().map(|field| read(&field.node)).collect();
            Kind::Composite { fields, kinds: vec![ty.name.node.to_string()] }
        }
        TypeKind::Interface(interface) => {
            let fields = interface.fields.iter().map(|field| read(&field.node)).collect();
            let is_one = |other: &&TypeDefinition| match &other.kind {
                TypeKind::Object(object) => {
                    object.implements.iter().any(|name| name.node == ty.name.node)
                }
                _ => false,
            };
            let kinds = all.iter().filter(is_one).map(|other| other.name.node.to_string());
            Kind::Composite { fields, kinds: kinds.collect() }
        }
        TypeKind::Union(union) => {
            let kinds = union.members.iter().map(|member| member.node.to_string()).collect();
            Kind::Composite { fields: Vec::new(), kinds }
        }
        TypeKind::Enum(words) => {
            Kind::Words(words.values.iter().map(|word| word.node.value.node.to_string()).collect())
        }
        TypeKind::InputObject(input) => {
            Kind::Input(input.fields.iter().map(|field| argument(&field.node)).collect())
        }
    }
}

fn read(field: &FieldDefinition) -> Field {
    let arguments = field.arguments.iter().map(|given| argument(&given.node)).collect();
    Field { name: field.name.node.to_string(), arguments, of: innermost(&field.ty.node.base) }
}

fn argument(given: &InputValueDefinition) -> Argument {
    Argument { name: given.name.node.to_string(), ty: given.ty.node.clone() }
}

/// What a list is a list of.
fn innermost(base: &BaseType) -> String {
    match base {
        BaseType::Named(name) => name.to_string(),
        BaseType::List(inner) => innermost(&inner.base),
    }
}
