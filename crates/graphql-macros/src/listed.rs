//! The types of the schema that list nodes of one type.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::sdl::Sdl;

/// Returns the implementation of `Listed` for a type that has a connection in the schema.
pub(crate) fn listed(sdl: &Sdl, name: &Ident) -> TokenStream {
    let (edge, connection) = (format_ident!("{name}Edge"), format_ident!("{name}Connection"));
    let (edge_text, connection_text) = (edge.to_string(), connection.to_string());
    if sdl.find(&connection_text).is_none() {
        return TokenStream::new();
    }
    let context = crate::resolvers::context();
    quote! {
        impl ::roundtable_execution::Listed for #name {
            type Context = #context;
            type Item = crate::schema_types::#name;
            type Edge = crate::schema_types::#edge;
            type Connection = crate::schema_types::#connection;

            const EDGE: &'static str = #edge_text;
            const CONNECTION: &'static str = #connection_text;
        }
    }
}
