//! `#[object]`: an implementation of `Object` from an `impl` of resolvers.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Expr, GenericParam, ItemImpl, Type};

use crate::listed::listed;
use crate::resolvers::{Completeness, Markers, Resolvers, context};
use crate::sdl::Sdl;

/// The arguments of the attribute.
pub(crate) enum Options {
    /// The type has its name in the schema.
    SameName,
    /// `of = self.0`: the same, and leaves without a function are fields of this value.
    Of(Box<Expr>),
    /// `each = Connection`: all types of the schema whose names end so.
    Each(Ident),
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Self::SameName);
        }
        let word: Ident = input.parse()?;
        input.parse::<syn::Token![=]>()?;
        match word.to_string().as_str() {
            "of" => Ok(Self::Of(input.parse()?)),
            "each" => Ok(Self::Each(input.parse()?)),
            _ => Err(syn::Error::new(word.span(), "expected `of = self.…` or `each = Suffix`")),
        }
    }
}

pub(crate) fn object(options: &Options, item: &ItemImpl) -> syn::Result<TokenStream> {
    match options {
        Options::SameName => named(item, Completeness::All),
        Options::Of(entity) => named(item, Completeness::AllButStored(entity)),
        Options::Each(suffix) => generic(suffix, item),
    }
}

fn named(item: &ItemImpl, completeness: Completeness<'_>) -> syn::Result<TokenStream> {
    let sdl = Sdl::get()?;
    let name = rust_name(&item.self_ty)?;
    let text = name.to_string();
    let resolvers = Resolvers::of(sdl, &text, item, completeness, Markers::ByName)?;
    let implementation = implementation(item, &resolvers, completeness);
    let (self_ty, context, listed) = (&item.self_ty, context(), listed(sdl, name));
    Ok(quote! {
        #item
        #implementation
        #listed

        impl ::roundtable_execution::Output<crate::schema_types::#name, #context> for #self_ty {
            fn add_to(
                self,
                column: &mut ::roundtable_execution::Column<#context>,
            ) -> ::roundtable_execution::Added {
                column.add_object(#text, self)
            }
        }
    })
}

/// A type that is generic in what it lists: `Connection<N>` for `UserConnection`, `PostConnection`, and
/// all others.
fn generic(suffix: &Ident, item: &ItemImpl) -> syn::Result<TokenStream> {
    let sdl = Sdl::get()?;
    let ending = suffix.to_string();
    let mut names = sdl.types.iter().map(|ty| &ty.name).filter(|name| name.ends_with(&ending));
    let name = names.next().ok_or_else(|| {
        syn::Error::new(suffix.span(), format!("schema.graphql has no type that ends in {ending}"))
    })?;
    let base = name.strip_suffix(&ending).unwrap_or(name);
    let Some(GenericParam::Type(parameter)) = item.generics.params.first() else {
        return Err(syn::Error::new(item.self_ty.span(), "expected a type parameter"));
    };
    let parameter = &parameter.ident;
    let markers = Markers::Generic { base, parameter };
    let resolvers = Resolvers::of(sdl, name, item, Completeness::All, markers)?;
    if let Some(other) = names.find(|other| !sdl.has_shape_of(other, name, &ending)) {
        let message = format!("{other} of schema.graphql is not like {name}");
        return Err(syn::Error::new(item.self_ty.span(), message));
    }
    let implementation = implementation(item, &resolvers, Completeness::All);
    let (self_ty, context) = (&item.self_ty, context());
    let (parameters, _, condition) = item.generics.split_for_impl();
    let constant = Ident::new(&ending.to_uppercase(), suffix.span());
    Ok(quote! {
        #item
        #implementation

        impl #parameters ::roundtable_execution::Output<
            <#parameter as ::roundtable_execution::Listed>::#suffix,
            #context,
        > for #self_ty #condition {
            fn add_to(
                self,
                column: &mut ::roundtable_execution::Column<#context>,
            ) -> ::roundtable_execution::Added {
                column.add_object(<#parameter as ::roundtable_execution::Listed>::#constant, self)
            }
        }
    })
}

fn implementation(
    item: &ItemImpl,
    resolvers: &Resolvers<'_>,
    completeness: Completeness<'_>,
) -> TokenStream {
    let (self_ty, context) = (&item.self_ty, context());
    let (parameters, _, condition) = item.generics.split_for_impl();
    let (facts_type, read_facts) = (resolvers.facts_type(), resolvers.read_facts());
    let (edge_arms, write_leaf) = (resolvers.edge_arms(), resolvers.write_leaf(completeness));
    quote! {
        impl #parameters ::roundtable_execution::Object for #self_ty #condition {
            type Context = #context;
            type Facts = #facts_type;

            fn read_facts<'a>(
                objects: &'a [Self],
                context: &'a #context,
                fields: &'a [u16],
            ) -> ::roundtable_execution::BoxFuture<'a, Self::Facts> {
                #read_facts
            }

            fn read_edge<'a>(
                objects: &'a [Self],
                context: &'a #context,
                field: u16,
                arguments: &'a ::roundtable_execution::Arguments,
            ) -> ::roundtable_execution::BoxFuture<'a, ::roundtable_execution::Column<#context>> {
                let _ = (context, arguments);
                match field {
                    #(#edge_arms)*
                    _ => ::roundtable_execution::unknown_edge(objects.len()),
                }
            }

            fn write_leaf(
                &self,
                row: usize,
                facts: &Self::Facts,
                context: &#context,
                field: u16,
                out: &mut ::roundtable_execution::Writer,
            ) -> ::core::result::Result<(), ::roundtable_execution::FieldError> {
                #write_leaf
            }
        }
    }
}

pub(crate) fn rust_name(ty: &Type) -> syn::Result<&Ident> {
    let name = match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    };
    name.ok_or_else(|| syn::Error::new(ty.span(), "expected the name of a type"))
}
