//! The types of the schema, for generating documents.

use std::collections::BTreeMap;

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    BaseType, FieldDefinition, InputValueDefinition, Type, TypeDefinition, TypeKind,
    TypeSystemDefinition,
};

/// The shapes of all types by name.
#[derive(Debug)]
pub(crate) struct Grammar(BTreeMap<String, TypeShape>);

#[derive(Debug)]
pub(crate) enum TypeShape {
    /// An object, interface or union.
    Composite {
        fields: Vec<Field>,
        members: Vec<String>,
    },
    Enum(Vec<String>),
    Input(Vec<Argument>),
    Scalar,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) type_name: String,
}

/// An argument of a field, or a field of an input object.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

impl Grammar {
    pub(crate) fn parse(sdl: &str) -> Self {
        // The description of the schema is not valid for the parser.
        let sdl = sdl.find("\nschema {").map_or(sdl, |start| &sdl[start..]);
        let definitions = parse_schema(sdl).unwrap().definitions.into_iter();
        let types = definitions.filter_map(|definition| match definition {
            TypeSystemDefinition::Type(ty) => Some(ty.node),
            _ => None,
        });
        let types: Vec<TypeDefinition> = types.collect();
        let shapes = types.iter().map(|ty| (ty.name.node.to_string(), shape(ty, &types)));
        Self(shapes.collect())
    }

    pub(crate) fn shape(&self, name: &str) -> &TypeShape {
        self.0.get(name).unwrap_or(&TypeShape::Scalar)
    }
}

fn shape(ty: &TypeDefinition, all: &[TypeDefinition]) -> TypeShape {
    match &ty.kind {
        TypeKind::Scalar => TypeShape::Scalar,
        TypeKind::Object(object) => {
            let fields = object.fields.iter().map(|field| parse_field(&field.node)).collect();
            TypeShape::Composite { fields, members: vec![ty.name.node.to_string()] }
        }
        TypeKind::Interface(interface) => {
            let fields = interface.fields.iter().map(|field| parse_field(&field.node)).collect();
            let implements = |other: &&TypeDefinition| match &other.kind {
                TypeKind::Object(object) => {
                    object.implements.iter().any(|name| name.node == ty.name.node)
                }
                _ => false,
            };
            let members = all.iter().filter(implements).map(|other| other.name.node.to_string());
            TypeShape::Composite { fields, members: members.collect() }
        }
        TypeKind::Union(union) => {
            let members = union.members.iter().map(|member| member.node.to_string()).collect();
            TypeShape::Composite { fields: Vec::new(), members }
        }
        TypeKind::Enum(definition) => TypeShape::Enum(
            definition.values.iter().map(|value| value.node.value.node.to_string()).collect(),
        ),
        TypeKind::InputObject(input) => {
            TypeShape::Input(input.fields.iter().map(|field| argument(&field.node)).collect())
        }
    }
}

fn parse_field(field: &FieldDefinition) -> Field {
    let arguments = field.arguments.iter().map(|definition| argument(&definition.node)).collect();
    Field {
        name: field.name.node.to_string(),
        arguments,
        type_name: innermost(&field.ty.node.base),
    }
}

fn argument(definition: &InputValueDefinition) -> Argument {
    Argument { name: definition.name.node.to_string(), ty: definition.ty.node.clone() }
}

/// Returns the item type of a list type.
fn innermost(base: &BaseType) -> String {
    match base {
        BaseType::Named(name) => name.to_string(),
        BaseType::List(inner) => innermost(&inner.base),
    }
}
