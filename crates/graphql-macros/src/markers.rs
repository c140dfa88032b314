//! A Rust type for each type of the schema.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::sdl::Sdl;

pub(crate) fn schema_types() -> syn::Result<TokenStream> {
    let names = Sdl::get()?.types.iter().map(|ty| Ident::new(&ty.name, Span::call_site()));
    Ok(quote! {
        // Compiles the crate again when the schema changes.
        const _: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/schema.graphql"));
        #(
            #[derive(Debug)]
            pub(crate) enum #names {}
        )*
    })
}
