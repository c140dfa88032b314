//! The documents that every viewer asks: each row for each thing it is about, in pieces.

use async_graphql::Request;
use async_graphql::parser::parse_query;
use async_graphql::parser::types::ExecutableDocument;
use roundtable_testkit::Hidden;

use crate::rows::{QUERIES, Row, SUBSCRIPTIONS};
use crate::things::{Things, nodes, things, ties};
use crate::types::{Types, items};

/// Global ids asked for at once.
const NODES_AT_ONCE: usize = 100;

/// A document, and what it asks.
pub(crate) struct Document {
    pub(crate) field: &'static str,
    /// What it is asked of.
    pub(crate) arguments: String,
    pub(crate) text: String,
    /// Read once, because everybody asks it.
    read: ExecutableDocument,
    /// Whether it is asked again with the next cursor as `$after` until the list ends.
    pub(crate) is_paged: bool,
}

impl Document {
    fn new(field: &'static str, arguments: String, text: String, is_paged: bool) -> Self {
        let read = parse_query(&text).unwrap();
        Self { field, arguments, text, read, is_paged }
    }

    /// As a request.
    pub(crate) fn request(&self) -> Request {
        let mut request = Request::new("");
        request.set_parsed_query(self.read.clone());
        request
    }
}

/// Everything that can be asked.
pub(crate) struct Documents {
    pub(crate) queries: Vec<Document>,
    pub(crate) subscriptions: Vec<Document>,
    /// The words for ties, and by which global ids those are found.
    pub(crate) ties: Vec<(&'static str, String)>,
    pub(crate) types: Types,
}

/// A row's arguments with every combination of the things it names.
fn filled(arguments: &str, things: &Things) -> Vec<String> {
    let Some((before, rest)) = arguments.split_once('{') else { return vec![arguments.to_owned()] };
    let (kind, after) = rest.split_once('}').unwrap();
    let after = filled(after, things);
    let each = things[kind]
        .iter()
        .flat_map(|thing| after.iter().map(move |after| format!("{before}{thing}{after}")));
    each.collect()
}

/// Arguments in their brackets, if there are any.
fn bracketed(arguments: &[&str]) -> String {
    let arguments: Vec<&str> = arguments.iter().copied().filter(|it| !it.is_empty()).collect();
    if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) }
}

impl Documents {
    pub(crate) async fn of(hidden: &Hidden, sdl: &str) -> Self {
        let (mut types, mut things) = (Types::read(sdl), things(hidden).await);
        let (mut queries, mut subscriptions) = (Vec::new(), Vec::new());
        let nodes = nodes(hidden).await;
        for kind in types.members("Node").to_vec() {
            let ids = nodes.iter().filter(|(other, _)| *other == kind);
            let ids: Vec<String> = ids.map(|(_, id)| format!("\"{id}\"")).collect();
            assert!(!ids.is_empty(), "there is no {kind}");
            let some = ids.chunks(NODES_AT_ONCE).map(|ids| format!("[{}]", ids.join(", ")));
            things.insert("nodes", some.collect());
            things.insert("node", ids);
            let base = types.base(&kind);
            for (field, arguments, _) in QUERIES.iter().filter(|row| row.0.starts_with("node")) {
                for arguments in filled(arguments, &things) {
                    let text = format!(
                        "{{ {field}({arguments}) {{ __typename nodeId ... on {kind} {{ {base} }} }} }}"
                    );
                    queries.push(Document::new(field, arguments, text, false));
                }
            }
        }
        for row in QUERIES.iter().filter(|row| !row.0.starts_with("node")) {
            queries.extend(documents(&mut types, "Query", row, &things));
        }
        for row in SUBSCRIPTIONS {
            subscriptions.extend(documents(&mut types, "Subscription", row, &things));
        }
        Self { queries, subscriptions, ties: ties(hidden), types }
    }
}

fn documents(types: &mut Types, root: &str, row: &Row, things: &Things) -> Vec<Document> {
    let (field, arguments, depth) = *row;
    let gives = types.given(root, field).to_owned();
    let operation = root.to_lowercase();
    let mut documents = Vec::new();
    let item = types.item(&gives).map(str::to_owned);
    for arguments in filled(arguments, things) {
        let mut put = |text, is_paged| {
            documents.push(Document::new(field, arguments.clone(), text, is_paged));
        };
        let (all, some) = (
            bracketed(&[&arguments, "limit: 100"]),
            bracketed(&[&arguments, "first: 5", "after: $after"]),
        );
        if let Some(item) = &item {
            for piece in types.pieces(item, depth) {
                put(format!("{{ {field}{all} {} }}", items(&piece)), false);
            }
            let page = types.page(&gives);
            put(format!("query($after: String) {{ {field}{some} {page} }}"), true);
        } else {
            let bracketed = bracketed(&[&arguments]);
            for piece in types.pieces_or_none(&gives, depth) {
                put(format!("{operation} {{ {field}{bracketed} {piece} }}"), false);
            }
        }
    }
    documents
}
