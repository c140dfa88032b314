//! The signature of a resolver.

use std::collections::HashSet;

use proc_macro2::Ident;
use syn::spanned::Spanned as _;
use syn::{FnArg, ImplItemFn, Pat, PatType, ReturnType, Type};

use crate::sdl::{Argument, Field, snake_case};

/// The name of the type that all resolvers of a request share.
const CONTEXT: &str = "RequestContext";

/// The arguments that `paging` stands for.
const PAGING: [&str; 4] = ["limit", "nextToken", "first", "after"];

/// A resolver, by the shape of its function.
pub(crate) struct Resolver<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) is_async: bool,
    pub(crate) receiver: Receiver,
    pub(crate) parameters: Vec<Parameter<'a>>,
    pub(crate) returns: Option<&'a Type>,
    /// True if it returns a `Result`.
    pub(crate) is_fallible: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// One object.
    One,
    /// All objects that need the field.
    All,
    /// None: a field of a root, of which there is one.
    Root,
}

pub(crate) enum Parameter<'a> {
    Context,
    /// A shared value, and its type.
    SharedValue(&'a Type),
    /// An argument: its place in the schema, its name and type there, and its type here.
    Argument(usize, &'a Argument, &'a Type),
    /// The places of the paging arguments.
    Paging([usize; 4]),
}

impl<'a> Resolver<'a> {
    pub(crate) fn of(function: &'a ImplItemFn, field: &'a Field) -> syn::Result<Self> {
        let signature = &function.sig;
        let mut receiver = Receiver::Root;
        let (mut parameters, mut seen) = (Vec::new(), HashSet::new());
        for (index, input) in signature.inputs.iter().enumerate() {
            match input {
                FnArg::Receiver(_) => receiver = Receiver::One,
                FnArg::Typed(input) if index == 0 && is_slice(&input.ty) => {
                    receiver = Receiver::All;
                }
                FnArg::Typed(input) => {
                    let parameter = Parameter::of(input, field)?;
                    seen.extend(parameter.arguments());
                    parameters.push(parameter);
                }
            }
        }
        if let Some(missing) = field.arguments.iter().find(|it| !seen.contains(it.name.as_str())) {
            let message = format!("the schema also passes {} to {}", missing.name, field.name);
            return Err(syn::Error::new(signature.ident.span(), message));
        }
        let returns = match &signature.output {
            ReturnType::Type(_, ty) => Some(&**ty),
            ReturnType::Default => None,
        };
        Ok(Self {
            name: &signature.ident,
            is_async: signature.asyncness.is_some(),
            receiver,
            parameters,
            returns,
            is_fallible: returns.and_then(last_name).is_some_and(|name| name == "Result"),
        })
    }

    pub(crate) fn shared_values(&self) -> impl Iterator<Item = &'a Type> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::SharedValue(ty) => Some(*ty),
            _ => None,
        })
    }
}

impl<'a> Parameter<'a> {
    /// References are the context and shared values; values are arguments.
    fn of(input: &'a PatType, field: &'a Field) -> syn::Result<Self> {
        if let Type::Reference(reference) = &*input.ty {
            let is_context = last_name(&reference.elem).is_some_and(|name| name == CONTEXT);
            return Ok(if is_context { Self::Context } else { Self::SharedValue(&reference.elem) });
        }
        let Pat::Ident(name) = &*input.pat else {
            return Err(syn::Error::new(input.pat.span(), "expected a name"));
        };
        let name = name.ident.to_string();
        if name == "paging" {
            let places = PAGING.map(|name| place(field, |argument| argument.name == name));
            let [Some(limit), Some(next_token), Some(first), Some(after)] = places else {
                let message = format!("the schema has no paging arguments for {}", field.name);
                return Err(syn::Error::new(input.span(), message));
            };
            return Ok(Self::Paging([limit, next_token, first, after]));
        }
        let found = place(field, |argument| snake_case(&argument.name) == name);
        let argument = found.and_then(|place| Some((place, field.arguments.get(place)?)));
        let Some((place, argument)) = argument else {
            let message = format!("the schema has no argument {name} for {}", field.name);
            return Err(syn::Error::new(input.span(), message));
        };
        Ok(Self::Argument(place, argument, &input.ty))
    }

    /// Returns the names of the arguments that it takes.
    fn arguments(&self) -> Vec<&'a str> {
        match self {
            Self::Argument(_, argument, _) => vec![&argument.name],
            Self::Paging(_) => PAGING.to_vec(),
            Self::Context | Self::SharedValue(_) => Vec::new(),
        }
    }
}

fn is_slice(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if matches!(&*reference.elem, Type::Slice(_)))
}

fn place(field: &Field, is: impl Fn(&Argument) -> bool) -> Option<usize> {
    field.arguments.iter().position(is)
}

/// Returns the last name of a path: `Context` of `request::Context<'_>`.
fn last_name(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        _ => None,
    }
}
