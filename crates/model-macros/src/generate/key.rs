//! Generates the code that writes one key.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Ident;

use crate::template::{SegmentAst, TemplateAst};

/// The expected length of a part, to size the buffer of a key.
const PART_BYTES: usize = 28;

/// Generates an expression of type `String`: the key, built from variables named like its parts.
pub(super) fn write(template: &TemplateAst) -> TokenStream {
    write_segments(&template.segments, template.open)
}

/// Generates the same without the last segment: the prefix of a span.
pub(super) fn write_before_last(template: &TemplateAst) -> TokenStream {
    let segments = template.segments.split_last().map_or(&[][..], |(_, before)| before);
    write_segments(segments, !segments.is_empty())
}

fn write_segments(segments: &[SegmentAst], open: bool) -> TokenStream {
    // A part may be named `key`, too.
    let key = Ident::new("key", Span::mixed_site());
    let mut literal = String::new();
    let mut steps = Vec::new();
    let mut bytes = 0;
    for (at, segment) in segments.iter().enumerate() {
        if at > 0 && !matches!(segment, SegmentAst::Shard { .. }) {
            literal.push('#');
        }
        if let SegmentAst::Literal(text) = segment {
            literal.push_str(text);
            continue;
        }
        bytes += literal.len() + PART_BYTES;
        steps.push(push(&key, &mut literal));
        steps.push(match segment {
            SegmentAst::Part { name, method: None } => {
                quote_spanned!(name.span()=> ::roundtable_model::KeyPart::write_part(&#name, &mut #key);)
            }
            SegmentAst::Part { name, method: Some(method) } => {
                quote_spanned!(name.span()=> ::roundtable_model::KeyPart::write_part(&#name.#method(), &mut #key);)
            }
            SegmentAst::Shard { name } => {
                quote_spanned!(name.span()=> ::roundtable_model::Shard::write_suffix(&#name, &mut #key);)
            }
            SegmentAst::Literal(_) => TokenStream::new(),
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
