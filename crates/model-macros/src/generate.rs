//! The code a page stands for.

mod entity;
mod key;
mod pattern;
mod shape;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use crate::grammar::Page;

/// Everything a page stands for: the table's handle with its questions, the keys of its entities, and
/// the schema as data.
pub(crate) fn page(page: &Page) -> TokenStream {
    let (handle, doc) = (&page.handle, &page.doc);
    let shape = shape::table(page);
    let entities = page.entities.iter().map(entity::generate);
    let patterns = page.patterns.iter().map(|pattern| pattern::generate(page, pattern));
    let views = pattern::views(page);
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #handle {
            table: ::roundtable_model::table::Table,
        }

        impl #handle {
            /// What the page says about this table.
            pub const SHAPE: &'static ::roundtable_model::shape::TableShape = &#shape;

            /// The questions of this page, asked of `table`.
            pub const fn on(table: ::roundtable_model::table::Table) -> Self {
                Self { table }
            }

            /// The table behind them.
            pub const fn table(&self) -> &::roundtable_model::table::Table {
                &self.table
            }

            #(#patterns)*
        }

        #(#entities)*
        #(#views)*
    }
}

/// What a refused page leaves behind, so that its refusal is the only message: the code that uses its
/// entities still finds them.
pub(crate) fn stubs(page: &Page) -> TokenStream {
    let handle = &page.handle;
    let entities = page.entities.iter().map(|entity| {
        let (name, text) = (&entity.name, entity.name.to_string());
        let constructors = entity::stub(entity);
        quote! {
            #constructors

            impl ::roundtable_model::Answer for #name {
                const ENTITY: &'static ::roundtable_model::shape::EntityShape =
                    <Self as ::roundtable_model::Entity>::SHAPE;
                const IS_VIEW: bool = false;
            }

            impl ::roundtable_model::Entity for #name {
                const SHAPE: &'static ::roundtable_model::shape::EntityShape =
                    &::roundtable_model::shape::EntityShape {
                        name: #text, doc: "", identity: &[], parts: &[], keys: &[], fields: &[],
                    };

                fn key(&self) -> ::roundtable_model::At<Self> {
                    loop {}
                }

                fn index_keys(&self) -> ::roundtable_model::IndexKeys {
                    loop {}
                }

                fn version(&self) -> ::std::option::Option<u64> {
                    loop {}
                }
            }
        }
    });
    let mut seen: Vec<&Ident> = Vec::new();
    let patterns = page.patterns.iter().filter_map(|pattern| {
        let again = seen.contains(&&pattern.name);
        seen.push(&pattern.name);
        (!again).then(|| pattern::stub(pattern))
    });
    let (patterns, views) = (patterns.collect::<Vec<_>>(), pattern::views(page));
    quote! {
        #[derive(Clone, Debug)]
        pub struct #handle {
            table: ::roundtable_model::table::Table,
        }

        impl #handle {
            /// Nothing, until the page is right.
            pub const SHAPE: &'static ::roundtable_model::shape::TableShape =
                &::roundtable_model::shape::TableShape {
                    name: "", doc: "", indexes: &[], stream: false, entities: &[], patterns: &[],
                    composites: &[], accepted: &[],
                };

            /// Stands on `table`.
            pub const fn on(table: ::roundtable_model::table::Table) -> Self {
                Self { table }
            }

            /// The table.
            pub const fn table(&self) -> &::roundtable_model::table::Table {
                &self.table
            }

            #(#patterns)*
        }

        #(#entities)*
        #(#views)*
    }
}

/// A name as the constant of a field or a pattern.
pub(crate) fn constant(name: &Ident) -> Ident {
    format_ident!("{}", name.to_string().to_uppercase(), span = name.span())
}
