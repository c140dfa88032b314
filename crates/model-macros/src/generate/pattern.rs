//! The code of a question: a method of the table's handle.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, Type};

use super::{constant, key, shape};
use crate::check::{entity_of, served_by};
use crate::grammar::{Argument, ArgumentKind, Entity, Page, Pattern, Sort};
use crate::template::{Segment, Template};

pub(super) fn generate(page: &Page, pattern: &Pattern) -> TokenStream {
    let (constant, shape) = (constant(&pattern.name), shape::pattern(pattern));
    let (types, signature) = (types(page, pattern), signature(pattern));
    let body = match shape::operation(pattern).to_string().as_str() {
        "Get" => {
            let key = primary_key(pattern);
            quote!(Lookup::new(&self.table, &Self::#constant, #key))
        }
        "BatchGet" => {
            let keys = spread(pattern, &primary_key(pattern), true);
            quote!(Lookups::new(&self.table, &Self::#constant, #keys))
        }
        "First" => listing(pattern, &constant, &quote!(First)),
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

/// The method of a refused page, so that its callers are not refused as well.
pub(super) fn stub(pattern: &Pattern) -> TokenStream {
    let signature = signature(pattern);
    let names = pattern.arguments.iter().map(|argument| &argument.name);
    quote!(#signature { let _ = (#(#names,)*); loop {} })
}

/// The method's documentation, name, parameters and return type.
fn signature(pattern: &Pattern) -> TokenStream {
    let (name, doc) = (&pattern.name, doc(pattern));
    let parameters = pattern.arguments.iter().map(parameter);
    let answer = pattern.view.as_ref().unwrap_or(&pattern.entity);
    let returned = match shape::operation(pattern).to_string().as_str() {
        "Get" => quote!(Lookup<'_, #answer>),
        "BatchGet" => quote!(Lookups<'_, #answer>),
        "First" => quote!(First<'_, #answer>),
        operation => {
            let strong = pattern.index.is_main() && operation == "Query";
            quote!(Listing<'_, #answer, #strong>)
        }
    };
    quote! {
        #[doc = #doc]
        pub fn #name(&self, #(#parameters),*) -> ::roundtable_model::#returned
    }
}

/// What views the answers have, each once.
pub(super) fn views(page: &Page) -> Vec<TokenStream> {
    let mut seen: Vec<&Ident> = Vec::new();
    let mut views = Vec::new();
    for pattern in &page.patterns {
        let Some(view) = pattern.view.as_ref().filter(|view| !seen.contains(view)) else {
            continue;
        };
        seen.push(view);
        let entity = &pattern.entity;
        views.push(quote! {
            impl ::roundtable_model::Answer for #view {
                const ENTITY: &'static ::roundtable_model::shape::EntityShape =
                    <#entity as ::roundtable_model::Entity>::SHAPE;
                const IS_VIEW: bool = true;
            }
        });
    }
    views
}

fn parameter(Argument { name, kind, .. }: &Argument) -> TokenStream {
    match kind {
        ArgumentKind::One(kind) => quote!(#name: &#kind),
        ArgumentKind::List(kind) => quote!(#name: &[#kind]),
        ArgumentKind::Span(kind) => quote!(#name: ::roundtable_model::Span<#kind>),
        ArgumentKind::Shards(kind) | ArgumentKind::Days(kind) => quote!(#name: #kind),
    }
}

fn primary_key(pattern: &Pattern) -> TokenStream {
    let partition = key::write(&pattern.partition);
    let sort = pattern.sort.template().map(key::write);
    quote!(::roundtable_model::table::Key::new(#partition, #sort))
}

/// A constructor call for a page of items.
fn listing(pattern: &Pattern, constant: &Ident, kind: &TokenStream) -> TokenStream {
    let partition = key::write(&pattern.partition);
    let days = pattern.arguments.iter().find(|a| matches!(a.kind, ArgumentKind::Days(_)));
    let operation = shape::operation(pattern).to_string();
    let partitions = match (operation.as_str(), days) {
        ("WalkDays", Some(Argument { name, .. })) => {
            // The partitions of each day are made when the walk reaches it.
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
        quote!(.only(#entity::#field.#compare(#with)))
    });
    // What a cursor is bound to: everything asked for, except what may differ from page to page.
    let asked =
        pattern.arguments.iter().filter(|argument| matches!(argument.kind, ArgumentKind::One(_)));
    let asked = asked.map(|argument| &argument.name);
    let asked = quote!(::std::format!("{:?}", (#(&#asked,)*)));
    quote!(#kind::new(&self.table, &Self::#constant, #asked, #partitions, #range) #filter)
}

/// A vector of `made`, for each combination of what lists and shards hold.
fn spread(pattern: &Pattern, made: &TokenStream, in_sort: bool) -> TokenStream {
    let mut loops = quote!(made.push(#made););
    let templates =
        std::iter::once(&pattern.partition).chain(pattern.sort.template().filter(|_| in_sort));
    let used: Vec<&Ident> = templates.flat_map(Template::parts).collect();
    for Argument { name, kind, .. } in pattern.arguments.iter().rev() {
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
        let mut made = ::std::vec::Vec::new();
        #loops
        made
    })
}

fn range(pattern: &Pattern) -> TokenStream {
    match &pattern.sort {
        Sort::All => quote!(::roundtable_model::Range::All),
        Sort::Equal(template) => {
            let key = key::write(template);
            quote!(::roundtable_model::Range::Exactly(#key))
        }
        Sort::Begins(template) => {
            let prefix = key::write(template);
            quote!(::roundtable_model::Range::Begins(#prefix))
        }
        Sort::Within(template) => {
            let before = key::write_before_last(template);
            let span = template.parts().last();
            quote!(::roundtable_model::Range::within(#before, &#span))
        }
    }
}

/// What a reader of the documentation sees first.
fn doc(pattern: &Pattern) -> String {
    let sort = match &pattern.sort {
        Sort::All => String::from("everything there"),
        Sort::Equal(template) => format!("`{}`", template.literal.value()),
        Sort::Begins(template) => format!("what begins with `{}`", template.literal.value()),
        Sort::Within(template) => format!("what lies within `{}`", template.literal.value()),
    };
    let order = match pattern.descending {
        Some(true) => ", falling",
        Some(false) => ", rising",
        None => "",
    };
    let (partition, index) = (pattern.partition.literal.value(), &pattern.index.name);
    let asked = format!("`{index}`: `{partition}`, {sort}{order}.");
    if pattern.doc.is_empty() { asked } else { format!("{}\n\n{asked}", pattern.doc) }
}

/// Lets the compiler see that what a pattern is asked with has the type of the part it stands for.
fn types(page: &Page, pattern: &Pattern) -> TokenStream {
    let Some((entity, key)) =
        entity_of(page, pattern).and_then(|entity| Ok((entity, served_by(entity, pattern)?))).ok()
    else {
        return TokenStream::new();
    };
    let sorts = pattern.sort.template().map(|template| (template, &key.sort));
    let pairs = std::iter::once((&pattern.partition, &key.partition)).chain(sorts);
    let same = pairs
        .flat_map(|(asked, kept)| asked.segments.iter().zip(&kept.segments))
        .filter_map(|(asked, kept)| same(entity, pattern, asked, kept));
    let name = &entity.name;
    quote!(const _: fn(&#name) = |entity| {
        let _ = entity;
        #(#same)*
    };)
}

fn same(
    entity: &Entity,
    pattern: &Pattern,
    asked: &Segment,
    kept: &Segment,
) -> Option<TokenStream> {
    let (Segment::Part { name: asked, .. } | Segment::Shard { name: asked }) = asked else {
        return None;
    };
    let kind: Type = match &pattern.argument(asked)?.kind {
        ArgumentKind::One(kind) | ArgumentKind::List(kind) | ArgumentKind::Span(kind) => {
            kind.clone()
        }
        ArgumentKind::Shards(_) => syn::parse_quote!(::roundtable_model::Shard),
        ArgumentKind::Days(_) => syn::parse_quote!(::roundtable_model::Day),
    };
    let (name, through) = match kept {
        Segment::Part { name, through } => (name, through.as_ref()),
        Segment::Shard { name } => (name, None),
        Segment::Literal(_) => return None,
    };
    let seen = |value: TokenStream| match through {
        Some(through) => quote!(#value.#through()),
        None => value,
    };
    let check = quote_spanned!(asked.span()=> ::roundtable_model::part_is::<#kind>);
    let computed = entity.identity(name).and_then(|argument| argument.computed_from.as_ref());
    Some(match (computed, entity.part(name)) {
        (Some(fields), _) => {
            let entity = &entity.name;
            let value = seen(quote!(#entity::#name(#(&entity.#fields),*)));
            quote_spanned!(asked.span()=> #check(&#value);)
        }
        (None, Some(part)) if part.optional => {
            let value = seen(quote!((*part)));
            quote!(if let ::std::option::Option::Some(part) = &entity.#name { #check(&#value); })
        }
        _ => {
            let value = seen(quote!(entity.#name));
            quote_spanned!(asked.span()=> #check(&#value);)
        }
    })
}
