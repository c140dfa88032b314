//! Services that are compiled once.
//!
//! The future of an `async fn` is compiled by the crate that awaits it, with all that it awaits in
//! turn. So every crate above the domain, and each of its tests, would compile every service again. A
//! boxed future is compiled in its own crate.

mod boxed;

use proc_macro::TokenStream;

/// Boxes the futures of the public `async fn`s of an `impl`.
///
/// Functions generic in a type are left alone: only their callers can compile them.
#[proc_macro_attribute]
pub fn boxed(_attributes: TokenStream, service: TokenStream) -> TokenStream {
    let service = syn::parse_macro_input!(service as syn::ItemImpl);
    boxed::boxed(service).into()
}
