//! The parser of a table schema.

use quote::ToTokens as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, Ident, Lit, Meta, Result, Token, Type, braced, bracketed,
    parenthesized, token,
};

use crate::ast::{
    AcceptedAst, ArgumentAst, ArgumentKind, CompositeAst, ConditionAst, EntityAst, FilterAst,
    IndexAst, KeyAst, PartAst, PatternAst, SchemaAst, SortAst, TableAst,
};

mod word {
    syn::custom_keyword!(table);
    syn::custom_keyword!(of);
    syn::custom_keyword!(upgraded);
    syn::custom_keyword!(by);
    syn::custom_keyword!(streamed);
    syn::custom_keyword!(ordered);
    syn::custom_keyword!(access_patterns);
    syn::custom_keyword!(together);
    syn::custom_keyword!(accepted);
    syn::custom_keyword!(first);
    syn::custom_keyword!(all);
    syn::custom_keyword!(begins);
    syn::custom_keyword!(within);
    syn::custom_keyword!(asc);
    syn::custom_keyword!(desc);
    syn::custom_keyword!(strong);
    syn::custom_keyword!(page);
    syn::custom_keyword!(has);
    syn::custom_keyword!(is);
}

impl Parse for SchemaAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut tables = vec![input.parse()?];
        while !input.is_empty() {
            tables.push(input.parse()?);
        }
        Ok(Self { tables })
    }
}

impl Parse for TableAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let doc = doc(input)?;
        input.parse::<word::table>()?;
        let handle = input.parse()?;
        let name = input.parse()?;
        let indexes = if input.peek(token::Paren) { listed(input)? } else { Vec::new() };
        let streamed = input.parse::<Option<word::streamed>>()?.is_some();
        let ordered = input.parse::<Option<word::ordered>>()?;
        let ordered = ordered.map(|_| input.parse()).transpose()?;
        let entities = many(input)?;
        input.parse::<word::access_patterns>()?;
        let patterns = many(input)?;
        let composites = input.parse::<Option<word::together>>()?;
        let composites = composites.map(|_| many(input)).transpose()?.unwrap_or_default();
        let accepted = input.parse::<Option<word::accepted>>()?;
        let accepted = accepted.map(|_| many(input)).transpose()?.unwrap_or_default();
        Ok(Self {
            doc,
            handle,
            name,
            indexes,
            streamed,
            ordered,
            entities,
            patterns,
            composites,
            accepted,
        })
    }
}

impl Parse for IndexAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.parse()?;
        let variant = match name.to_string().as_str() {
            "main" => "Main",
            "gsi1" => "Gsi1",
            "gsi2" => "Gsi2",
            "gsi3" => "Gsi3",
            _ => return Err(Error::new(name.span(), "expected main, gsi1, gsi2 or gsi3")),
        };
        Ok(Self { variant: Ident::new(variant, name.span()), name })
    }
}

impl Parse for EntityAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let doc = doc(input)?;
        let name = input.parse()?;
        let identity = listed(input)?;
        let plus = input.parse::<Option<Token![+]>>()?;
        let parts = plus.map(|_| listed(input)).transpose()?.unwrap_or_default();
        let of = input.parse::<Option<word::of>>()?;
        let owners = of.map(|_| listed(input)).transpose()?.unwrap_or_default();
        let upgraded = input.parse::<Option<word::upgraded>>()?;
        let upgraded = upgraded.map(|_| input.parse::<word::by>()).transpose()?;
        let upgrades = upgraded.map(|_| listed(input)).transpose()?.unwrap_or_default();
        let body;
        braced!(body in input);
        let mut named = Vec::new();
        while body.peek(Token![let]) {
            body.parse::<Token![let]>()?;
            let name: Ident = body.parse()?;
            body.parse::<Token![=]>()?;
            named.push((name, conditions(&body, &[])?));
            body.parse::<Token![;]>()?;
        }
        let mut keys = Vec::new();
        while !body.is_empty() {
            keys.push(key(&body, &named)?);
        }
        Ok(Self { doc, name, identity, parts, owners, upgrades, keys })
    }
}

impl Parse for ArgumentAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        let computed_from = if input.peek(token::Paren) { Some(listed(input)?) } else { None };
        input.parse::<Token![:]>()?;
        Ok(Self { name, computed_from, kind: input.parse()? })
    }
}

impl Parse for ArgumentKind {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(token::Bracket) {
            let inner;
            bracketed!(inner in input);
            return Ok(Self::List(inner.parse()?));
        }
        if input.peek(Ident) && input.peek2(Token![<]) {
            let name: Ident = input.parse()?;
            if name != "Span" {
                return Err(Error::new(name.span(), "only Span has a parameter here"));
            }
            input.parse::<Token![<]>()?;
            let inner = input.parse()?;
            input.parse::<Token![>]>()?;
            return Ok(Self::Span(inner));
        }
        let kind: Type = input.parse()?;
        Ok(match kind.to_token_stream().to_string().as_str() {
            "Shards" => Self::Shards(kind),
            "Days" => Self::Days(kind),
            _ => Self::One(kind),
        })
    }
}

impl Parse for PartAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mutable = input.parse::<Option<Token![mut]>>()?.is_some();
        let name = input.parse()?;
        let optional = input.parse::<Option<Token![?]>>()?.is_some();
        Ok(Self { name, mutable, optional })
    }
}

fn key(input: ParseStream<'_>, named: &[(Ident, Vec<ConditionAst>)]) -> Result<KeyAst> {
    let index = input.parse()?;
    let otherwise = input.parse::<Option<Token![else]>>()?.is_some();
    let conditions = match input.parse::<Option<Token![if]>>()? {
        Some(_) => conditions(input, named)?,
        None => Vec::new(),
    };
    input.parse::<Token![=>]>()?;
    let partition = input.parse()?;
    input.parse::<Token![,]>()?;
    let sort = input.parse()?;
    input.parse::<Token![;]>()?;
    Ok(KeyAst { index, otherwise, conditions, partition, sort })
}

/// Parses `due_at, open(done)`; a name defined by `let` expands to its conditions.
fn conditions(
    input: ParseStream<'_>,
    named: &[(Ident, Vec<ConditionAst>)],
) -> Result<Vec<ConditionAst>> {
    let mut all = Vec::new();
    loop {
        let name: Ident = input.parse()?;
        if input.peek(token::Paren) {
            all.push(ConditionAst::Predicate(name, listed(input)?));
        } else if let Some((_, conditions)) = named.iter().find(|(defined, _)| *defined == name) {
            all.extend(conditions.iter().cloned());
        } else {
            all.push(ConditionAst::Present(name));
        }
        if input.parse::<Option<Token![,]>>()?.is_none() {
            return Ok(all);
        }
    }
}

impl Parse for PatternAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let doc = doc(input)?;
        let name = input.parse()?;
        let arguments = listed(input)?;
        input.parse::<Token![=>]>()?;
        let index = input.parse()?;
        input.parse::<Token![,]>()?;
        let partition = input.parse()?;
        input.parse::<Token![,]>()?;
        let first = input.parse::<Option<word::first>>()?.is_some();
        let sort = input.parse()?;
        let (mut descending, mut strong, mut page, mut filter) = (None, None, None, None);
        while input.parse::<Option<Token![,]>>()?.is_some() {
            if input.parse::<Option<word::asc>>()?.is_some() {
                descending = Some(false);
            } else if input.parse::<Option<word::desc>>()?.is_some() {
                descending = Some(true);
            } else if let Some(word) = input.parse::<Option<word::strong>>()? {
                strong = Some(Ident::new("strong", word.span));
            } else if input.parse::<Option<word::page>>()?.is_some() {
                page = Some(input.parse()?);
            } else if input.parse::<Option<Token![where]>>()?.is_some() {
                filter = Some(input.parse()?);
            } else {
                return Err(input.error("expected asc, desc, strong, page or where"));
            }
        }
        input.parse::<Token![->]>()?;
        let entity = input.parse()?;
        let view = input.parse::<Option<Token![as]>>()?.map(|_| input.parse()).transpose()?;
        input.parse::<Token![;]>()?;
        Ok(Self {
            doc,
            name,
            arguments,
            index,
            partition,
            first,
            sort,
            descending,
            strong,
            page,
            filter,
            entity,
            view,
        })
    }
}

impl Parse for SortAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.parse::<Option<word::all>>()?.is_some() {
            Ok(Self::All)
        } else if input.parse::<Option<word::begins>>()?.is_some() {
            Ok(Self::Begins(input.parse()?))
        } else if input.parse::<Option<word::within>>()?.is_some() {
            Ok(Self::Within(input.parse()?))
        } else {
            Ok(Self::Equal(input.parse()?))
        }
    }
}

impl Parse for FilterAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let field = input.parse()?;
        let contains = input.parse::<Option<word::has>>()?.is_some();
        if !contains {
            input.parse::<word::is>()?;
        }
        Ok(Self { field, contains, with: input.parse()? })
    }
}

impl Parse for CompositeAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let doc = doc(input)?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let of = Punctuated::<Ident, Token![+]>::parse_separated_nonempty(input)?;
        input.parse::<Token![;]>()?;
        Ok(Self { doc, name, of: of.into_iter().collect() })
    }
}

impl Parse for AcceptedAst {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        // A lint may be named `type-…`, and `type` is a keyword.
        let words = Punctuated::<Ident, Token![-]>::parse_separated_nonempty_with(
            input,
            syn::ext::IdentExt::parse_any,
        )?;
        let lint: Vec<String> = words.iter().map(Ident::to_string).collect();
        let mut subjects = Vec::new();
        while !input.peek(Token![=>]) {
            let subject = input.parse()?;
            input.parse::<Token![.]>()?;
            subjects.push((subject, input.parse()?));
            if input.parse::<Option<Token![,]>>()?.is_none() {
                break;
            }
        }
        input.parse::<Token![=>]>()?;
        let reason = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Self { lint: lint.join("-"), subjects, reason })
    }
}

/// Parses `{ … }` without separators.
fn many<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let body;
    braced!(body in input);
    let mut all = Vec::new();
    while !body.is_empty() {
        all.push(body.parse()?);
    }
    Ok(all)
}

/// Parses `(a, b)`.
fn listed<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let body;
    parenthesized!(body in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&body)?.into_iter().collect())
}

fn doc(input: ParseStream<'_>) -> Result<String> {
    Ok(doc_of(&input.call(Attribute::parse_outer)?))
}

/// Returns the documentation comment among attributes, as one line.
pub(crate) fn doc_of(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(value) => match &value.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect::<Vec<_>>().join(" ")
}
