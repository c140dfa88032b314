//! The macros between the schema and its resolvers.
//!
//! They read `schema.graphql` of the crate that uses them. Everything that the schema defines must have
//! its counterpart in Rust, and the other way round; a difference is a compile error at the line to fix.
//! Types are compared by the compiler: for each type of the schema there is a Rust type that stands for it
//! (`schema_types!`), and a resolver's value must implement the trait for it.

mod enums;
mod implementations;
mod input;
mod listed;
mod markers;
mod object;
mod resolvers;
mod root;
mod sdl;
mod signature;
mod union;

use proc_macro::TokenStream;

/// Defines a type for each type of the schema.
#[proc_macro]
pub fn schema_types(_: TokenStream) -> TokenStream {
    markers::schema_types().unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes the functions of an `impl` the resolvers of an object type.
///
/// A field is a function of the same name in snake case:
///
/// - a scalar or enum: `fn title(&self) -> &str`. It may take shared values, which are read for all objects at once
///   (`counter: &PostCounter`), and the context of the request. Those that `of` stores need no function;
/// - objects: `fn author(&self) -> &UserId` is the key by which `User::load` reads for all parents at once;
///   `async fn media(posts: &[Self], context: &C) -> Result<Vec<Vec<Media>>, E>` reads for all itself;
///   `async fn posts(&self, context: &C, …)` for one; `fn post(&self)` has them already.
///
/// Arguments follow by their names. `paging` stands for `limit`, `nextToken`, `first` and `after`.
#[proc_macro_attribute]
pub fn object(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let options = syn::parse_macro_input!(attributes as object::Options);
    let item = syn::parse_macro_input!(item as syn::ItemImpl);
    object::object(&options, &item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes the functions of an `impl` resolvers of some fields of a root: `#[fields(Query)]`.
#[proc_macro_attribute]
pub fn fields(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let root = syn::parse_macro_input!(attributes as syn::Ident);
    let item = syn::parse_macro_input!(item as syn::ItemImpl);
    root::fields(&root, &item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Defines a root from the types that have its fields: `root!(Query: PostQueries, UserQueries)`.
#[proc_macro]
pub fn root(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as root::Root);
    root::root(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes an enum a union or an interface: it has a variant for each type, of the same name.
#[proc_macro_attribute]
pub fn union(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = syn::parse_macro_input!(item as syn::ItemEnum);
    union::union(&item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct an input object: it has a field for each field, in snake case.
#[proc_macro_attribute]
pub fn input(_: TokenStream, item: TokenStream) -> TokenStream {
    let item = syn::parse_macro_input!(item as syn::ItemStruct);
    input::input(&item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes structs that have the fields of an input object that input: `inputs!(CreateRoomInput = NewRoom)`.
#[proc_macro]
pub fn inputs(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as input::Inputs);
    input::inputs(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes Rust enums enums of the schema: `enums!(roundtable_model::Role, roundtable_model::Tier)`.
#[proc_macro]
pub fn enums(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as enums::Enums);
    enums::enums(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
