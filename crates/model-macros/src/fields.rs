//! `#[derive(Fields)]`: a struct's fields as attributes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Result, Token, Type};

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
    let kept = fields(input)?.iter().map(keep).collect::<Result<Vec<_>>>()?;
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
    let part = is_part(input)?;
    let (writes, reads) = (writes(&kept, part), reads(&kept));
    let constants = if part { TokenStream::new() } else { constants(name, &kept) };
    Ok(quote! {
        impl ::roundtable_model::Fields for #name {
            const FIELDS: &'static [::roundtable_model::shape::FieldShape] = &[#(#shapes),*];

            fn write(&self, item: &mut ::roundtable_model::table::ItemBuilder) {
                #writes
            }

            fn read(
                from: &mut ::roundtable_model::Reader<'_>,
            ) -> ::std::result::Result<Self, ::roundtable_model::FieldMisfit> {
                #reads
            }
        }

        #constants
    })
}

/// The impl that tests of the model make structs by the thousand with.
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

/// The attribute that names an item's entity.
const TYPE: &str = "type";

/// The fields as items hold them, by rising name: those before the type, and those behind it.
fn sorted<'a>(kept: &'a [Kept<'a>]) -> (Vec<&'a Kept<'a>>, Vec<&'a Kept<'a>>) {
    let mut sorted: Vec<&Kept<'_>> = kept.iter().collect();
    sorted.sort_by_key(|kept| &kept.attribute);
    sorted.into_iter().partition(|kept| kept.attribute.as_str() < TYPE)
}

fn writes(kept: &[Kept<'_>], part: bool) -> TokenStream {
    let slot = |name: &str| quote!(item.slot(const { ::roundtable_model::table::AttributeName::new(#name) }));
    let write = |Kept { field, attribute, .. }: &Kept<'_>| {
        let slot = slot(attribute);
        quote!(::roundtable_model::Attribute::fill(&self.#field, #slot);)
    };
    let (before, behind) = sorted(kept);
    let (before, behind) = (before.into_iter().map(write), behind.into_iter().map(write));
    let entity = (!part).then(|| {
        let slot = slot(TYPE);
        quote!(#slot.text(<Self as ::roundtable_model::Entity>::SHAPE.name);)
    });
    quote!(#(#before)* #entity #(#behind)*)
}

/// One pass over the item: decoding a page must not cost more than finding it.
fn reads(kept: &[Kept<'_>]) -> TokenStream {
    let found = |field: &Ident| format_ident!("found_{}", field);
    let find = |Kept { field, attribute, .. }: &Kept<'_>| {
        let found = found(field);
        quote!(let #found = from.find(#attribute);)
    };
    // Fields are read in their own order: of several that do not fit, the first is told of.
    let read = |Kept { field, attribute, .. }: &Kept<'_>| {
        let found = found(field);
        quote!(#field: ::roundtable_model::read_field(#attribute, #found)?)
    };
    let (before, behind) = sorted(kept);
    let (before, behind) = (before.into_iter().map(find), behind.into_iter().map(find));
    let fields = kept.iter().map(read);
    quote! {
        #(#before)*
        from.find_type();
        #(#behind)*
        ::std::result::Result::Ok(Self { #(#fields),* })
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
    let reserved = [TYPE, "PK", "SK"].contains(&attribute.as_str()) || attribute.starts_with("GSI");
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
