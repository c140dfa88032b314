//! `#[input]` and `inputs!`: structs that are read from input objects.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{ItemStruct, Path, Token};

use crate::sdl::{Argument, Sdl, TypeKind, snake_case};

pub(crate) fn input(item: &ItemStruct) -> syn::Result<TokenStream> {
    let name = &item.ident;
    let fields = fields(name)?;
    for field in item.fields.iter().filter_map(|field| field.ident.as_ref()) {
        if !fields.iter().any(|defined| *field == snake_case(&defined.name)) {
            let message = format!("schema.graphql has no such field of {name}");
            return Err(syn::Error::new(field.span(), message));
        }
    }
    let mut reads = Vec::new();
    for field in fields {
        let rust = snake_case(&field.name);
        let found = item.fields.iter().find(|it| it.ident.as_ref().is_some_and(|it| *it == rust));
        let Some(found) = found else {
            let message = format!("{name}.{} of schema.graphql is missing here", field.name);
            return Err(syn::Error::new(name.span(), message));
        };
        reads.push(read(field, found.ty.span()));
    }
    let implementation = implementation(name, name, &reads);
    Ok(quote!(#item #implementation))
}

/// `CreateRoomInput = roundtable_domain::NewRoom`: an input, and the struct that has its fields.
pub(crate) struct Inputs(Punctuated<(Ident, Path), Token![,]>);

impl Parse for Inputs {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let pair = |input: ParseStream<'_>| {
            let name = input.parse()?;
            input.parse::<Token![=]>()?;
            Ok((name, input.parse()?))
        };
        input.parse_terminated(pair, Token![,]).map(Self)
    }
}

/// The compiler checks that the structs have all fields of their inputs, and no others.
pub(crate) fn inputs(Inputs(inputs): &Inputs) -> syn::Result<TokenStream> {
    let one = |(name, path): &(Ident, Path)| {
        let reads: Vec<_> = fields(name)?.iter().map(|field| read(field, path.span())).collect();
        Ok(implementation(name, path, &reads))
    };
    inputs.iter().map(one).collect()
}

fn fields(name: &Ident) -> syn::Result<&'static [Argument]> {
    match Sdl::get()?.find(&name.to_string()).map(|definition| &definition.kind) {
        Some(TypeKind::Input(fields)) => Ok(fields),
        _ => Err(syn::Error::new(name.span(), format!("schema.graphql has no input {name}"))),
    }
}

/// Returns the initialization of a field. An error about its type is shown at the span.
fn read(field: &Argument, span: Span) -> TokenStream {
    let (rust, text, marker) = (snake_case(&field.name), &field.name, field.ty.marker());
    let ident = Ident::new(&rust, span);
    quote_spanned!(span=> #ident: ::roundtable_execution::read_field::<#marker, _>(object, #text)?)
}

fn implementation(name: &Ident, self_ty: impl ToTokens, reads: &[TokenStream]) -> TokenStream {
    let value = quote_spanned!(self_ty.span()=> Self { #(#reads),* });
    quote! {
        impl ::roundtable_execution::Input<crate::schema_types::#name> for #self_ty {
            fn read(
                value: &::roundtable_execution::JsonValue,
            ) -> ::core::result::Result<Self, ::roundtable_execution::InputError> {
                let object = ::roundtable_execution::input_object(value)?;
                ::core::result::Result::Ok(#value)
            }
        }
    }
}
