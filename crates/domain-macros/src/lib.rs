//! Services that are compiled once.
//!
//! The future of an `async fn` is compiled by whoever awaits it, together with all that it awaits in turn. So
//! every crate above the domain, and each of its tests, would compile every service they call once more.
//! Behind a box a future is compiled where it is written.

mod boxed;

use proc_macro::TokenStream;

/// Boxes the futures of the public `async fn`s of an `impl`.
///
/// Those that are generic in a type stay as they are: such a one can only be compiled by its caller.
#[proc_macro_attribute]
pub fn boxed(_nothing: TokenStream, service: TokenStream) -> TokenStream {
    let service = syn::parse_macro_input!(service as syn::ItemImpl);
    boxed::boxed(service).into()
}
