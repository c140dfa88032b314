//! Generates the schema as data: the values of `roundtable_model::shape`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::constant;
use crate::ast::{
    ArgumentAst, ArgumentKind, ConditionAst, EntityAst, KeyAst, PatternAst, SortAst, TableAst,
};
use crate::template::{SegmentAst, TemplateAst};

pub(super) fn table(table: &TableAst) -> TokenStream {
    let TableAst { doc, name, indexes, streamed, .. } = table;
    let ordered = if let Some(entity) = &table.ordered {
        quote!(::std::option::Option::Some(<#entity as ::roundtable_model::Entity>::SHAPE))
    } else {
        quote!(::std::option::Option::None)
    };
    let entities = table.entities.iter().map(|entity| &entity.name);
    let patterns = table.patterns.iter().map(|pattern| constant(&pattern.name));
    let composites = table.composites.iter().map(|composite| {
        let (name, doc) = (composite.name.to_string(), &composite.doc);
        let of = composite.of.iter().map(Ident::to_string);
        quote!(::roundtable_model::shape::CompositeShape { name: #name, doc: #doc, of: &[#(#of),*] })
    });
    let accepted = table.accepted.iter().flat_map(|accepted| {
        let (lint, reason) = (&accepted.lint, &accepted.reason);
        accepted.subjects.iter().map(move |(subject, index)| {
            let subject = subject.to_string();
            quote!(::roundtable_model::shape::AcceptedFinding {
                lint: #lint, subject: #subject, index: #index, reason: #reason,
            })
        })
    });
    quote!(::roundtable_model::shape::TableShape {
        name: #name,
        doc: #doc,
        indexes: &[#(#indexes),*],
        stream: #streamed,
        ordered: #ordered,
        entities: &[#(<#entities as ::roundtable_model::Entity>::SHAPE),*],
        patterns: &[#(&Self::#patterns),*],
        composites: &[#(#composites),*],
        accepted: &[#(#accepted),*],
    })
}

pub(super) fn entity(entity: &EntityAst) -> TokenStream {
    let (name, doc) = (entity.name.to_string(), &entity.doc);
    let identity = entity.identity.iter().map(argument);
    let keys = entity.keys.iter().map(key);
    let owners = entity.owners.iter().map(|field| owner(entity, field));
    let parts = entity.parts.iter().map(|part| {
        let (name, optional, mutable) = (part.name.to_string(), part.optional, part.mutable);
        quote!(::roundtable_model::shape::KeyField {
            name: #name, optional: #optional, mutable: #mutable,
        })
    });
    let upgrades = entity.upgrades.iter().map(|upgrade| {
        let name = upgrade.to_string();
        quote!(::roundtable_model::shape::ShapeUpgrade { name: #name, apply: Self::#upgrade })
    });
    quote!(::roundtable_model::shape::EntityShape {
        name: #name,
        doc: #doc,
        identity: &[#(#identity),*],
        parts: &[#(#parts),*],
        owners: &[#(#owners),*],
        keys: &[#(#keys),*],
        fields: <Self as ::roundtable_model::Fields>::FIELDS,
        upgrades: &[#(#upgrades),*],
        rewrite: |item| {
            let entity = <Self as ::roundtable_model::FromItem>::from_item(item)?;
            ::std::result::Result::Ok(::roundtable_model::Entity::item(&entity))
        },
    })
}

/// Generates the shape of an owner; its kind is that of the id which names it.
fn owner(entity: &EntityAst, field: &Ident) -> TokenStream {
    let name = field.to_string();
    let kind =
        if let Some(ArgumentAst { computed_from: Some(_), kind: ArgumentKind::One(kind), .. }) =
            entity.identity(field)
        {
            quote!(<#kind as ::roundtable_model::OwnerId>::KIND)
        } else {
            quote!(::roundtable_model::owner_kind(|entity: &Self| &entity.#field))
        };
    let keys = entity.keys_of_owner(field);
    quote!(::roundtable_model::shape::OwnerShape { field: #name, kind: #kind, keys: &[#(#keys),*] })
}

pub(super) fn pattern(pattern: &PatternAst) -> TokenStream {
    let PatternAst { doc, index, strong, entity, filter, view, .. } = pattern;
    let (name, entity) = (pattern.name.to_string(), entity.to_string());
    let arguments = pattern.arguments.iter().map(argument);
    let operation = operation(pattern);
    let partition = template(&pattern.partition);
    let sort = match &pattern.sort {
        SortAst::All => quote!(All),
        SortAst::Equal(sort) => wrapped("Equal", sort),
        SortAst::Begins(sort) => wrapped("Begins", sort),
        SortAst::Within(sort) => wrapped("Within", sort),
    };
    let (descending, strong) = (pattern.descending == Some(true), strong.is_some());
    let page = pattern.page.as_ref().map(|page| quote!(#page));
    let page = page.unwrap_or_else(|| quote!(::roundtable_model::shape::PAGE_ITEMS_DEFAULT));
    let filter = option(filter.as_ref().map(|filter| {
        let (field, contains) = (filter.field.to_string(), filter.contains);
        let with = filter.with.to_string();
        quote!(::roundtable_model::shape::PatternFilter { field: #field, contains: #contains, with: #with })
    }));
    let view = option(view.as_ref().map(|view| {
        let view = view.to_string();
        quote!(#view)
    }));
    quote!(::roundtable_model::shape::PatternShape {
        name: #name,
        doc: #doc,
        arguments: &[#(#arguments),*],
        operation: ::roundtable_model::shape::PatternOperation::#operation,
        index: #index,
        partition: #partition,
        sort: ::roundtable_model::shape::PatternSort::#sort,
        descending: #descending,
        strong: #strong,
        page: #page,
        filter: #filter,
        entity: #entity,
        view: #view,
    })
}

/// Returns the variant of `PatternOperation` of a pattern.
pub(super) fn operation(pattern: &PatternAst) -> Ident {
    let spread =
        pattern.has(|kind| matches!(kind, ArgumentKind::List(_) | ArgumentKind::Shards(_)));
    let name = match &pattern.sort {
        _ if pattern.first => "First",
        SortAst::Equal(_) if spread => "BatchGet",
        SortAst::Equal(_) => "Get",
        _ if pattern.has(|kind| matches!(kind, ArgumentKind::Days(_))) => "WalkDays",
        _ if spread => "Merge",
        _ => "Query",
    };
    Ident::new(name, pattern.name.span())
}

fn wrapped(variant: &str, sort: &TemplateAst) -> TokenStream {
    let (variant, sort) = (Ident::new(variant, sort.span()), template(sort));
    quote!(#variant(#sort))
}

fn argument(argument: &ArgumentAst) -> TokenStream {
    let (name, kind) = (argument.name.to_string(), argument.kind.to_source());
    let computed = argument.computed_from.iter().flatten().map(Ident::to_string);
    quote!(::roundtable_model::shape::PartShape {
        name: #name, kind: #kind, computed_from: &[#(#computed),*],
    })
}

fn key(key: &KeyAst) -> TokenStream {
    let KeyAst { index, otherwise, .. } = key;
    let present = key.conditions.iter().filter_map(|condition| match condition {
        ConditionAst::Present(name) => Some(name.to_string()),
        ConditionAst::Predicate(..) => None,
    });
    let predicates = key.conditions.iter().filter_map(|condition| match condition {
        ConditionAst::Present(_) => None,
        ConditionAst::Predicate(name, fields) => {
            let (name, fields) = (name.to_string(), fields.iter().map(Ident::to_string));
            Some(quote!(::roundtable_model::shape::Predicate {
                name: #name, fields: &[#(#fields),*],
            }))
        }
    });
    let (partition, sort) = (template(&key.partition), template(&key.sort));
    quote!(::roundtable_model::shape::KeyShape {
        index: #index,
        when: ::roundtable_model::shape::SparseCondition {
            otherwise: #otherwise, present: &[#(#present),*], predicates: &[#(#predicates),*],
        },
        partition: #partition,
        sort: #sort,
    })
}

fn template(template: &TemplateAst) -> TokenStream {
    let text = &template.literal;
    let segments = template.segments.iter().map(|segment| match segment {
        SegmentAst::Literal(text) => quote!(Literal(#text)),
        SegmentAst::Part { name, method } => {
            let name = name.to_string();
            let method = option(method.as_ref().map(|method| {
                let method = method.to_string();
                quote!(#method)
            }));
            quote!(Part { name: #name, method: #method })
        }
        SegmentAst::Shard { name } => {
            let name = name.to_string();
            quote!(Shard { name: #name })
        }
    });
    quote!(::roundtable_model::shape::KeyTemplate {
        text: #text,
        segments: &[#(::roundtable_model::shape::KeySegment::#segments),*],
    })
}

fn option(tokens: Option<TokenStream>) -> TokenStream {
    let some = tokens.map(|tokens| quote!(::std::option::Option::Some(#tokens)));
    some.unwrap_or_else(|| quote!(::std::option::Option::None))
}
