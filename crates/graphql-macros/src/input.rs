//! `#[input]`: a struct that is read from an input object.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemStruct;

use crate::sdl::{Sdl, TypeKind, snake_case};

pub(crate) fn input(item: &ItemStruct) -> syn::Result<TokenStream> {
    let name = &item.ident;
    let kind = Sdl::get()?.find(&name.to_string()).map(|definition| &definition.kind);
    let Some(TypeKind::Input(fields)) = kind else {
        let message = format!("schema.graphql has no input {name}");
        return Err(syn::Error::new(name.span(), message));
    };
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
        let (ident, ty, marker, text) = (&found.ident, &found.ty, field.ty.marker(), &field.name);
        reads.push(
            quote!(#ident: ::roundtable_execution::read_field::<#marker, #ty>(object, #text)?),
        );
    }
    Ok(quote! {
        #item

        impl ::roundtable_execution::Input<crate::schema_types::#name> for #name {
            fn read(
                value: &::roundtable_execution::JsonValue,
            ) -> ::core::result::Result<Self, ::roundtable_execution::InputError> {
                let object = ::roundtable_execution::input_object(value)?;
                ::core::result::Result::Ok(Self { #(#reads),* })
            }
        }
    })
}
