//! `#[derive(Fields)]`: a struct's fields as attributes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Result, Type};

use crate::generate::constant;
use crate::grammar::doc_of;

/// A field and the attribute it is.
struct Kept<'a> {
    field: &'a Ident,
    attribute: String,
    kind: &'a Type,
    doc: String,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => return Err(Error::new_spanned(name, "the fields need names")),
        },
        _ => return Err(Error::new_spanned(name, "only a struct has fields")),
    };
    let kept = fields.iter().map(keep).collect::<Result<Vec<_>>>()?;
    let shapes = kept.iter().map(|Kept { field, attribute, kind, doc }| {
        let field = field.to_string();
        quote!(::roundtable_model::shape::FieldShape {
            field: #field,
            attribute: #attribute,
            kind: <#kind as ::roundtable_model::Attribute>::KIND,
            optional: <#kind as ::roundtable_model::Attribute>::OPTIONAL,
            doc: #doc,
        })
    });
    let writes = kept.iter().map(|Kept { field, attribute, .. }| {
        quote!(::roundtable_model::write_field(attributes, #attribute, &self.#field);)
    });
    let reads = reads(&kept);
    let constants = if is_part(input)? { TokenStream::new() } else { constants(name, &kept) };
    let names: Vec<&Ident> = kept.iter().map(|kept| kept.field).collect();
    Ok(quote! {
        impl ::roundtable_model::Fields for #name {
            const FIELDS: &'static [::roundtable_model::shape::FieldShape] = &[#(#shapes),*];

            fn write(&self, attributes: &mut ::roundtable_model::table::Attributes) {
                #(#writes)*
            }

            fn read(
                entries: ::roundtable_model::table::Entries<'_>,
            ) -> ::std::result::Result<Self, ::roundtable_model::FieldMisfit> {
                #reads
            }
        }

        #[cfg(test)]
        impl ::roundtable_model::Sample for #name {
            fn sample(random: &mut ::rand::rngs::SmallRng) -> Self {
                Self { #(#names: ::roundtable_model::Sample::sample(random)),* }
            }
        }

        #constants
    })
}

/// One pass over the item: decoding a page must not cost more than finding it.
fn reads(kept: &[Kept<'_>]) -> TokenStream {
    let slots: Vec<Ident> = kept.iter().map(|kept| format_ident!("found_{}", kept.field)).collect();
    let attributes: Vec<&String> = kept.iter().map(|kept| &kept.attribute).collect();
    let fields = kept.iter().map(|kept| kept.field);
    quote! {
        #(let mut #slots = ::std::option::Option::None;)*
        for (name, value) in entries {
            match name {
                #(#attributes => #slots = ::std::option::Option::Some(value),)*
                _ => {}
            }
        }
        ::std::result::Result::Ok(Self {
            #(#fields: ::roundtable_model::read_field(#attributes, #slots)?),*
        })
    }
}

/// `Follow::STATUS` and the like: names for patches and conditions that know whether a key depends on
/// the field.
fn constants(name: &Ident, kept: &[Kept<'_>]) -> TokenStream {
    let each = kept.iter().map(|Kept { field, attribute, kind, .. }| {
        let (constant, text) = (constant(field), field.to_string());
        let doc = format!("The field `{field}`.");
        quote! {
            #[doc = #doc]
            pub const #constant: ::roundtable_model::Field<
                #name,
                #kind,
                { <#name as ::roundtable_model::Entity>::SHAPE.in_key(#text) },
            > = ::roundtable_model::Field::new(#attribute);
        }
    });
    quote!(impl #name { #(#each)* })
}

fn keep(field: &Field) -> Result<Kept<'_>> {
    let Some(name) = &field.ident else {
        return Err(Error::new_spanned(field, "the fields need names"));
    };
    let mut attribute = camel_case(&name.to_string());
    for given in field.attrs.iter().filter(|given| given.path().is_ident("attribute")) {
        attribute = given.parse_args::<LitStr>()?.value();
    }
    let reserved =
        ["type", "PK", "SK"].contains(&attribute.as_str()) || attribute.starts_with("GSI");
    if reserved {
        let problem = format!("{attribute:?} is an attribute of every item: call it otherwise");
        return Err(Error::new_spanned(name, problem));
    }
    Ok(Kept { field: name, attribute, kind: &field.ty, doc: doc_of(&field.attrs) })
}

/// Whether `#[fields(part)]` says that this is no entity.
fn is_part(input: &DeriveInput) -> Result<bool> {
    let mut part = false;
    for given in input.attrs.iter().filter(|given| given.path().is_ident("fields")) {
        let word: Ident = given.parse_args()?;
        if word != "part" {
            return Err(Error::new(word.span(), "expected `part`"));
        }
        part = true;
    }
    Ok(part)
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = String::from(words.next().unwrap_or_default());
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}
