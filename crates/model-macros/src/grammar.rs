//! The syntax of a table schema, and its parser.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, Ident, Lit, LitInt, LitStr, Meta, Result, Token, Type, braced,
    bracketed, parenthesized, token,
};

use crate::template::{SegmentAst, TemplateAst};

mod word {
    syn::custom_keyword!(table);
    syn::custom_keyword!(of);
    syn::custom_keyword!(streamed);
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

/// The tables of a schema, one after the other.
pub(crate) struct SchemaAst {
    pub(crate) tables: Vec<TableAst>,
}

pub(crate) struct TableAst {
    pub(crate) doc: String,
    pub(crate) handle: Ident,
    pub(crate) name: LitStr,
    pub(crate) indexes: Vec<IndexAst>,
    pub(crate) streamed: bool,
    pub(crate) entities: Vec<EntityAst>,
    pub(crate) patterns: Vec<PatternAst>,
    pub(crate) composites: Vec<CompositeAst>,
    pub(crate) accepted: Vec<AcceptedAst>,
}

/// `main`, `gsi1`…: the name in the schema, and its variant of `Index`.
#[derive(Clone)]
pub(crate) struct IndexAst {
    pub(crate) name: Ident,
    pub(crate) variant: Ident,
}

impl IndexAst {
    pub(crate) fn is_main(&self) -> bool {
        self.name == "main"
    }
}

impl PartialEq for IndexAst {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

pub(crate) struct EntityAst {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) identity: Vec<ArgumentAst>,
    pub(crate) parts: Vec<PartAst>,
    /// The fields that name its owners.
    pub(crate) owners: Vec<Ident>,
    pub(crate) keys: Vec<KeyAst>,
}

impl EntityAst {
    /// Returns the field called `name`, if index keys may depend on it.
    pub(crate) fn part(&self, name: &Ident) -> Option<&PartAst> {
        self.parts.iter().find(|part| part.name == *name)
    }

    /// Returns the positions of the keys that list the items of one owner, whose partition ends in
    /// the owner: one key if it lists all of them, otherwise every key that lists some.
    pub(crate) fn keys_of_owner(&self, owner: &Ident) -> Vec<usize> {
        let lists = |key: &KeyAst| {
            let [SegmentAst::Literal(_), SegmentAst::Part { name, method: None }, rest @ ..] =
                key.partition.segments.as_slice()
            else {
                return false;
            };
            name == owner && matches!(rest, [] | [SegmentAst::Shard { .. }])
        };
        let keys: Vec<usize> = (0..self.keys.len())
            .filter(|position| self.keys.get(*position).is_some_and(lists))
            .collect();
        let lists_all = |position: &&usize| {
            let key = self.keys.get(**position);
            key.is_some_and(|key| key.conditions.is_empty() && key.partition.segments.len() == 2)
        };
        keys.iter().find(lists_all).map_or(keys.clone(), |key| vec![*key])
    }

    /// Returns the part of the primary key called `name`.
    pub(crate) fn identity(&self, name: &Ident) -> Option<&ArgumentAst> {
        self.identity.iter().find(|argument| argument.name == *name)
    }
}

/// A part of a primary key, or an argument of a pattern.
pub(crate) struct ArgumentAst {
    pub(crate) name: Ident,
    /// The fields it is computed from, when it is not a field itself.
    pub(crate) computed_from: Option<Vec<Ident>>,
    pub(crate) kind: ArgumentKind,
}

pub(crate) enum ArgumentKind {
    One(Type),
    List(Type),
    Span(Type),
    Shards(Type),
    Days(Type),
}

impl ArgumentKind {
    /// Returns whether it is one shard or all of them.
    pub(crate) fn is_shard(&self) -> bool {
        matches!(self, Self::Shards(_)) || self.to_source() == "Shard"
    }

    pub(crate) fn to_source(&self) -> String {
        let plain = |kind: &Type| kind.to_token_stream().to_string().replace(' ', "");
        match self {
            Self::List(kind) => format!("[{}]", plain(kind)),
            Self::Span(kind) => format!("Span<{}>", plain(kind)),
            Self::One(kind) | Self::Shards(kind) | Self::Days(kind) => plain(kind),
        }
    }
}

/// A field that index keys depend on.
pub(crate) struct PartAst {
    pub(crate) name: Ident,
    pub(crate) mutable: bool,
    pub(crate) optional: bool,
}

pub(crate) struct KeyAst {
    pub(crate) index: IndexAst,
    pub(crate) otherwise: bool,
    pub(crate) conditions: Vec<ConditionAst>,
    pub(crate) partition: TemplateAst,
    pub(crate) sort: TemplateAst,
}

impl KeyAst {
    /// Returns whether the text of the key depends on the part.
    pub(crate) fn mentions(&self, name: &Ident) -> bool {
        self.partition.parts().chain(self.sort.parts()).any(|part| part == name)
    }
}

/// A condition of a sparse key.
#[derive(Clone)]
pub(crate) enum ConditionAst {
    Present(Ident),
    Predicate(Ident, Vec<Ident>),
}

pub(crate) struct PatternAst {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) arguments: Vec<ArgumentAst>,
    pub(crate) index: IndexAst,
    pub(crate) partition: TemplateAst,
    pub(crate) first: bool,
    pub(crate) sort: SortAst,
    pub(crate) descending: Option<bool>,
    pub(crate) strong: Option<Ident>,
    pub(crate) page: Option<LitInt>,
    pub(crate) filter: Option<FilterAst>,
    pub(crate) entity: Ident,
    pub(crate) view: Option<Ident>,
}

impl PatternAst {
    pub(crate) fn argument(&self, name: &Ident) -> Option<&ArgumentAst> {
        self.arguments.iter().find(|argument| argument.name == *name)
    }

    pub(crate) fn has(&self, wanted: impl Fn(&ArgumentKind) -> bool) -> bool {
        self.arguments.iter().any(|argument| wanted(&argument.kind))
    }
}

/// The sort keys that a pattern reads.
pub(crate) enum SortAst {
    All,
    Equal(TemplateAst),
    Begins(TemplateAst),
    Within(TemplateAst),
}

impl SortAst {
    pub(crate) const fn template(&self) -> Option<&TemplateAst> {
        match self {
            Self::All => None,
            Self::Equal(template) | Self::Begins(template) | Self::Within(template) => {
                Some(template)
            }
        }
    }
}

/// `where field has argument`, or `where field is argument`.
pub(crate) struct FilterAst {
    pub(crate) field: Ident,
    pub(crate) contains: bool,
    pub(crate) with: Ident,
}

/// A read composed of several patterns.
pub(crate) struct CompositeAst {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) of: Vec<Ident>,
}

/// A finding of the lint that the schema accepts.
pub(crate) struct AcceptedAst {
    pub(crate) lint: String,
    pub(crate) subjects: Vec<(Ident, IndexAst)>,
    pub(crate) reason: LitStr,
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
        let entities = many(input)?;
        input.parse::<word::access_patterns>()?;
        let patterns = many(input)?;
        let composites = input.parse::<Option<word::together>>()?;
        let composites = composites.map(|_| many(input)).transpose()?.unwrap_or_default();
        let accepted = input.parse::<Option<word::accepted>>()?;
        let accepted = accepted.map(|_| many(input)).transpose()?.unwrap_or_default();
        Ok(Self { doc, handle, name, indexes, streamed, entities, patterns, composites, accepted })
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
        Ok(Self { doc, name, identity, parts, owners, keys })
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

impl ToTokens for IndexAst {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let variant = &self.variant;
        tokens.extend(quote::quote!(::roundtable_model::shape::Index::#variant));
    }
}
