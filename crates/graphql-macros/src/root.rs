//! Roots, whose fields are spread over several files: one for each noun.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Generics, ItemImpl, Token, Type};

use crate::implementations::{ObjectBodies, read_parameters};
use crate::resolvers::{Completeness, Markers, Resolvers, context};
use crate::sdl::Sdl;

/// `#[fields(Query)]`: some fields of a root.
pub(crate) fn fields(root: &Ident, item: &ItemImpl) -> syn::Result<TokenStream> {
    let name = root.to_string();
    let resolvers = Resolvers::of(Sdl::get()?, &name, item, Completeness::Some, Markers::ByName)?;
    let (self_ty, context, indices) = (&item.self_ty, context(), resolvers.indices());
    let read = read_parameters();
    let body = if name == "Subscription" {
        let arms = resolvers.stream_arms();
        quote! {
            fn subscribe<'a>(
                #read
            ) -> ::core::option::Option<::roundtable_execution::Subscribing<'a, #context>> {
                match field {
                    #(#arms)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    } else {
        let arms = resolvers.edge_arms();
        quote! {
            fn read_edge<'a>(
                #read
            ) -> ::core::option::Option<
                ::roundtable_execution::BoxFuture<'a, ::roundtable_execution::Column<#context>>,
            > {
                // Of a root there is one.
                let objects = &[()];
                ::core::option::Option::Some(match field {
                    #(#arms)*
                    _ => return ::core::option::Option::None,
                })
            }
        }
    };
    Ok(quote! {
        #item

        impl ::roundtable_execution::RootFields for #self_ty {
            type Context = #context;

            const FIELDS: &'static [u16] = &[#(#indices),*];

            #body
        }
    })
}

/// `Query: Posts, Users`: a root, and the types that have its fields.
pub(crate) struct Root {
    name: Ident,
    parts: Punctuated<Type, Token![,]>,
}

impl Parse for Root {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(Self { name, parts: Punctuated::parse_terminated(input)? })
    }
}

/// `root!`: a root of all its parts. A field that no part has, or two have, is an error.
pub(crate) fn root(Root { name, parts }: &Root) -> syn::Result<TokenStream> {
    let text = name.to_string();
    let fields = Sdl::get()?.object(&text, name.span())?;
    let checks = (0_u16..).zip(fields).map(|(index, field)| {
        let message = format!("{text}.{} of schema.graphql needs exactly one resolver", field.name);
        quote!(assert!(::roundtable_execution::occurrences(PARTS, #index) == 1, #message);)
    });
    let parts: Vec<&Type> = parts.iter().collect();
    let check = quote! {
        const _: () = {
            const PARTS: &[&[u16]] =
                &[#(<#parts as ::roundtable_execution::RootFields>::FIELDS),*];
            #(#checks)*
        };
    };
    if text == "Subscription" {
        let (context, read) = (context(), read_parameters());
        return Ok(quote! {
            #check

            /// Subscribes to a field of the root.
            pub(crate) fn subscribe<'a>(
                #read
            ) -> ::core::option::Option<::roundtable_execution::Subscribing<'a, #context>> {
                #(
                    if let ::core::option::Option::Some(events) =
                        <#parts as ::roundtable_execution::RootFields>::subscribe(context, field, arguments)
                    {
                        return ::core::option::Option::Some(events);
                    }
                )*
                ::core::option::Option::None
            }
        });
    }
    let bodies = ObjectBodies {
        shared_values_type: quote!(()),
        read_shared_values: quote!(::roundtable_execution::ready(())),
        read_edge: quote! {
            #(
                if let ::core::option::Option::Some(read) =
                    <#parts as ::roundtable_execution::RootFields>::read_edge(context, field, arguments)
                {
                    return read;
                }
            )*
            ::roundtable_execution::unknown_edge(objects.len())
        },
        write_leaf: quote! {
            ::core::result::Result::Err(::roundtable_execution::unknown_leaf())
        },
    };
    let implementation = bodies.implementation(name, &Generics::default());
    Ok(quote! {
        #check

        #[derive(Debug)]
        pub(crate) struct #name;

        #implementation
    })
}
