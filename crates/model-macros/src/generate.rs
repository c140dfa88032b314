//! Generates the code of a table.

mod entity;
mod key;
mod pattern;
mod shape;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use crate::ast::{SchemaAst, TableAst};

/// Generates `with_entities!`, which holds the list of all entities. `with_entities!(check now)`
/// expands to `check! { now (User user) (EmailLock email_lock) … }`.
pub(crate) fn entity_list(schema: &SchemaAst) -> TokenStream {
    let entities = schema.tables.iter().flat_map(|table| &table.entities).map(|entity| {
        let (name, function) = (&entity.name, snake_case(&entity.name));
        quote!((#name #function))
    });
    quote! {
        /// Calls a macro with its arguments and all entities of the schema, each as its type and the
        /// name of its sample: `(EmailLock email_lock)`.
        #[macro_export]
        macro_rules! with_entities {
            ($with:ident $($argument:tt)*) => { $with! { $($argument)* #(#entities)* } };
        }
    }
}

/// Converts `EmailLock` to `email_lock`.
fn snake_case(name: &Ident) -> Ident {
    let mut snake = String::new();
    for char in name.to_string().chars() {
        if char.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(char.to_lowercase());
    }
    Ident::new(&snake, name.span())
}

/// Generates the table's handle with its access patterns, the keys of its entities, and the schema
/// as data.
pub(crate) fn table(table: &TableAst) -> TokenStream {
    let (handle, doc) = (&table.handle, &table.doc);
    let shape = shape::table(table);
    let entities = table.entities.iter().map(entity::generate);
    let patterns = table.patterns.iter().map(|pattern| pattern::generate(table, pattern));
    let views = pattern::views(table);
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #handle {
            table: ::roundtable_model::table::Table,
        }

        impl #handle {
            /// The schema of this table.
            pub const SHAPE: &'static ::roundtable_model::shape::TableShape = &#shape;

            /// Returns the access patterns of this schema on `table`.
            pub const fn on(table: ::roundtable_model::table::Table) -> Self {
                Self { table }
            }

            /// Returns the table that the patterns read.
            pub const fn table(&self) -> &::roundtable_model::table::Table {
                &self.table
            }

            #(#patterns)*
        }

        #(#entities)*
        #(#views)*
    }
}

/// Generates placeholders for a rejected table, so that the code that uses its entities reports no
/// further errors.
pub(crate) fn stubs(table: &TableAst) -> TokenStream {
    let handle = &table.handle;
    let entities = table.entities.iter().map(|entity| {
        let (name, text) = (&entity.name, entity.name.to_string());
        let constructors = entity::stub(entity);
        quote! {
            #constructors

            impl ::roundtable_model::FromItem for #name {
                const ENTITY: &'static ::roundtable_model::shape::EntityShape =
                    <Self as ::roundtable_model::Entity>::SHAPE;
                const IS_VIEW: bool = false;
            }

            impl ::roundtable_model::Entity for #name {
                const SHAPE: &'static ::roundtable_model::shape::EntityShape =
                    &::roundtable_model::shape::EntityShape {
                        name: #text, doc: "", identity: &[], parts: &[], owners: &[], keys: &[],
                        fields: &[], upgrades: &[],
                        rewrite: |item| ::std::result::Result::Ok(::std::clone::Clone::clone(item)),
                    };

                fn key(&self) -> ::roundtable_model::EntityKey<Self> {
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
    let patterns = table.patterns.iter().filter_map(|pattern| {
        let again = seen.contains(&&pattern.name);
        seen.push(&pattern.name);
        (!again).then(|| pattern::stub(pattern))
    });
    let (patterns, views) = (patterns.collect::<Vec<_>>(), pattern::views(table));
    quote! {
        #[derive(Clone, Debug)]
        pub struct #handle {
            table: ::roundtable_model::table::Table,
        }

        impl #handle {
            pub const SHAPE: &'static ::roundtable_model::shape::TableShape =
                &::roundtable_model::shape::TableShape {
                    name: "", doc: "", indexes: &[], stream: false, ordered: ::std::option::Option::None,
                    entities: &[], patterns: &[], composites: &[], accepted: &[],
                };

            pub const fn on(table: ::roundtable_model::table::Table) -> Self {
                Self { table }
            }

            pub const fn table(&self) -> &::roundtable_model::table::Table {
                &self.table
            }

            #(#patterns)*
        }

        #(#entities)*
        #(#views)*
    }
}

/// Returns the name of the constant of a field or a pattern.
pub(crate) fn constant(name: &Ident) -> Ident {
    format_ident!("{}", name.to_string().to_uppercase(), span = name.span())
}
