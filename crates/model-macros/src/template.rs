//! Key templates: `USER#{followee_id}[#{shard}]`.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Result};

/// A key as the schema writes it.
pub(crate) struct TemplateAst {
    pub(crate) literal: LitStr,
    pub(crate) segments: Vec<SegmentAst>,
    /// Ends in a `#` that something must follow: only in `begins`.
    pub(crate) open: bool,
}

/// The text between two `#`.
pub(crate) enum SegmentAst {
    Literal(String),
    Part { name: Ident, method: Option<Ident> },
    Shard { name: Ident },
}

impl TemplateAst {
    pub(crate) fn span(&self) -> Span {
        self.literal.span()
    }

    /// Returns the parts, including the shard.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Ident> {
        self.segments.iter().filter_map(|segment| match segment {
            SegmentAst::Literal(_) => None,
            SegmentAst::Part { name, .. } | SegmentAst::Shard { name } => Some(name),
        })
    }

    /// Returns whether both templates could write the same key.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.keys().any(|mine| other.keys().any(|theirs| may_be_equal(mine, theirs)))
    }

    /// Returns whether a key of `self` could begin with `prefix`.
    pub(crate) fn may_begin_with(&self, prefix: &Self) -> bool {
        let starts = |key: &[SegmentAst]| {
            let wanted = prefix.segments.len();
            let enough = if prefix.open { key.len() > wanted } else { key.len() >= wanted };
            enough && key.get(..wanted).is_some_and(|start| may_be_equal(start, &prefix.segments))
        };
        self.keys().any(starts)
    }

    /// Returns the segments with the shard, and without it.
    fn keys(&self) -> impl Iterator<Item = &[SegmentAst]> {
        let whole = self.segments.as_slice();
        let sharded = matches!(whole.last(), Some(SegmentAst::Shard { .. }));
        let short = sharded.then(|| whole.get(..whole.len().saturating_sub(1))).flatten();
        std::iter::once(whole).chain(short)
    }
}

/// Returns whether two keys could be equal: parts hold no `#`, so keys are equal segment by
/// segment.
fn may_be_equal(left: &[SegmentAst], right: &[SegmentAst]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|pair| match pair {
            (SegmentAst::Literal(left), SegmentAst::Literal(right)) => left == right,
            _ => true,
        })
}

impl Parse for TemplateAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let literal: LitStr = input.parse()?;
        let text = literal.value();
        let refuse = |why: &str| Err(Error::new(literal.span(), format!("{why} in {text:?}")));
        let (keyed, shard) = match text.split_once('[') {
            None => (text.as_str(), None),
            Some((keyed, rest)) => {
                let Some(name) = rest.strip_prefix("#{").and_then(|rest| rest.strip_suffix("}]"))
                else {
                    return refuse("a shard is written `[#{shard}]`, at the end");
                };
                (keyed, Some(ident(name, &literal)?))
            }
        };
        let (keyed, open) = match keyed.strip_suffix('#') {
            Some(keyed) if shard.is_none() => (keyed, true),
            _ => (keyed, false),
        };
        let mut segments = Vec::new();
        for segment in keyed.split('#') {
            segments.push(match segment.strip_prefix('{') {
                None if segment.is_empty() => return refuse("there is nothing between two `#`"),
                None if segment.contains(['{', '}']) => {
                    return refuse(
                        "a part has text beside it: every part must stand alone between `#`",
                    );
                }
                None => SegmentAst::Literal(segment.to_owned()),
                Some(part) => {
                    let Some(part) = part.strip_suffix('}').filter(|part| !part.contains('}'))
                    else {
                        return refuse("a part has no `}`, or has text beside it,");
                    };
                    match part.split_once(':') {
                        None => SegmentAst::Part { name: ident(part, &literal)?, method: None },
                        Some((name, method)) => SegmentAst::Part {
                            name: ident(name, &literal)?,
                            method: Some(ident(method, &literal)?),
                        },
                    }
                }
            });
        }
        segments.extend(shard.map(|name| SegmentAst::Shard { name }));
        Ok(Self { literal, segments, open })
    }
}

fn ident(name: &str, literal: &LitStr) -> Result<Ident> {
    let mut ident: Ident = syn::parse_str(name)
        .map_err(|_| Error::new(literal.span(), format!("{name:?} is not the name of a part")))?;
    ident.set_span(literal.span());
    Ok(ident)
}
