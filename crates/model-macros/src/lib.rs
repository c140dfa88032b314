//! The grammar of the page that holds the table: `single_table!` and `#[derive(Fields)]`.
//!
//! `single_table!` reads the page (`grammar`, `template`), refuses what could not work
//! (`check`), and writes the code of entities, questions and the schema as data (`generate`). It
//! looks at names only; that a part exists and has the right type, the compiler sees in the code that
//! comes out. See `crates/model/src/schema.rs` for the page itself.

mod check;
mod fields;
mod generate;
mod grammar;
mod template;

use proc_macro::TokenStream;

/// Defines one table: its entities with their keys, and the questions it answers.
#[proc_macro]
pub fn single_table(page: TokenStream) -> TokenStream {
    let page = syn::parse_macro_input!(page as grammar::Page);
    match check::check(&page) {
        Ok(()) => generate::page(&page).into(),
        Err(error) => {
            let mut refusal = error.into_compile_error();
            refusal.extend(generate::stubs(&page));
            refusal.into()
        }
    }
}

/// Makes the fields of a struct attributes of an item.
///
/// `#[attribute("name")]` on a field gives it another name than its own in camelCase;
/// `#[fields(part)]` on a struct says that it is not an entity: a nested value, or a view.
#[proc_macro_derive(Fields, attributes(attribute, fields))]
pub fn derive_fields(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    fields::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes any number of a struct, for property tests of the model itself.
#[proc_macro_derive(Sample)]
pub fn derive_sample(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    fields::derive_sample(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
