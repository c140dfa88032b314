//! The code that connects the functions of an `impl` to the fields of a type.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, ImplItem, ImplItemFn, ItemImpl, Type};

use crate::sdl::{self, Field, Sdl, snake_case};
use crate::signature::{Parameter, Receiver, Resolver};

/// The type that all resolvers of a request share.
pub(crate) fn context() -> TokenStream {
    quote!(crate::request::RequestContext)
}

/// The resolvers of a type, or of a part of its fields.
pub(crate) struct Resolvers<'a> {
    name: &'a str,
    fields: Vec<FieldResolver<'a>>,
    /// Leaves without a function, which the entity stores under their names.
    stored: Vec<(u16, &'a Field)>,
    markers: Markers<'a>,
}

/// The resolvers that an `impl` must have.
#[derive(Clone, Copy)]
pub(crate) enum Completeness<'a> {
    /// One for each field.
    All,
    /// One for each field but those that are fields of this entity, too.
    AllButStored(&'a Expr),
    /// Any.
    Some,
}

struct FieldResolver<'a> {
    index: u16,
    field: &'a Field,
    resolver: Resolver<'a>,
    is_leaf: bool,
}

/// The Rust spelling of types of the schema.
#[derive(Clone, Copy)]
pub(crate) enum Markers<'a> {
    ByName,
    /// In a type that is generic in the nodes of its list, named `base` in the schema.
    Generic {
        base: &'a str,
        parameter: &'a Ident,
    },
}

impl Markers<'_> {
    fn of(self, ty: &sdl::Type) -> TokenStream {
        match (self, ty) {
            (Self::Generic { base, parameter }, sdl::Type::Named(name)) if name == base => {
                quote!(<#parameter as ::roundtable_execution::Listed>::Item)
            }
            (Self::Generic { base, parameter }, sdl::Type::Named(name))
                if name.strip_suffix("Edge") == Some(base) =>
            {
                quote!(<#parameter as ::roundtable_execution::Listed>::Edge)
            }
            (_, sdl::Type::Named(_)) => ty.marker(),
            (_, sdl::Type::Nullable(inner)) => {
                let inner = self.of(inner);
                quote!(::roundtable_execution::Nullable<#inner>)
            }
            (_, sdl::Type::List(inner)) => {
                let inner = self.of(inner);
                quote!(::roundtable_execution::List<#inner>)
            }
        }
    }
}

impl<'a> Resolvers<'a> {
    /// Pairs the fields of a type with functions. A function that is left over is an error, and so is a
    /// field that needs one.
    pub(crate) fn of(
        sdl: &'a Sdl,
        name: &'a str,
        item: &'a ItemImpl,
        completeness: Completeness<'_>,
        markers: Markers<'a>,
    ) -> syn::Result<Self> {
        let types = sdl.object(name, item.self_ty.span())?;
        let functions: Vec<&ImplItemFn> = item.items.iter().filter_map(as_function).collect();
        let mut errors = Vec::new();
        for function in &functions {
            let rust = function.sig.ident.unraw().to_string();
            if !types.iter().any(|field| snake_case(&field.name) == rust) {
                let message = format!("schema.graphql has no such field on {name}");
                errors.push(syn::Error::new(function.sig.ident.span(), message));
            }
        }
        let (mut fields, mut stored) = (Vec::new(), Vec::new());
        for (index, field) in (0..).zip(types) {
            let rust = snake_case(&field.name);
            let is_leaf = sdl.is_leaf(&field.ty);
            match functions.iter().find(|function| function.sig.ident.unraw() == rust) {
                Some(function) => match Resolver::of(function, field) {
                    Ok(resolver) => {
                        fields.push(FieldResolver { index, field, resolver, is_leaf });
                    }
                    Err(error) => errors.push(error),
                },
                None if matches!(completeness, Completeness::Some) => {}
                None if is_leaf && matches!(completeness, Completeness::AllButStored(_)) => {
                    stored.push((index, field));
                }
                None => {
                    let field = &field.name;
                    let message =
                        format!("{name}.{field} of schema.graphql has no resolver: fn {rust}");
                    errors.push(syn::Error::new(item.self_ty.span(), message));
                }
            }
        }
        let errors = errors.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        errors.map_or(Ok(Self { name, fields, stored, markers }), Err)
    }

    /// Returns the indices of all fields.
    pub(crate) fn indices(&self) -> impl Iterator<Item = u16> {
        self.fields.iter().map(|field| field.index)
    }

    /// Scalars are read like objects if they have arguments, or belong to a root.
    fn is_written(&self, field: &FieldResolver<'_>) -> bool {
        let is_root = ["Query", "Mutation", "Subscription"].contains(&self.name);
        field.is_leaf && field.field.arguments.is_empty() && !is_root
    }

    fn leaves(&self) -> impl Iterator<Item = &FieldResolver<'a>> {
        self.fields.iter().filter(|field| self.is_written(field))
    }

    fn edges(&self) -> impl Iterator<Item = &FieldResolver<'a>> {
        self.fields.iter().filter(|field| !self.is_written(field))
    }

    /// Returns the types of all shared values, each once.
    fn shared_values(&self) -> Vec<&'a Type> {
        let mut types: Vec<&Type> = Vec::new();
        for ty in self.leaves().flat_map(|leaf| leaf.resolver.shared_values()) {
            if !types.iter().any(|known| is_same(known, ty)) {
                types.push(ty);
            }
        }
        types
    }

    pub(crate) fn shared_values_type(&self) -> TokenStream {
        let shared_values = self.shared_values();
        quote!((#(::roundtable_execution::SharedValues<#shared_values>,)*))
    }

    /// Returns the body that reads all shared values that `fields` need.
    pub(crate) fn read_shared_values(&self) -> TokenStream {
        let shared_values = self.shared_values();
        if shared_values.is_empty() {
            return quote!(::roundtable_execution::ready(()));
        }
        let reads = shared_values.iter().map(|shared_value| {
            let needs = |leaf: &&FieldResolver<'_>| {
                leaf.resolver.shared_values().any(|ty| is_same(ty, shared_value))
            };
            let users = self.leaves().filter(needs).map(|leaf| leaf.index);
            quote! {
                ::roundtable_execution::read_shared_value::<Self, #shared_value>(
                    objects,
                    context,
                    fields.iter().copied().find(|field| matches!(field, #(#users)|*)),
                )
            }
        });
        quote!(::std::boxed::Box::pin(async move { ::roundtable_execution::join!(#(#reads,)*) }))
    }

    /// Returns the body that writes a leaf.
    pub(crate) fn write_leaf(&self, completeness: Completeness<'_>) -> TokenStream {
        let shared_values = self.shared_values();
        let arms = self.leaves().map(|leaf| leaf_arm(leaf, &shared_values, self.markers));
        let stored = self.stored.iter().map(|(index, field)| {
            let Completeness::AllButStored(entity) = completeness else {
                return TokenStream::new();
            };
            let (marker, name) = (self.markers.of(&field.ty), snake_case(&field.name));
            let name = Ident::new(&name, entity.span());
            let span = entity.span();
            quote_spanned! {span=>
                #index => ::roundtable_execution::write_leaf::<#marker, _>(&#entity.#name, out),
            }
        });
        let unknown =
            quote!(_ => ::core::result::Result::Err(::roundtable_execution::unknown_leaf()));
        quote! {
            match field { #(#arms)* #(#stored)* #unknown }
        }
    }

    /// Returns the arms that read edges.
    pub(crate) fn edge_arms(&self) -> impl Iterator<Item = TokenStream> {
        self.edges().map(|edge| edge_arm(edge, self.markers))
    }

    /// Returns the arms that subscribe to streams.
    pub(crate) fn stream_arms(&self) -> impl Iterator<Item = TokenStream> {
        self.fields.iter().map(|field| {
            let FieldResolver { index, field, resolver, .. } = field;
            let (name, marker) = (resolver.name, self.markers.of(&field.ty));
            let arguments = call_arguments(resolver, self.markers);
            let span = returned_span(resolver);
            let columns =
                quote_spanned!(span=> ::roundtable_execution::event_columns::<#marker, _, _, _>);
            quote! {
                #index => ::core::option::Option::Some(::std::boxed::Box::pin(async move {
                    let events = Self::#name(#(#arguments),*).await?;
                    ::core::result::Result::Ok(#columns(events))
                })),
            }
        })
    }
}

const fn as_function(item: &ImplItem) -> Option<&ImplItemFn> {
    match item {
        ImplItem::Fn(function) => Some(function),
        _ => None,
    }
}

fn is_same(one: &Type, other: &Type) -> bool {
    quote!(#one).to_string() == quote!(#other).to_string()
}

/// The place of an error about the type of a field.
fn returned_span(resolver: &Resolver<'_>) -> Span {
    resolver.returns.map_or_else(|| resolver.name.span(), syn::spanned::Spanned::span)
}

fn leaf_arm(
    leaf: &FieldResolver<'_>,
    shared_values: &[&Type],
    markers: Markers<'_>,
) -> TokenStream {
    let FieldResolver { index, field, resolver, .. } = leaf;
    let (name, marker) = (resolver.name, markers.of(&field.ty));
    let arguments = resolver.parameters.iter().map(|parameter| {
        let Parameter::SharedValue(ty) = parameter else { return quote!(context) };
        let place = shared_values
            .iter()
            .position(|shared_value| is_same(shared_value, ty))
            .unwrap_or_default();
        let place = Literal::usize_unsuffixed(place);
        quote!(::roundtable_execution::shared_value(&shared_values.#place, row)?)
    });
    let fallible = resolver.is_fallible.then(|| quote!(?));
    let span = returned_span(resolver);
    let write = quote_spanned!(span=> ::roundtable_execution::write_leaf::<#marker, _>);
    let receiver = (resolver.receiver == Receiver::One).then(|| quote!(self,));
    quote!(#index => #write(&Self::#name(#receiver #(#arguments),*)#fallible, out),)
}

fn call_arguments(resolver: &Resolver<'_>, markers: Markers<'_>) -> Vec<TokenStream> {
    let argument = |parameter: &Parameter<'_>| match parameter {
        Parameter::Argument(place, argument, ty) => {
            let (marker, name) = (markers.of(&argument.ty), &argument.name);
            quote_spanned!(ty.span()=> arguments.read::<#marker, _>(#place, #name)?)
        }
        Parameter::Paging([limit, next_token, first, after]) => {
            let number = quote!(::roundtable_execution::Nullable<crate::schema_types::Int>);
            let text = quote!(::roundtable_execution::Nullable<crate::schema_types::String>);
            quote! {
                crate::connection::PageArguments::new(
                    arguments.read::<#number, _>(#limit, "limit")?,
                    arguments.read::<#text, _>(#next_token, "nextToken")?,
                    arguments.read::<#number, _>(#first, "first")?,
                    arguments.read::<#text, _>(#after, "after")?,
                )
            }
        }
        Parameter::Context | Parameter::SharedValue(_) => quote!(context),
    };
    resolver.parameters.iter().map(argument).collect()
}

fn edge_arm(edge: &FieldResolver<'_>, markers: Markers<'_>) -> TokenStream {
    let FieldResolver { index, field, resolver, is_leaf } = edge;
    let (name, marker) = (resolver.name, markers.of(&field.ty));
    if !is_leaf && matches!(resolver.returns, Some(Type::Reference(_))) {
        return loaded_arm(edge, &marker);
    }
    let arguments = call_arguments(resolver, markers);
    let wait = resolver.is_async.then(|| quote!(.await));
    let fallible = resolver.is_fallible.then(|| quote!(?));
    let receiver = match resolver.receiver {
        Receiver::All => quote!(objects,),
        Receiver::One => quote!(object,),
        Receiver::Root => TokenStream::new(),
    };
    let call = quote!(Self::#name(#receiver #(#arguments),*)#wait #fallible);
    let call = quote!(::core::result::Result::Ok::<_, ::roundtable_execution::FieldError>(#call));
    let span = returned_span(resolver);
    if resolver.receiver == Receiver::All {
        let of_batch = of_batch(span, &marker);
        return quote! {
            #index => ::std::boxed::Box::pin(async move {
                let values = async { #call };
                #of_batch(objects.len(), values.await)
            }),
        };
    }
    let of = Ident::new(if *is_leaf { "of_leaves" } else { "of" }, span);
    let of = quote_spanned!(span=> ::roundtable_execution::Column::#of::<#marker, _>);
    if !resolver.is_async {
        // A future for each object would be an allocation for each.
        return quote! {
            #index => {
                let values = objects.iter().map(|object| {
                    let _ = object;
                    #call
                });
                ::roundtable_execution::ready(#of(values))
            }
        };
    }
    quote! {
        #index => ::std::boxed::Box::pin(async move {
            let values = objects.iter().map(|object| async move {
                let _ = object;
                #call
            });
            #of(::roundtable_execution::join_all(values).await)
        }),
    }
}

/// An edge whose function returns the key of each object.
fn loaded_arm(edge: &FieldResolver<'_>, marker: &TokenStream) -> TokenStream {
    let FieldResolver { index, field, resolver, .. } = edge;
    let (name, span) = (resolver.name, returned_span(resolver));
    let object = Ident::new(field.ty.name(), span);
    let load = quote_spanned!(span=> #object::load(context, &keys));
    let of_batch = of_batch(span, marker);
    quote! {
        #index => ::std::boxed::Box::pin(async move {
            let keys: ::std::vec::Vec<_> =
                objects.iter().map(|object| Self::#name(object).clone()).collect();
            let values = #load.await.map_err(::core::convert::Into::into);
            #of_batch(objects.len(), values)
        }),
    }
}

fn of_batch(span: Span, marker: &TokenStream) -> TokenStream {
    quote_spanned!(span=> ::roundtable_execution::Column::of_batch::<#marker, _>)
}
