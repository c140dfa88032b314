//! `#[union]`: an enum whose variants are the types of a union or interface.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{Fields, ItemEnum};

use crate::implementations::output;
use crate::listed::listed;
use crate::resolvers::context;
use crate::sdl::Sdl;

pub(crate) fn union(item: &ItemEnum) -> syn::Result<TokenStream> {
    let sdl = Sdl::get()?;
    let (name, context) = (&item.ident, context());
    let expected: BTreeSet<String> = sdl.members(&name.to_string()).into_iter().collect();
    let found: BTreeSet<String> = item.variants.iter().map(|it| it.ident.to_string()).collect();
    if let Some(missing) = expected.difference(&found).next() {
        let message = format!("{missing} is a {name} in schema.graphql, and missing here");
        return Err(syn::Error::new(name.span(), message));
    }
    let mut variants = Vec::new();
    for variant in &item.variants {
        if !expected.contains(&variant.ident.to_string()) {
            let message = format!("{} is no {name} in schema.graphql", variant.ident);
            return Err(syn::Error::new(variant.ident.span(), message));
        }
        match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let ty = fields.unnamed.first().map(|field| &field.ty);
                variants.push((&variant.ident, ty));
            }
            _ => return Err(syn::Error::new(variant.span(), "expected one value")),
        }
    }
    let listed = listed(sdl, name);
    let adds = variants.iter().map(|(variant, _)| {
        quote! {
            Self::#variant(value) => ::roundtable_execution::Output::<
                crate::schema_types::#variant,
                #context,
            >::add_to(value, column),
        }
    });
    let conversions = variants.iter().map(|(variant, ty)| {
        quote! {
            impl ::core::convert::From<#ty> for #name {
                fn from(value: #ty) -> Self {
                    Self::#variant(value)
                }
            }
        }
    });
    let marker = quote!(crate::schema_types::#name);
    let output = output(&marker, name, &item.generics, &quote!(match self { #(#adds)* }));
    Ok(quote! {
        #item
        #(#conversions)*
        #listed
        #output
    })
}
