//! Generates the keys of an entity.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;

use super::{key, shape};
use crate::ast::{ArgumentAst, ArgumentKind, ConditionAst, EntityAst, KeyAst};

pub(super) fn generate(entity: &EntityAst) -> TokenStream {
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

            fn key(&self) -> ::roundtable_model::EntityKey<Self> {
                Self::at(#(&#own),*)
            }

            fn index_keys(&self) -> ::roundtable_model::IndexKeys {
                [#(#index_keys),*]
            }

            fn version(&self) -> ::std::option::Option<u64> {
                #version
            }
        }

        impl ::roundtable_model::FromItem for #name {
            const ENTITY: &'static ::roundtable_model::shape::EntityShape =
                <Self as ::roundtable_model::Entity>::SHAPE;
            const IS_VIEW: bool = false;
        }

        #constructors
    }
}

/// Generates the constructor of a rejected table's entity, so that its callers report no further
/// errors.
pub(super) fn stub(entity: &EntityAst) -> TokenStream {
    let (name, whole) = (&entity.name, parameters(&entity.identity));
    let names = entity.identity.iter().map(|argument| &argument.name);
    let of_partition = partition_arguments(entity);
    let (some, some_names) =
        (parameters(of_partition.clone()), of_partition.map(|part| &part.name));
    quote! {
        impl #name {
            pub fn partition(#some) -> ::std::string::String {
                let _ = (#(#some_names,)*);
                loop {}
            }

            pub fn at(#whole) -> ::roundtable_model::EntityKey<Self> {
                let _ = (#(#names,)*);
                loop {}
            }
        }
    }
}

/// Returns the parts of the primary key that its partition depends on.
fn partition_arguments(entity: &EntityAst) -> impl Iterator<Item = &ArgumentAst> + Clone {
    let partition = entity.keys.first().map(|main| &main.partition);
    entity.identity.iter().filter(move |argument| {
        partition.is_some_and(|partition| partition.parts().any(|part| *part == argument.name))
    })
}

fn parameters<'a>(arguments: impl IntoIterator<Item = &'a ArgumentAst>) -> TokenStream {
    let each = arguments.into_iter().map(|ArgumentAst { name, kind, .. }| match kind {
        ArgumentKind::One(kind)
        | ArgumentKind::List(kind)
        | ArgumentKind::Span(kind)
        | ArgumentKind::Shards(kind)
        | ArgumentKind::Days(kind) => quote!(#name: &#kind),
    });
    quote!(#(#each),*)
}

/// Generates `Follow::partition(&ana)`, `Follow::at(&ana, &bo)`, and `UserCounter::upsert(…)`, whose
/// update creates the item if it does not exist.
fn constructors(entity: &EntityAst) -> TokenStream {
    let name = &entity.name;
    let whole = parameters(&entity.identity);
    let of_partition = partition_arguments(entity);
    let (some, some_names) =
        (parameters(of_partition.clone()), of_partition.map(|part| &part.name));
    let Some(main) = entity.keys.first() else { return TokenStream::new() };
    let (partition, sort) = (key::write(&main.partition), key::write(&main.sort));
    let partition_doc = format!("Returns the partition key of a `{name}`.");
    let doc = format!("Returns the key of one `{name}`.");
    // An item with index keys, computed parts or older shapes has to be written whole.
    let computed = entity.identity.iter().any(|argument| argument.computed_from.is_some());
    let is_whole = entity.keys.len() > 1 || computed || !entity.upgrades.is_empty();
    let upsert = (!is_whole).then(|| {
        let names = entity.identity.iter().map(|argument| &argument.name);
        let texts = entity.identity.iter().map(|argument| argument.name.to_string());
        let names_again = entity.identity.iter().map(|argument| &argument.name);
        quote! {
            /// Changes the item, or creates it with the fields that are set.
            pub fn upsert(#whole) -> ::roundtable_model::Patch<Self> {
                ::roundtable_model::Patch::upsert(
                    Self::at(#(#names),*),
                    [#((#texts, ::roundtable_model::Attribute::to_value(#names_again))),*],
                )
            }
        }
    });
    quote! {
        impl #name {
            #[doc = #partition_doc]
            pub fn partition(#some) -> ::std::string::String {
                #partition
            }

            #[doc = #doc]
            pub fn at(#whole) -> ::roundtable_model::EntityKey<Self> {
                ::roundtable_model::EntityKey::new(Self::partition(#(#some_names),*), #sort)
            }

            #upsert
        }
    }
}

/// Generates the key in one index; `None` when the item is not in it.
fn index_key(entity: &EntityAst, index: &str) -> TokenStream {
    let keys = entity.keys.iter().filter(|key| key.index.name == index);
    let mut chain = TokenStream::new();
    let mut open = true;
    for key in keys {
        let (binding, written) = (bindings(entity, key), pair(key));
        let conditions = key.conditions.iter().map(|condition| match condition {
            ConditionAst::Present(name) if key.mentions(name) => {
                quote!(let ::std::option::Option::Some(#name) = &self.#name)
            }
            ConditionAst::Present(name) => quote!(self.#name.is_some()),
            ConditionAst::Predicate(predicate, fields) => {
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

fn pair(key: &KeyAst) -> TokenStream {
    let (partition, sort) = (key::write(&key.partition), key::write(&key.sort));
    quote!(::std::option::Option::Some((#partition, #sort)))
}

/// Generates variables for the parts of a key; the condition binds those that may be absent.
fn bindings(entity: &EntityAst, key: &KeyAst) -> TokenStream {
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

/// Generates the value of a part: a field, or a value computed from fields.
pub(super) fn value(entity: &EntityAst, name: &Ident) -> TokenStream {
    let computed = entity.identity(name).and_then(|argument| argument.computed_from.as_ref());
    computed.map_or_else(|| quote!(self.#name), |fields| quote!(Self::#name(#(&self.#fields),*)))
}
