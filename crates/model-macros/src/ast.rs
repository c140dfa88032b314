//! A schema as parsed: tables, entities, keys and access patterns.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Ident, LitInt, LitStr, Type};

use crate::template::{SegmentAst, TemplateAst};

/// The tables of a schema, one after the other.
pub(crate) struct SchemaAst {
    pub(crate) tables: Vec<TableAst>,
}

pub(crate) struct TableAst {
    pub(crate) doc: String,
    pub(crate) handle: Ident,
    pub(crate) name: LitStr,
    pub(crate) indexes: Vec<IndexAst>,
    pub(crate) streamed: bool,
    /// The entity whose items are also kept in the order of their sort keys.
    pub(crate) ordered: Option<Ident>,
    pub(crate) entities: Vec<EntityAst>,
    pub(crate) patterns: Vec<PatternAst>,
    pub(crate) composites: Vec<CompositeAst>,
    pub(crate) accepted: Vec<AcceptedAst>,
}

/// `main`, `gsi1`…: the name in the schema, and its variant of `Index`.
#[derive(Clone)]
pub(crate) struct IndexAst {
    pub(crate) name: Ident,
    pub(crate) variant: Ident,
}

impl IndexAst {
    pub(crate) fn is_main(&self) -> bool {
        self.name == "main"
    }
}

impl PartialEq for IndexAst {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

pub(crate) struct EntityAst {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) identity: Vec<ArgumentAst>,
    pub(crate) parts: Vec<PartAst>,
    /// The fields that name its owners.
    pub(crate) owners: Vec<Ident>,
    /// The functions that upgrade items, from the first shape to the current one.
    pub(crate) upgrades: Vec<Ident>,
    pub(crate) keys: Vec<KeyAst>,
}

impl EntityAst {
    /// Returns the field called `name`, if index keys may depend on it.
    pub(crate) fn part(&self, name: &Ident) -> Option<&PartAst> {
        self.parts.iter().find(|part| part.name == *name)
    }

    /// Returns the positions of the keys that list the items of one owner, whose partition ends in
    /// the owner: one key if it lists all of them, otherwise every key that lists some.
    pub(crate) fn keys_of_owner(&self, owner: &Ident) -> Vec<usize> {
        let lists = |key: &KeyAst| {
            let [SegmentAst::Literal(_), SegmentAst::Part { name, method: None }, rest @ ..] =
                key.partition.segments.as_slice()
            else {
                return false;
            };
            name == owner && matches!(rest, [] | [SegmentAst::Shard { .. }])
        };
        let keys: Vec<usize> = (0..self.keys.len())
            .filter(|position| self.keys.get(*position).is_some_and(lists))
            .collect();
        let lists_all = |position: &&usize| {
            let key = self.keys.get(**position);
            key.is_some_and(|key| key.conditions.is_empty() && key.partition.segments.len() == 2)
        };
        keys.iter().find(lists_all).map_or(keys.clone(), |key| vec![*key])
    }

    /// Returns the part of the primary key called `name`.
    pub(crate) fn identity(&self, name: &Ident) -> Option<&ArgumentAst> {
        self.identity.iter().find(|argument| argument.name == *name)
    }
}

/// A part of a primary key, or an argument of a pattern.
pub(crate) struct ArgumentAst {
    pub(crate) name: Ident,
    /// The fields it is computed from, when it is not a field itself.
    pub(crate) computed_from: Option<Vec<Ident>>,
    pub(crate) kind: ArgumentKind,
}

pub(crate) enum ArgumentKind {
    One(Type),
    List(Type),
    Span(Type),
    Shards(Type),
    Days(Type),
}

impl ArgumentKind {
    /// Returns whether it is one shard or all of them.
    pub(crate) fn is_shard(&self) -> bool {
        matches!(self, Self::Shards(_)) || self.to_source() == "Shard"
    }

    pub(crate) fn to_source(&self) -> String {
        let plain = |kind: &Type| kind.to_token_stream().to_string().replace(' ', "");
        match self {
            Self::List(kind) => format!("[{}]", plain(kind)),
            Self::Span(kind) => format!("Span<{}>", plain(kind)),
            Self::One(kind) | Self::Shards(kind) | Self::Days(kind) => plain(kind),
        }
    }
}

/// A field that index keys depend on.
pub(crate) struct PartAst {
    pub(crate) name: Ident,
    pub(crate) mutable: bool,
    pub(crate) optional: bool,
}

pub(crate) struct KeyAst {
    pub(crate) index: IndexAst,
    pub(crate) otherwise: bool,
    pub(crate) conditions: Vec<ConditionAst>,
    pub(crate) partition: TemplateAst,
    pub(crate) sort: TemplateAst,
}

impl KeyAst {
    /// Returns whether the text of the key depends on the part.
    pub(crate) fn mentions(&self, name: &Ident) -> bool {
        self.partition.parts().chain(self.sort.parts()).any(|part| part == name)
    }
}

/// A condition of a sparse key.
#[derive(Clone)]
pub(crate) enum ConditionAst {
    Present(Ident),
    Predicate(Ident, Vec<Ident>),
}

pub(crate) struct PatternAst {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) arguments: Vec<ArgumentAst>,
    pub(crate) index: IndexAst,
    pub(crate) partition: TemplateAst,
    pub(crate) first: bool,
    pub(crate) sort: SortAst,
    pub(crate) descending: Option<bool>,
    pub(crate) strong: Option<Ident>,
    pub(crate) page: Option<LitInt>,
    pub(crate) filter: Option<FilterAst>,
    pub(crate) entity: Ident,
    pub(crate) view: Option<Ident>,
}

impl PatternAst {
    pub(crate) fn argument(&self, name: &Ident) -> Option<&ArgumentAst> {
        self.arguments.iter().find(|argument| argument.name == *name)
    }

    pub(crate) fn has(&self, wanted: impl Fn(&ArgumentKind) -> bool) -> bool {
        self.arguments.iter().any(|argument| wanted(&argument.kind))
    }
}

/// The sort keys that a pattern reads.
pub(crate) enum SortAst {
    All,
    Equal(TemplateAst),
    Begins(TemplateAst),
    Within(TemplateAst),
}

impl SortAst {
    pub(crate) const fn template(&self) -> Option<&TemplateAst> {
        match self {
            Self::All => None,
            Self::Equal(template) | Self::Begins(template) | Self::Within(template) => {
                Some(template)
            }
        }
    }
}

/// `where field has argument`, or `where field is argument`.
pub(crate) struct FilterAst {
    pub(crate) field: Ident,
    pub(crate) contains: bool,
    pub(crate) with: Ident,
}

/// A read composed of several patterns.
pub(crate) struct CompositeAst {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) of: Vec<Ident>,
}

/// A finding of the lint that the schema accepts.
pub(crate) struct AcceptedAst {
    pub(crate) lint: String,
    pub(crate) subjects: Vec<(Ident, IndexAst)>,
    pub(crate) reason: LitStr,
}

impl ToTokens for IndexAst {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let variant = &self.variant;
        tokens.extend(quote::quote!(::roundtable_model::shape::Index::#variant));
    }
}
