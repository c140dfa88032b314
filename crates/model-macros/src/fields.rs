//! `#[derive(Fields)]`: stores a struct's fields as attributes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Result, Token, Type};

use crate::generate::constant;
use crate::grammar::doc_of;

/// A field and its attribute.
struct StructField<'a> {
    field: &'a Ident,
    attribute: String,
    kind: &'a Type,
    doc: String,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let fields = fields(input)?.iter().map(struct_field).collect::<Result<Vec<_>>>()?;
    let shapes = fields.iter().map(|StructField { field, attribute, kind, doc }| {
        let field = field.to_string();
        quote!(::roundtable_model::shape::FieldShape {
            field: #field,
            attribute: #attribute,
            kind: <#kind as ::roundtable_model::Attribute>::KIND,
            optional: <#kind as ::roundtable_model::Attribute>::OPTIONAL,
            doc: #doc,
        })
    });
    let part = is_part(input)?;
    let (writes, reads) = (writes(&fields, part), reads(&fields));
    let constants = if part { TokenStream::new() } else { constants(name, &fields) };
    Ok(quote! {
        impl ::roundtable_model::Fields for #name {
            const FIELDS: &'static [::roundtable_model::shape::FieldShape] = &[#(#shapes),*];

            fn write(&self, item: &mut ::roundtable_model::table::ItemBuilder) {
                #writes
            }

            fn read(
                from: &mut ::roundtable_model::ItemReader<'_>,
            ) -> ::std::result::Result<Self, ::roundtable_model::InvalidField> {
                #reads
            }
        }

        #constants
    })
}

pub(crate) fn derive_sample(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let names = fields(input)?.iter().map(|field| &field.ident);
    Ok(quote! {
        impl ::roundtable_model::Sample for #name {
            fn sample(random: &mut ::rand::rngs::SmallRng) -> Self {
                Self { #(#names: ::roundtable_model::Sample::sample(random)),* }
            }
        }
    })
}

fn fields(input: &DeriveInput) -> Result<&Punctuated<Field, Token![,]>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(&fields.named),
            _ => Err(Error::new_spanned(&input.ident, "the fields need names")),
        },
        _ => Err(Error::new_spanned(&input.ident, "only a struct has fields")),
    }
}

const TYPE: &str = "type";

/// Returns the fields in the order items store them, by ascending attribute name: those before
/// `type`, and those after it.
fn sorted<'a>(
    fields: &'a [StructField<'a>],
) -> (Vec<&'a StructField<'a>>, Vec<&'a StructField<'a>>) {
    let mut sorted: Vec<&StructField<'_>> = fields.iter().collect();
    sorted.sort_by_key(|field| &field.attribute);
    sorted.into_iter().partition(|field| field.attribute.as_str() < TYPE)
}

fn writes(fields: &[StructField<'_>], part: bool) -> TokenStream {
    let slot = |name: &str| quote!(item.slot(const { ::roundtable_model::table::AttributeName::new(#name) }));
    let write = |StructField { field, attribute, .. }: &StructField<'_>| {
        let slot = slot(attribute);
        quote!(::roundtable_model::Attribute::fill(&self.#field, #slot);)
    };
    let (before, after) = sorted(fields);
    let (before, after) = (before.into_iter().map(write), after.into_iter().map(write));
    let entity = (!part).then(|| {
        let slot = slot(TYPE);
        quote!(#slot.text(<Self as ::roundtable_model::Entity>::SHAPE.name);)
    });
    quote!(#(#before)* #entity #(#after)*)
}

/// Reads in one pass over the item: decoding a page must not cost more than finding it.
fn reads(fields: &[StructField<'_>]) -> TokenStream {
    let found = |field: &Ident| format_ident!("found_{}", field);
    let find = |StructField { field, attribute, .. }: &StructField<'_>| {
        let found = found(field);
        quote!(let #found = from.find(#attribute);)
    };
    // Fields are decoded in declaration order, so that the first invalid one is reported.
    let read = |StructField { field, attribute, .. }: &StructField<'_>| {
        let found = found(field);
        quote!(#field: ::roundtable_model::read_field(#attribute, #found)?)
    };
    let (before, after) = sorted(fields);
    let (before, after) = (before.into_iter().map(find), after.into_iter().map(find));
    let fields = fields.iter().map(read);
    quote! {
        #(#before)*
        from.find_type();
        #(#after)*
        ::std::result::Result::Ok(Self { #(#fields),* })
    }
}

/// Constants such as `Follow::STATUS`, which name fields in patches and conditions and know whether
/// a key depends on the field.
fn constants(name: &Ident, fields: &[StructField<'_>]) -> TokenStream {
    let each = fields.iter().map(|StructField { field, attribute, kind, .. }| {
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

fn struct_field(field: &Field) -> Result<StructField<'_>> {
    let Some(name) = &field.ident else {
        return Err(Error::new_spanned(field, "the fields need names"));
    };
    let mut attribute = camel_case(&name.to_string());
    for given in field.attrs.iter().filter(|given| given.path().is_ident("attribute")) {
        attribute = given.parse_args::<LitStr>()?.value();
    }
    let reserved = [TYPE, "PK", "SK"].contains(&attribute.as_str()) || attribute.starts_with("GSI");
    if reserved {
        let problem = format!("the attribute name {attribute:?} is reserved: choose another one");
        return Err(Error::new_spanned(name, problem));
    }
    Ok(StructField { field: name, attribute, kind: &field.ty, doc: doc_of(&field.attrs) })
}

/// Returns whether `#[fields(part)]` marks a struct that is not an entity.
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
