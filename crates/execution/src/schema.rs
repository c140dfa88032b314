//! The schema that documents are checked against.

use apollo_compiler::Name;
use apollo_compiler::collections::HashMap;
use apollo_compiler::schema::{ExtendedType, Implementers};
use apollo_compiler::validation::Valid;

/// A schema, read from its definition language.
#[derive(Debug)]
pub struct Schema {
    pub(crate) types: Valid<apollo_compiler::Schema>,
    pub(crate) implementers: HashMap<Name, Implementers>,
    pub(crate) sizes: PageSizes,
}

/// The sizes of lists, by which the cost of a document is known before it is executed.
#[derive(Clone, Debug, Default)]
pub struct PageSizes {
    /// The ending of the names of types that are pages.
    pub suffix: &'static str,
    /// The usual size.
    pub default: u64,
    /// Types with other sizes.
    pub others: &'static [(&'static str, u64)],
    pub max: u64,
    /// The arguments that set the size, the stronger first.
    pub arguments: &'static [&'static str],
    /// The most objects in a list without pages, by `Type.field`. One that is not here counts as a page of
    /// the largest size.
    pub lists: &'static [(&'static str, u64)],
}

impl PageSizes {
    /// Returns the usual size of a type that is a page.
    pub(crate) fn of(&self, name: &str) -> Option<u64> {
        let other = self.others.iter().find(|(other, _)| *other == name);
        let is_page = !self.suffix.is_empty() && name.ends_with(self.suffix);
        other.map(|(_, size)| *size).or(is_page.then_some(self.default))
    }

    /// Returns the greatest length of a list without pages.
    pub(crate) fn of_list(&self, type_name: &str, field: &str) -> u64 {
        let is_list = |name: &str| name.split_once('.') == Some((type_name, field));
        let list = self.lists.iter().find(|(name, _)| is_list(name));
        list.map_or(self.max, |(_, items)| *items)
    }
}

impl Schema {
    /// Reads a schema; the error says what is wrong with it, and where.
    pub fn parse(sdl: &str, sizes: PageSizes) -> Result<Self, String> {
        let types = apollo_compiler::Schema::parse_and_validate(sdl, "schema.graphql");
        let types = types.map_err(|invalid| invalid.errors.to_string())?;
        let implementers = types.implementers_map();
        Ok(Self { types, implementers, sizes })
    }

    /// Returns the object types that a value of the named type may have.
    pub(crate) fn object_types(&self, name: &Name) -> Vec<Name> {
        match self.types.types.get(name) {
            Some(ExtendedType::Union(union)) => {
                union.members.iter().map(|member| member.name.clone()).collect()
            }
            Some(ExtendedType::Interface(_)) => {
                let implementers = self.implementers.get(name).into_iter();
                implementers.flat_map(|all| all.objects.iter().cloned()).collect()
            }
            _ => vec![name.clone()],
        }
    }

    pub(crate) fn is_leaf(&self, name: &Name) -> bool {
        self.types.types.get(name).is_some_and(ExtendedType::is_leaf)
    }
}
