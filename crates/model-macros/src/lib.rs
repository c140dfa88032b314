//! The macros behind the table schema: `single_table!` and `#[derive(Fields)]`.
//!
//! `single_table!` parses the schema (`grammar`, `template`) into `ast`, rejects what cannot work
//! (`check`), and generates the code of entities and access patterns and the schema as data
//! (`generate`). It compares names only; the compiler checks in the generated code that each part
//! exists and has the right type. The schema itself is `crates/model/src/schema.rs`.

mod ast;
mod check;
mod fields;
mod generate;
mod grammar;
mod template;

use proc_macro::TokenStream;

/// Defines the tables: their entities with keys and owners, and their access patterns. It exports
/// the macro `with_entities!`, so a crate calls it once.
#[proc_macro]
pub fn single_table(input: TokenStream) -> TokenStream {
    let schema = syn::parse_macro_input!(input as ast::SchemaAst);
    let mut output = generate::entity_list(&schema);
    for table in &schema.tables {
        match check::check(table) {
            Ok(()) => output.extend(generate::table(table)),
            Err(error) => {
                output.extend(error.into_compile_error());
                output.extend(generate::stubs(table));
            }
        }
    }
    output.into()
}

/// Stores the fields of a struct as attributes of an item.
///
/// `#[attribute("name")]` on a field replaces its attribute name, which is otherwise the field name
/// in camelCase. `#[fields(part)]` marks a struct that is not an entity: a nested value or a view.
#[proc_macro_derive(Fields, attributes(attribute, fields))]
pub fn derive_fields(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    fields::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Generates random values of a struct, for property tests of the model itself.
#[proc_macro_derive(Sample)]
pub fn derive_sample(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    fields::derive_sample(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
