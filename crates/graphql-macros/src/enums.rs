//! `enums!`: Rust enums that are enums of the schema, too.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Path;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;

use crate::sdl::{Sdl, TypeKind};

/// The paths of enums.
pub(crate) struct Enums(Punctuated<Path, syn::Token![,]>);

impl Parse for Enums {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Punctuated::parse_terminated(input).map(Self)
    }
}

pub(crate) fn enums(Enums(paths): &Enums) -> syn::Result<TokenStream> {
    let sdl = Sdl::get()?;
    paths.iter().map(|path| one(sdl, path)).collect()
}

fn one(sdl: &Sdl, path: &Path) -> syn::Result<TokenStream> {
    let name = path.segments.last().map(|segment| &segment.ident);
    let name = name.ok_or_else(|| syn::Error::new_spanned(path, "expected a name"))?;
    let Some(TypeKind::Enum(values)) = sdl.find(&name.to_string()).map(|it| &it.kind) else {
        let message = format!("schema.graphql has no enum {name}");
        return Err(syn::Error::new(name.span(), message));
    };
    let variants: Vec<Ident> = values.iter().map(|value| variant(value, name)).collect();
    let written = values.iter().map(|value| format!("\"{value}\""));
    let expected = format!("expected one of {}", values.join(", "));
    Ok(quote! {
        impl ::roundtable_execution::Leaf<crate::schema_types::#name> for #path {
            fn write(&self, out: &mut ::roundtable_execution::Writer) {
                // Neither a value nor a variant can be forgotten here.
                out.raw(match self { #(#path::#variants => #written),* }.as_bytes());
            }
        }

        impl ::roundtable_execution::Input<crate::schema_types::#name> for #path {
            fn read(
                value: &::roundtable_execution::JsonValue,
            ) -> ::core::result::Result<Self, ::roundtable_execution::InputError> {
                match value.as_str() {
                    #(::core::option::Option::Some(#values) => ::core::result::Result::Ok(#path::#variants),)*
                    _ => ::core::result::Result::Err(::roundtable_execution::InputError::new(#expected)),
                }
            }
        }
    })
}

/// Returns the variant of a value: `GoalUpdate` of `goal_update`, `FanIn` of `FAN_IN`.
fn variant(value: &str, name: &Ident) -> Ident {
    let is_shouted = value.chars().all(|letter| !letter.is_ascii_lowercase());
    let pascal: String = value
        .split('_')
        .map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            let rest = if is_shouted { rest.to_lowercase() } else { rest.to_owned() };
            first.to_uppercase() + &rest
        })
        .collect();
    let mut ident = format_ident!("{pascal}");
    ident.set_span(name.span());
    ident
}
