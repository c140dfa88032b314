//! The page as it is written.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, Ident, Lit, LitInt, LitStr, Meta, Result, Token, Type, braced,
    bracketed, parenthesized, token,
};

use crate::template::Template;

mod word {
    syn::custom_keyword!(table);
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

/// One table.
pub(crate) struct Page {
    pub(crate) doc: String,
    pub(crate) handle: Ident,
    pub(crate) name: LitStr,
    pub(crate) indexes: Vec<Index>,
    pub(crate) streamed: bool,
    pub(crate) entities: Vec<Entity>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) composites: Vec<Composite>,
    pub(crate) accepted: Vec<Accepted>,
}

/// `main`, `gsi1`…: what it was called, and the variant it is.
#[derive(Clone)]
pub(crate) struct Index {
    pub(crate) name: Ident,
    pub(crate) variant: Ident,
}

impl Index {
    pub(crate) fn is_main(&self) -> bool {
        self.name == "main"
    }
}

impl PartialEq for Index {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// One kind of item.
pub(crate) struct Entity {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) identity: Vec<Argument>,
    pub(crate) parts: Vec<Part>,
    pub(crate) keys: Vec<Key>,
}

impl Entity {
    /// The field called `name`, if index keys may depend on it.
    pub(crate) fn part(&self, name: &Ident) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == *name)
    }

    /// The part of the primary key called `name`.
    pub(crate) fn identity(&self, name: &Ident) -> Option<&Argument> {
        self.identity.iter().find(|argument| argument.name == *name)
    }
}

/// A part of a primary key, or what a question is asked with.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    /// The fields it is computed from, when it is not a field itself.
    pub(crate) computed_from: Option<Vec<Ident>>,
    pub(crate) kind: ArgumentKind,
}

/// The type of an argument.
pub(crate) enum ArgumentKind {
    One(Type),
    List(Type),
    Span(Type),
    Shards(Type),
    Days(Type),
}

impl ArgumentKind {
    pub(crate) fn shown(&self) -> String {
        let plain = |kind: &Type| kind.to_token_stream().to_string().replace(' ', "");
        match self {
            Self::List(kind) => format!("[{}]", plain(kind)),
            Self::Span(kind) => format!("Span<{}>", plain(kind)),
            Self::One(kind) | Self::Shards(kind) | Self::Days(kind) => plain(kind),
        }
    }
}

/// A field that index keys depend on.
pub(crate) struct Part {
    pub(crate) name: Ident,
    pub(crate) mutable: bool,
    pub(crate) optional: bool,
}

/// One key of an entity.
pub(crate) struct Key {
    pub(crate) index: Index,
    pub(crate) otherwise: bool,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) partition: Template,
    pub(crate) sort: Template,
}

impl Key {
    /// Whether its text depends on the part.
    pub(crate) fn mentions(&self, name: &Ident) -> bool {
        self.partition.parts().chain(self.sort.parts()).any(|part| part == name)
    }
}

/// A condition of a sparse key.
#[derive(Clone)]
pub(crate) enum Condition {
    Present(Ident),
    Predicate(Ident, Vec<Ident>),
}

/// One question.
pub(crate) struct Pattern {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) index: Index,
    pub(crate) partition: Template,
    pub(crate) first: bool,
    pub(crate) sort: Sort,
    pub(crate) descending: Option<bool>,
    pub(crate) strong: Option<Ident>,
    pub(crate) page: Option<LitInt>,
    pub(crate) filter: Option<Filter>,
    pub(crate) entity: Ident,
    pub(crate) view: Option<Ident>,
}

impl Pattern {
    pub(crate) fn argument(&self, name: &Ident) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.name == *name)
    }

    pub(crate) fn has(&self, wanted: impl Fn(&ArgumentKind) -> bool) -> bool {
        self.arguments.iter().any(|argument| wanted(&argument.kind))
    }
}

/// Which sort keys a question is about.
pub(crate) enum Sort {
    All,
    Equal(Template),
    Begins(Template),
    Within(Template),
}

impl Sort {
    pub(crate) const fn template(&self) -> Option<&Template> {
        match self {
            Self::All => None,
            Self::Equal(template) | Self::Begins(template) | Self::Within(template) => {
                Some(template)
            }
        }
    }
}

/// `where field has argument`, or `where field is argument`.
pub(crate) struct Filter {
    pub(crate) field: Ident,
    pub(crate) contains: bool,
    pub(crate) with: Ident,
}

/// A question that several others answer together.
pub(crate) struct Composite {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) of: Vec<Ident>,
}

/// A finding of the lint that is as it should be.
pub(crate) struct Accepted {
    pub(crate) lint: String,
    pub(crate) subjects: Vec<(Ident, Index)>,
    pub(crate) reason: LitStr,
}

impl Parse for Page {
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
        let together = input.parse::<Option<word::together>>()?;
        let composites = together.map(|_| many(input)).transpose()?.unwrap_or_default();
        let accepted = input.parse::<Option<word::accepted>>()?;
        let accepted = accepted.map(|_| many(input)).transpose()?.unwrap_or_default();
        let page =
            Self { doc, handle, name, indexes, streamed, entities, patterns, composites, accepted };
        Ok(page)
    }
}

impl Parse for Index {
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

impl Parse for Entity {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let doc = doc(input)?;
        let name = input.parse()?;
        let identity = listed(input)?;
        let plus = input.parse::<Option<Token![+]>>()?;
        let parts = plus.map(|_| listed(input)).transpose()?.unwrap_or_default();
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
        Ok(Self { doc, name, identity, parts, keys })
    }
}

impl Parse for Argument {
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

impl Parse for Part {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mutable = input.parse::<Option<Token![mut]>>()?.is_some();
        let name = input.parse()?;
        let optional = input.parse::<Option<Token![?]>>()?.is_some();
        Ok(Self { name, mutable, optional })
    }
}

fn key(input: ParseStream<'_>, named: &[(Ident, Vec<Condition>)]) -> Result<Key> {
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
    Ok(Key { index, otherwise, conditions, partition, sort })
}

/// `due_at, open(done)`; a name given by `let` stands for its conditions.
fn conditions(input: ParseStream<'_>, named: &[(Ident, Vec<Condition>)]) -> Result<Vec<Condition>> {
    let mut all = Vec::new();
    loop {
        let name: Ident = input.parse()?;
        if input.peek(token::Paren) {
            all.push(Condition::Predicate(name, listed(input)?));
        } else if let Some((_, conditions)) = named.iter().find(|(known, _)| *known == name) {
            all.extend(conditions.iter().cloned());
        } else {
            all.push(Condition::Present(name));
        }
        if input.parse::<Option<Token![,]>>()?.is_none() {
            return Ok(all);
        }
    }
}

impl Parse for Pattern {
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

impl Parse for Sort {
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

impl Parse for Filter {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let field = input.parse()?;
        let contains = input.parse::<Option<word::has>>()?.is_some();
        if !contains {
            input.parse::<word::is>()?;
        }
        Ok(Self { field, contains, with: input.parse()? })
    }
}

impl Parse for Composite {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let doc = doc(input)?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let of = Punctuated::<Ident, Token![+]>::parse_separated_nonempty(input)?;
        input.parse::<Token![;]>()?;
        Ok(Self { doc, name, of: of.into_iter().collect() })
    }
}

impl Parse for Accepted {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        // A lint may be called `type-…`, and `type` is a keyword.
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

/// `{ … }` of one thing after the other.
fn many<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let body;
    braced!(body in input);
    let mut all = Vec::new();
    while !body.is_empty() {
        all.push(body.parse()?);
    }
    Ok(all)
}

/// `(a, b)`.
fn listed<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let body;
    parenthesized!(body in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&body)?.into_iter().collect())
}

/// The documentation comment in front of something.
fn doc(input: ParseStream<'_>) -> Result<String> {
    Ok(doc_of(&input.call(Attribute::parse_outer)?))
}

/// The documentation comment among attributes, as one line.
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

impl ToTokens for Index {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let variant = &self.variant;
        tokens.extend(quote::quote!(::roundtable_model::shape::Index::#variant));
    }
}
