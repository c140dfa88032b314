//! The code of an entity: its keys.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;

use super::{key, shape};
use crate::grammar::{Argument, ArgumentKind, Condition, Entity, Key};

pub(super) fn generate(entity: &Entity) -> TokenStream {
    let name = &entity.name;
    let shape = shape::entity(entity);
    let own = entity.identity.iter().map(|argument| value(entity, &argument.name));
    let index_keys = ["gsi1", "gsi2", "gsi3"].map(|index| index_key(entity, index));
    let version = if entity.parts.iter().any(|part| part.mutable) {
        quote_spanned!(name.span()=> {
            let Self { version, .. } = self;
            ::std::option::Option::Some(*version)
        })
    } else {
        quote!(::std::option::Option::None)
    };
    let constructors = constructors(entity);
    quote! {
        impl ::roundtable_model::Entity for #name {
            const SHAPE: &'static ::roundtable_model::shape::EntityShape = &#shape;

            fn key(&self) -> ::roundtable_model::At<Self> {
                Self::at(#(&#own),*)
            }

            fn index_keys(&self) -> ::roundtable_model::IndexKeys {
                [#(#index_keys),*]
            }

            fn version(&self) -> ::std::option::Option<u64> {
                #version
            }
        }

        impl ::roundtable_model::Answer for #name {
            const ENTITY: &'static ::roundtable_model::shape::EntityShape =
                <Self as ::roundtable_model::Entity>::SHAPE;
            const IS_VIEW: bool = false;
        }

        #constructors
    }
}

/// The constructor of a refused page's entity, so that its callers are not refused as well.
pub(super) fn stub(entity: &Entity) -> TokenStream {
    let (name, parameters) = (&entity.name, parameters(entity));
    let names = entity.identity.iter().map(|argument| &argument.name);
    quote! {
        impl #name {
            /// Nowhere, until the page is right.
            pub fn at(#parameters) -> ::roundtable_model::At<Self> {
                let _ = (#(#names,)*);
                loop {}
            }
        }
    }
}

fn parameters(entity: &Entity) -> TokenStream {
    let each = entity.identity.iter().map(|Argument { name, kind, .. }| match kind {
        ArgumentKind::One(kind)
        | ArgumentKind::List(kind)
        | ArgumentKind::Span(kind)
        | ArgumentKind::Shards(kind)
        | ArgumentKind::Days(kind) => quote!(#name: &#kind),
    });
    quote!(#(#each),*)
}

/// `Follow::at(&ana, &bo)`, and `UserCounter::upsert(…)`, whose update makes the item if need be.
fn constructors(entity: &Entity) -> TokenStream {
    let name = &entity.name;
    let parameters = parameters(entity);
    let Some(main) = entity.keys.first() else { return TokenStream::new() };
    let (partition, sort) = (key::write(&main.partition), key::write(&main.sort));
    let doc = format!("The place of the one `{name}` that these name.");
    // What is in an index, or computed, has to be written whole.
    let computed = entity.identity.iter().any(|argument| argument.computed_from.is_some());
    let upsert = (entity.keys.len() == 1 && !computed).then(|| {
        let names = entity.identity.iter().map(|argument| &argument.name);
        let texts = entity.identity.iter().map(|argument| argument.name.to_string());
        let names_again = entity.identity.iter().map(|argument| &argument.name);
        quote! {
            /// Changes the item, or makes it with what is set here.
            pub fn upsert(#parameters) -> ::roundtable_model::Patch<Self> {
                ::roundtable_model::Patch::upsert(
                    Self::at(#(#names),*),
                    [#((#texts, ::roundtable_model::Attribute::to_value(#names_again))),*],
                )
            }
        }
    });
    quote! {
        impl #name {
            #[doc = #doc]
            pub fn at(#parameters) -> ::roundtable_model::At<Self> {
                ::roundtable_model::At::new(#partition, #sort)
            }

            #upsert
        }
    }
}

/// The key in one index: `None` when the item is not in it.
fn index_key(entity: &Entity, index: &str) -> TokenStream {
    let keys = entity.keys.iter().filter(|key| key.index.name == index);
    let mut chain = TokenStream::new();
    let mut open = true;
    for key in keys {
        let (binding, written) = (bindings(entity, key), pair(key));
        let conditions = key.conditions.iter().map(|condition| match condition {
            Condition::Present(name) if key.mentions(name) => {
                quote!(let ::std::option::Option::Some(#name) = &self.#name)
            }
            Condition::Present(name) => quote!(self.#name.is_some()),
            Condition::Predicate(predicate, fields) => {
                quote!(Self::#predicate(#(&self.#fields),*))
            }
        });
        if key.conditions.is_empty() {
            chain.extend(quote!({ #binding #written }));
            open = false;
        } else {
            chain.extend(quote!(if #(#conditions)&&* { #binding #written } else));
        }
    }
    match (chain.is_empty(), open) {
        (true, _) => quote!(::std::option::Option::None),
        (false, true) => quote!(#chain { ::std::option::Option::None }),
        (false, false) => chain,
    }
}

/// The partition and sort key, as a `Some`.
fn pair(key: &Key) -> TokenStream {
    let (partition, sort) = (key::write(&key.partition), key::write(&key.sort));
    quote!(::std::option::Option::Some((#partition, #sort)))
}

/// Variables for the parts of a key; those that may be absent are bound by the condition.
fn bindings(entity: &Entity, key: &Key) -> TokenStream {
    let mut names: Vec<&Ident> = Vec::new();
    for name in key.partition.parts().chain(key.sort.parts()) {
        let bound = entity.part(name).is_some_and(|part| part.optional);
        if !bound && !names.contains(&name) {
            names.push(name);
        }
    }
    let values = names.iter().map(|name| value(entity, name));
    quote!(#(let #names = &#values;)*)
}

/// The value of a part: a field, or what is computed from fields.
pub(super) fn value(entity: &Entity, name: &Ident) -> TokenStream {
    let computed = entity.identity(name).and_then(|argument| argument.computed_from.as_ref());
    computed.map_or_else(|| quote!(self.#name), |fields| quote!(Self::#name(#(&self.#fields),*)))
}
