//! `#[object]`: an implementation of `Object` from an `impl` of resolvers.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Expr, GenericParam, ItemImpl, Type};

use crate::implementations::{ObjectBodies, output};
use crate::listed::listed;
use crate::resolvers::{Completeness, Markers, Resolvers};
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
    let marker = quote!(crate::schema_types::#name);
    let add_to = quote!(column.add_object(#text, self));
    let output = output(&marker, &item.self_ty, &item.generics, &add_to);
    let listed = listed(sdl, name);
    Ok(quote!(#item #implementation #listed #output))
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
    let constant = Ident::new(&ending.to_uppercase(), suffix.span());
    let listed = quote!(<#parameter as ::roundtable_execution::Listed>);
    let (marker, add_to) =
        (quote!(#listed::#suffix), quote!(column.add_object(#listed::#constant, self)));
    let output = output(&marker, &item.self_ty, &item.generics, &add_to);
    Ok(quote!(#item #implementation #output))
}

fn implementation(
    item: &ItemImpl,
    resolvers: &Resolvers<'_>,
    completeness: Completeness<'_>,
) -> TokenStream {
    let edge_arms = resolvers.edge_arms();
    let bodies = ObjectBodies {
        shared_values_type: resolvers.shared_values_type(),
        read_shared_values: resolvers.read_shared_values(),
        read_edge: quote! {
            match field {
                #(#edge_arms)*
                _ => ::roundtable_execution::unknown_edge(objects.len()),
            }
        },
        write_leaf: resolvers.write_leaf(completeness),
    };
    bodies.implementation(&item.self_ty, &item.generics)
}

pub(crate) fn rust_name(ty: &Type) -> syn::Result<&Ident> {
    let name = match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    };
    name.ok_or_else(|| syn::Error::new(ty.span(), "expected the name of a type"))
}
