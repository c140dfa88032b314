//! Generates the method of an access pattern on the table's handle.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, Type};

use super::{constant, key, shape};
use crate::ast::{ArgumentAst, ArgumentKind, EntityAst, PatternAst, SortAst, TableAst};
use crate::check::{entity_of, served_by};
use crate::template::{SegmentAst, TemplateAst};

pub(super) fn generate(table: &TableAst, pattern: &PatternAst) -> TokenStream {
    let (constant, shape) = (constant(&pattern.name), shape::pattern(pattern));
    let (types, signature) = (types(table, pattern), signature(pattern));
    let body = match shape::operation(pattern).to_string().as_str() {
        "Get" => {
            let key = primary_key(pattern);
            quote!(Lookup::new(&self.table, &Self::#constant, #key))
        }
        "BatchGet" => {
            let keys = spread(pattern, &primary_key(pattern), true);
            quote!(BatchLookup::new(&self.table, &Self::#constant, #keys))
        }
        "First" => listing(pattern, &constant, &quote!(FirstLookup)),
        _ => listing(pattern, &constant, &quote!(Listing)),
    };
    quote! {
        const #constant: ::roundtable_model::shape::PatternShape = {
            #types
            #shape
        };

        #signature {
            ::roundtable_model::#body
        }
    }
}

/// Generates the method of a rejected table, so that its callers report no further errors.
pub(super) fn stub(pattern: &PatternAst) -> TokenStream {
    let signature = signature(pattern);
    let names = pattern.arguments.iter().map(|argument| &argument.name);
    quote!(#signature { let _ = (#(#names,)*); loop {} })
}

/// Generates the method's documentation, name, parameters and return type.
fn signature(pattern: &PatternAst) -> TokenStream {
    let (name, doc) = (&pattern.name, doc(pattern));
    let parameters = pattern.arguments.iter().map(parameter);
    let result = pattern.view.as_ref().unwrap_or(&pattern.entity);
    let returned = match shape::operation(pattern).to_string().as_str() {
        "Get" => quote!(Lookup<'_, #result>),
        "BatchGet" => quote!(BatchLookup<'_, #result>),
        "First" => quote!(FirstLookup<'_, #result>),
        operation => {
            let strong = pattern.index.is_main() && operation == "Query";
            quote!(Listing<'_, #result, #strong>)
        }
    };
    quote! {
        #[doc = #doc]
        pub fn #name(&self, #(#parameters),*) -> ::roundtable_model::#returned
    }
}

/// Generates an impl for each view that the patterns return, each once.
pub(super) fn views(table: &TableAst) -> Vec<TokenStream> {
    let mut seen: Vec<&Ident> = Vec::new();
    let mut views = Vec::new();
    for pattern in &table.patterns {
        let Some(view) = pattern.view.as_ref().filter(|view| !seen.contains(view)) else {
            continue;
        };
        seen.push(view);
        let entity = &pattern.entity;
        views.push(quote! {
            impl ::roundtable_model::FromItem for #view {
                const ENTITY: &'static ::roundtable_model::shape::EntityShape =
                    <#entity as ::roundtable_model::Entity>::SHAPE;
                const IS_VIEW: bool = true;
            }
        });
    }
    views
}

fn parameter(ArgumentAst { name, kind, .. }: &ArgumentAst) -> TokenStream {
    match kind {
        ArgumentKind::One(kind) => quote!(#name: &#kind),
        ArgumentKind::List(kind) => quote!(#name: &[#kind]),
        ArgumentKind::Span(kind) => quote!(#name: ::roundtable_model::Span<#kind>),
        ArgumentKind::Shards(kind) | ArgumentKind::Days(kind) => quote!(#name: #kind),
    }
}

fn primary_key(pattern: &PatternAst) -> TokenStream {
    let partition = key::write(&pattern.partition);
    let sort = pattern.sort.template().map(key::write);
    quote!(::roundtable_model::table::Key::new(#partition, #sort))
}

/// Generates the constructor call of a list.
fn listing(pattern: &PatternAst, constant: &Ident, kind: &TokenStream) -> TokenStream {
    let partition = key::write(&pattern.partition);
    let days = pattern.arguments.iter().find(|a| matches!(a.kind, ArgumentKind::Days(_)));
    let operation = shape::operation(pattern).to_string();
    let partitions = match (operation.as_str(), days) {
        ("WalkDays", Some(ArgumentAst { name, .. })) => {
            // The partitions of a day are built when the walk reaches it.
            let owned = pattern.arguments.iter().filter_map(|argument| match argument.kind {
                ArgumentKind::One(_) => Some(&argument.name),
                _ => None,
            });
            let owned = quote!(#(let #owned = #owned.clone();)*);
            let spread = spread(pattern, &partition, false);
            quote!({
                #owned
                ::roundtable_model::Partitions::days(#name, move |#name: ::roundtable_model::Day| #spread)
            })
        }
        ("Merge", _) => {
            let spread = spread(pattern, &partition, false);
            quote!(::roundtable_model::Partitions::Many(#spread))
        }
        _ => quote!(::roundtable_model::Partitions::One(#partition)),
    };
    let range = range(pattern);
    let filter = pattern.filter.as_ref().map(|filter| {
        let entity = &pattern.entity;
        let (field, with) = (super::constant(&filter.field), &filter.with);
        let compare = Ident::new(if filter.contains { "has" } else { "is" }, with.span());
        quote!(.filter(#entity::#field.#compare(#with)))
    });
    // A cursor is bound to the arguments, except those that may differ from page to page.
    let bound =
        pattern.arguments.iter().filter(|argument| matches!(argument.kind, ArgumentKind::One(_)));
    let bound = bound.map(|argument| &argument.name);
    let arguments = quote!(::std::format!("{:?}", (#(&#bound,)*)));
    quote!(#kind::new(&self.table, &Self::#constant, #arguments, #partitions, #range) #filter)
}

/// Generates a vector of `key`, for each combination of the elements of lists and shards.
fn spread(pattern: &PatternAst, key: &TokenStream, in_sort: bool) -> TokenStream {
    let mut loops = quote!(all_keys.push(#key););
    let templates =
        std::iter::once(&pattern.partition).chain(pattern.sort.template().filter(|_| in_sort));
    let used: Vec<&Ident> = templates.flat_map(TemplateAst::parts).collect();
    for ArgumentAst { name, kind, .. } in pattern.arguments.iter().rev() {
        if !used.contains(&name) {
            continue;
        }
        loops = match kind {
            ArgumentKind::List(_) => quote!(for #name in #name { #loops }),
            ArgumentKind::Shards(_) => quote!(for #name in #name.iter() { #loops }),
            _ => loops,
        };
    }
    quote!({
        let mut all_keys = ::std::vec::Vec::new();
        #loops
        all_keys
    })
}

fn range(pattern: &PatternAst) -> TokenStream {
    match &pattern.sort {
        SortAst::All => quote!(::roundtable_model::SortKeyRange::All),
        SortAst::Equal(template) => {
            let key = key::write(template);
            quote!(::roundtable_model::SortKeyRange::Exactly(#key))
        }
        SortAst::Begins(template) => {
            let prefix = key::write(template);
            quote!(::roundtable_model::SortKeyRange::Begins(#prefix))
        }
        SortAst::Within(template) => {
            let before = key::write_before_last(template);
            let span = template.parts().last();
            quote!(::roundtable_model::SortKeyRange::within(#before, &#span))
        }
    }
}

fn doc(pattern: &PatternAst) -> String {
    let sort = match &pattern.sort {
        SortAst::All => String::from("all sort keys"),
        SortAst::Equal(template) => format!("`{}`", template.literal.value()),
        SortAst::Begins(template) => format!("beginning with `{}`", template.literal.value()),
        SortAst::Within(template) => format!("within `{}`", template.literal.value()),
    };
    let order = match pattern.descending {
        Some(true) => ", descending",
        Some(false) => ", ascending",
        None => "",
    };
    let (partition, index) = (pattern.partition.literal.value(), &pattern.index.name);
    let read = format!("`{index}`: `{partition}`, {sort}{order}.");
    if pattern.doc.is_empty() { read } else { format!("{}\n\n{read}", pattern.doc) }
}

/// Generates code that compiles only if each argument of a pattern has the type of its key part.
fn types(table: &TableAst, pattern: &PatternAst) -> TokenStream {
    let Some((entity, key)) =
        entity_of(table, pattern).and_then(|entity| Ok((entity, served_by(entity, pattern)?))).ok()
    else {
        return TokenStream::new();
    };
    let sorts = pattern.sort.template().map(|template| (template, &key.sort));
    let pairs = std::iter::once((&pattern.partition, &key.partition)).chain(sorts);
    let same = pairs
        .flat_map(|(read, stored)| read.segments.iter().zip(&stored.segments))
        .filter_map(|(read, stored)| same(entity, pattern, read, stored));
    let name = &entity.name;
    quote!(const _: fn(&#name) = |entity| {
        let _ = entity;
        #(#same)*
    };)
}

fn same(
    entity: &EntityAst,
    pattern: &PatternAst,
    read: &SegmentAst,
    stored: &SegmentAst,
) -> Option<TokenStream> {
    let (SegmentAst::Part { name: read, .. } | SegmentAst::Shard { name: read }) = read else {
        return None;
    };
    let kind: Type = match &pattern.argument(read)?.kind {
        ArgumentKind::One(kind) | ArgumentKind::List(kind) | ArgumentKind::Span(kind) => {
            kind.clone()
        }
        ArgumentKind::Shards(_) => syn::parse_quote!(::roundtable_model::Shard),
        ArgumentKind::Days(_) => syn::parse_quote!(::roundtable_model::Day),
    };
    let (name, method) = match stored {
        SegmentAst::Part { name, method } => (name, method.as_ref()),
        SegmentAst::Shard { name } => (name, None),
        SegmentAst::Literal(_) => return None,
    };
    let value_of = |value: TokenStream| match method {
        Some(method) => quote!(#value.#method()),
        None => value,
    };
    let check = quote_spanned!(read.span()=> ::roundtable_model::part_is::<#kind>);
    let computed = entity.identity(name).and_then(|argument| argument.computed_from.as_ref());
    Some(match (computed, entity.part(name)) {
        (Some(fields), _) => {
            let entity = &entity.name;
            let value = value_of(quote!(#entity::#name(#(&entity.#fields),*)));
            quote_spanned!(read.span()=> #check(&#value);)
        }
        (None, Some(part)) if part.optional => {
            let value = value_of(quote!((*part)));
            quote!(if let ::std::option::Option::Some(part) = &entity.#name { #check(&#value); })
        }
        _ => {
            let value = value_of(quote!(entity.#name));
            quote_spanned!(read.span()=> #check(&#value);)
        }
    })
}
