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
const SHAPE: &str = "shape";

/// Returns code for each field, and for other attributes, in the order in which items store them: by
/// ascending attribute name.
fn in_item_order<'a>(
    fields: &'a [StructField<'a>],
    of_field: impl Fn(&'a StructField<'a>) -> TokenStream,
    others: impl IntoIterator<Item = (&'a str, TokenStream)>,
) -> TokenStream {
    let fields = fields.iter().map(|field| (field.attribute.as_str(), of_field(field)));
    let mut all: Vec<_> = fields.chain(others).collect();
    all.sort_by_key(|(attribute, _)| *attribute);
    all.into_iter().map(|(_, code)| code).collect()
}

fn writes(fields: &[StructField<'_>], part: bool) -> TokenStream {
    let slot = |name: &str| quote!(item.slot(const { ::roundtable_model::table::AttributeName::new(#name) }));
    let write = |StructField { field, attribute, .. }: &StructField<'_>| {
        let slot = slot(attribute);
        quote!(::roundtable_model::Attribute::fill(&self.#field, #slot);)
    };
    let (shape_slot, type_slot) = (slot(SHAPE), slot(TYPE));
    let entity = quote!(<Self as ::roundtable_model::Entity>::SHAPE);
    // The first shape is not written: most entities have only that one.
    let shape = quote! {
        if const { #entity.number() > 1 } {
            #shape_slot.number(const { #entity.number() });
        }
    };
    let others = [(SHAPE, shape), (TYPE, quote!(#type_slot.text(#entity.name);))];
    in_item_order(fields, write, others.into_iter().filter(|_| !part))
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
    let others = [(SHAPE, quote!(from.find_shape();)), (TYPE, quote!(from.find_type();))];
    let found = in_item_order(fields, find, others);
    let fields = fields.iter().map(read);
    quote! {
        #found
        ::std::result::Result::Ok(Self { #(#fields),* })
    }
}

/// Constants such as `Follow::STATUS`, which name fields in patches and conditions and know whether
/// a patch may change the field.
fn constants(name: &Ident, fields: &[StructField<'_>]) -> TokenStream {
    let each = fields.iter().map(|StructField { field, attribute, kind, .. }| {
        let (constant, text) = (constant(field), field.to_string());
        let doc = format!("The field `{field}`.");
        quote! {
            #[doc = #doc]
            pub const #constant: ::roundtable_model::Field<
                #name,
                #kind,
                { <#name as ::roundtable_model::Entity>::SHAPE.is_written_whole(#text) },
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
    let reserved =
        [TYPE, SHAPE, "PK", "SK"].contains(&attribute.as_str()) || attribute.starts_with("GSI");
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
