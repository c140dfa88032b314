//! The code that writes one key.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Ident;

use crate::template::{Segment, Template};

/// What a part is expected to take of a key, to size its buffer.
const PART_BYTES: usize = 28;

/// An expression of type `String`: the key, from variables named as its parts.
pub(super) fn write(template: &Template) -> TokenStream {
    write_segments(&template.segments, template.open)
}

/// The same without the last segment: what a span is measured from.
pub(super) fn write_before_last(template: &Template) -> TokenStream {
    let segments = template.segments.split_last().map_or(&[][..], |(_, before)| before);
    write_segments(segments, !segments.is_empty())
}

fn write_segments(segments: &[Segment], open: bool) -> TokenStream {
    // A part may be called `key`, too.
    let key = Ident::new("key", Span::mixed_site());
    let mut literal = String::new();
    let mut steps = Vec::new();
    let mut bytes = 0;
    for (at, segment) in segments.iter().enumerate() {
        if at > 0 && !matches!(segment, Segment::Shard { .. }) {
            literal.push('#');
        }
        if let Segment::Literal(text) = segment {
            literal.push_str(text);
            continue;
        }
        bytes += literal.len() + PART_BYTES;
        steps.push(push(&key, &mut literal));
        steps.push(match segment {
            Segment::Part { name, through: None } => {
                quote_spanned!(name.span()=> ::roundtable_model::KeyPart::write_part(&#name, &mut #key);)
            }
            Segment::Part { name, through: Some(through) } => {
                quote_spanned!(name.span()=> ::roundtable_model::KeyPart::write_part(&#name.#through(), &mut #key);)
            }
            Segment::Shard { name } => {
                quote_spanned!(name.span()=> ::roundtable_model::Shard::write_suffix(&#name, &mut #key);)
            }
            Segment::Literal(_) => TokenStream::new(),
        });
    }
    if open {
        literal.push('#');
    }
    if steps.is_empty() {
        return quote!(::std::string::String::from(#literal));
    }
    bytes += literal.len();
    steps.push(push(&key, &mut literal));
    quote!({
        let mut #key = ::std::string::String::with_capacity(#bytes);
        #(#steps)*
        #key
    })
}

fn push(key: &Ident, literal: &mut String) -> TokenStream {
    if literal.is_empty() {
        return TokenStream::new();
    }
    let text = std::mem::take(literal);
    quote!(#key.push_str(#text);)
}
