//! The schema, as the macros need it: names and types, in the order of the file.

use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

use apollo_parser::Parser;
use apollo_parser::cst::{self, CstNode as _, Definition};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The file in the directory of the crate that uses the macros.
const FILE: &str = "schema.graphql";

/// The schema of the crate that is being compiled.
static SCHEMA: LazyLock<Result<Sdl, String>> = LazyLock::new(|| {
    let directory = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = Path::new(&directory).join(FILE);
    let text = fs::read_to_string(&path).map_err(|error| format!("cannot read {FILE}: {error}"))?;
    Sdl::parse(&text)
});

#[derive(Debug)]
pub(crate) struct Sdl {
    pub(crate) types: Vec<TypeDefinition>,
}

#[derive(Debug)]
pub(crate) struct TypeDefinition {
    pub(crate) name: String,
    pub(crate) kind: TypeKind,
}

#[derive(Debug)]
pub(crate) enum TypeKind {
    Scalar,
    Enum(Vec<String>),
    Input(Vec<Argument>),
    Object {
        fields: Vec<Field>,
        interfaces: Vec<String>,
    },
    Interface,
    /// The names of its types.
    Union(Vec<String>),
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) arguments: Vec<Argument>,
}

/// An argument, or a field of an input object.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

#[derive(Clone, Debug)]
pub(crate) enum Type {
    Named(String),
    Nullable(Box<Type>),
    List(Box<Type>),
}

impl Sdl {
    pub(crate) fn get() -> syn::Result<&'static Self> {
        SCHEMA.as_ref().map_err(|message| syn::Error::new(Span::call_site(), message))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let tree = Parser::new(text).parse();
        if let Some(error) = tree.errors().next() {
            return Err(format!("{FILE}: {} at byte {}", error.message(), error.index()));
        }
        let built_in = ["Boolean", "Float", "ID", "Int", "String"];
        let built_in =
            built_in.map(|name| TypeDefinition { name: name.into(), kind: TypeKind::Scalar });
        let defined = tree.document().definitions().filter_map(type_definition);
        Ok(Self { types: built_in.into_iter().chain(defined).collect() })
    }

    pub(crate) fn find(&self, name: &str) -> Option<&TypeDefinition> {
        self.types.iter().find(|definition| definition.name == name)
    }

    /// Returns the fields of an object type.
    pub(crate) fn object(&self, name: &str, span: Span) -> syn::Result<&[Field]> {
        match self.find(name).map(|definition| &definition.kind) {
            Some(TypeKind::Object { fields, .. }) => Ok(fields),
            _ => Err(syn::Error::new(span, format!("{FILE} has no type {name}"))),
        }
    }

    /// Returns the types of a union, or those that implement an interface.
    pub(crate) fn members(&self, name: &str) -> Vec<String> {
        match self.find(name).map(|definition| &definition.kind) {
            Some(TypeKind::Union(members)) => members.clone(),
            Some(TypeKind::Interface) => {
                let types = self.types.iter().filter(|ty| match &ty.kind {
                    TypeKind::Object { interfaces, .. } => interfaces.iter().any(|it| it == name),
                    _ => false,
                });
                types.map(|ty| ty.name.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether two types have the same fields, but for the names before the suffix.
    pub(crate) fn has_shape_of(&self, one: &str, other: &str, suffix: &str) -> bool {
        let shape = |name: &str| {
            let base = name.strip_suffix(suffix).unwrap_or(name);
            match self.find(name).map(|definition| &definition.kind) {
                Some(TypeKind::Object { fields, .. }) => fields
                    .iter()
                    .map(|field| format!("{}: {:?}", field.name, field.ty).replace(base, ""))
                    .collect(),
                _ => Vec::new(),
            }
        };
        shape(one) == shape(other)
    }

    /// Returns whether values of a type have no fields.
    pub(crate) fn is_leaf(&self, ty: &Type) -> bool {
        let definition = self.find(ty.name());
        definition.is_none_or(|it| matches!(it.kind, TypeKind::Scalar | TypeKind::Enum(_)))
    }
}

impl Type {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Nullable(inner) | Self::List(inner) => inner.name(),
        }
    }

    /// Returns the Rust type that stands for this type.
    pub(crate) fn marker(&self) -> TokenStream {
        match self {
            Self::Named(name) => {
                let name = Ident::new(name, Span::call_site());
                quote!(crate::schema_types::#name)
            }
            Self::Nullable(inner) => {
                let inner = inner.marker();
                quote!(::roundtable_execution::Nullable<#inner>)
            }
            Self::List(inner) => {
                let inner = inner.marker();
                quote!(::roundtable_execution::List<#inner>)
            }
        }
    }
}

fn type_definition(definition: Definition) -> Option<TypeDefinition> {
    let (name, kind) = match definition {
        Definition::ScalarTypeDefinition(it) => (it.name()?, TypeKind::Scalar),
        Definition::EnumTypeDefinition(it) => {
            let values = it.enum_values_definition()?.enum_value_definitions();
            let values = values.filter_map(|value| Some(text(&value.enum_value()?.name()?)));
            (it.name()?, TypeKind::Enum(values.collect()))
        }
        Definition::InputObjectTypeDefinition(it) => {
            let fields = it.input_fields_definition()?.input_value_definitions();
            (it.name()?, TypeKind::Input(fields.filter_map(|field| argument(&field)).collect()))
        }
        Definition::ObjectTypeDefinition(it) => {
            let fields = it.fields_definition()?.field_definitions();
            let interfaces = it.implements_interfaces().into_iter();
            let interfaces = interfaces.flat_map(|all| all.named_types());
            let interfaces = interfaces.filter_map(|interface| Some(text(&interface.name()?)));
            let fields = fields.filter_map(|it| field(&it)).collect();
            (it.name()?, TypeKind::Object { fields, interfaces: interfaces.collect() })
        }
        Definition::InterfaceTypeDefinition(it) => (it.name()?, TypeKind::Interface),
        Definition::UnionTypeDefinition(it) => {
            let members = it.union_member_types()?.named_types();
            let members = members.filter_map(|member| Some(text(&member.name()?)));
            (it.name()?, TypeKind::Union(members.collect()))
        }
        _ => return None,
    };
    Some(TypeDefinition { name: text(&name), kind })
}

fn field(field: &cst::FieldDefinition) -> Option<Field> {
    let arguments = field.arguments_definition().into_iter();
    let arguments = arguments.flat_map(|all| all.input_value_definitions());
    let arguments = arguments.filter_map(|it| argument(&it));
    Some(Field {
        name: text(&field.name()?),
        ty: nullable(&field.ty()?),
        arguments: arguments.collect(),
    })
}

fn argument(argument: &cst::InputValueDefinition) -> Option<Argument> {
    Some(Argument { name: text(&argument.name()?), ty: nullable(&argument.ty()?) })
}

fn text(name: &cst::Name) -> String {
    name.syntax().text().to_string().trim().to_owned()
}

fn nullable(ty: &cst::Type) -> Type {
    match ty {
        cst::Type::NonNullType(inner) => {
            let named = inner.named_type().map(cst::Type::NamedType);
            let list = || inner.list_type().map(cst::Type::ListType);
            named.or_else(list).map_or_else(|| Type::Named(String::new()), |inner| non_null(&inner))
        }
        ty => Type::Nullable(Box::new(non_null(ty))),
    }
}

fn non_null(ty: &cst::Type) -> Type {
    match ty {
        cst::Type::ListType(list) => {
            let item = list.ty().map_or_else(|| Type::Named(String::new()), |item| nullable(&item));
            Type::List(Box::new(item))
        }
        cst::Type::NamedType(named) => {
            Type::Named(named.name().map(|name| text(&name)).unwrap_or_default())
        }
        cst::Type::NonNullType(_) => nullable(ty),
    }
}

/// Returns a name of the schema as the name of a Rust function or field.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
