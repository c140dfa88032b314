//! Key templates: `USER#{followee_id}[#{shard}]`.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Result};

/// A key as the page writes it.
pub(crate) struct Template {
    pub(crate) literal: LitStr,
    pub(crate) segments: Vec<Segment>,
    /// Whether it ends in a `#` that something must follow: only in `begins`.
    pub(crate) open: bool,
}

/// What stands between two `#`.
pub(crate) enum Segment {
    Literal(String),
    Part { name: Ident, through: Option<Ident> },
    Shard { name: Ident },
}

impl Template {
    pub(crate) fn span(&self) -> Span {
        self.literal.span()
    }

    /// The parts, the shard included.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Ident> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Literal(_) => None,
            Segment::Part { name, .. } | Segment::Shard { name } => Some(name),
        })
    }

    /// Whether some key could be written by both.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.keys().any(|mine| other.keys().any(|theirs| meet(mine, theirs)))
    }

    /// Whether a key of `self` could begin with what `prefix` stands for.
    pub(crate) fn may_begin_with(&self, prefix: &Self) -> bool {
        let starts = |key: &[Segment]| {
            let wanted = prefix.segments.len();
            let enough = if prefix.open { key.len() > wanted } else { key.len() >= wanted };
            enough && key.get(..wanted).is_some_and(|start| meet(start, &prefix.segments))
        };
        self.keys().any(starts)
    }

    /// The segments without the shard, and with it.
    fn keys(&self) -> impl Iterator<Item = &[Segment]> {
        let whole = self.segments.as_slice();
        let sharded = matches!(whole.last(), Some(Segment::Shard { .. }));
        let short = sharded.then(|| whole.get(..whole.len().saturating_sub(1))).flatten();
        std::iter::once(whole).chain(short)
    }
}

/// Parts hold no `#`, so two keys can only be equal segment by segment.
fn meet(left: &[Segment], right: &[Segment]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|pair| match pair {
            (Segment::Literal(left), Segment::Literal(right)) => left == right,
            _ => true,
        })
}

impl Parse for Template {
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
                None if segment.is_empty() => return refuse("nothing between two `#`"),
                None if segment.contains(['{', '}']) => {
                    return refuse(
                        "a part has text beside it: every part stands alone between `#`",
                    );
                }
                None => Segment::Literal(segment.to_owned()),
                Some(part) => {
                    let Some(part) = part.strip_suffix('}').filter(|part| !part.contains('}'))
                    else {
                        return refuse("a part that does not end, or has text beside it,");
                    };
                    match part.split_once(':') {
                        None => Segment::Part { name: ident(part, &literal)?, through: None },
                        Some((name, through)) => Segment::Part {
                            name: ident(name, &literal)?,
                            through: Some(ident(through, &literal)?),
                        },
                    }
                }
            });
        }
        segments.extend(shard.map(|name| Segment::Shard { name }));
        Ok(Self { literal, segments, open })
    }
}

fn ident(name: &str, literal: &LitStr) -> Result<Ident> {
    let mut ident: Ident = syn::parse_str(name)
        .map_err(|_| Error::new(literal.span(), format!("{name:?} is not the name of a part")))?;
    ident.set_span(literal.span());
    Ok(ident)
}
