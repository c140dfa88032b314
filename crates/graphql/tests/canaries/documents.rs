//! The documents that every viewer executes: each root field with all argument values, in pieces.

use roundtable_testkit::SecretTown;

use crate::argument_values::{ArgumentValues, argument_values, nodes, relations};
use crate::root_fields::{QUERIES, RootField, SUBSCRIPTIONS};
use crate::schema_types::{SchemaTypes, items};

const NODES_PER_QUERY: usize = 100;

pub(crate) struct Document {
    pub(crate) field: &'static str,
    pub(crate) arguments: String,
    pub(crate) text: String,
    /// Executed with the next cursor as `$after` until the list ends.
    pub(crate) is_paged: bool,
}

impl Document {
    const fn new(field: &'static str, arguments: String, text: String, is_paged: bool) -> Self {
        Self { field, arguments, text, is_paged }
    }
}

pub(crate) struct Documents {
    pub(crate) queries: Vec<Document>,
    pub(crate) subscriptions: Vec<Document>,
    /// The words for relations, and the global ids that find them.
    pub(crate) relations: Vec<(&'static str, String)>,
    pub(crate) types: SchemaTypes,
}

/// Returns the arguments with every combination of the values they name.
fn filled_in(arguments: &str, argument_values: &ArgumentValues) -> Vec<String> {
    let Some((before, rest)) = arguments.split_once('{') else { return vec![arguments.to_owned()] };
    let (kind, after) = rest.split_once('}').unwrap();
    let after = filled_in(after, argument_values);
    let each = argument_values[kind]
        .iter()
        .flat_map(|value| after.iter().map(move |after| format!("{before}{value}{after}")));
    each.collect()
}

fn parenthesized(arguments: &[&str]) -> String {
    let arguments: Vec<&str> = arguments.iter().copied().filter(|it| !it.is_empty()).collect();
    if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) }
}

impl Documents {
    pub(crate) async fn of(hidden: &SecretTown, sdl: &str) -> Self {
        let (mut types, mut argument_values) =
            (SchemaTypes::parse(sdl), argument_values(hidden).await);
        let (mut queries, mut subscriptions) = (Vec::new(), Vec::new());
        let nodes = nodes(hidden).await;
        for kind in types.members("Node").to_vec() {
            let ids = nodes.iter().filter(|(other, _)| *other == kind);
            let ids: Vec<String> = ids.map(|(_, id)| format!("\"{id}\"")).collect();
            assert!(!ids.is_empty(), "there is no {kind}");
            let some = ids.chunks(NODES_PER_QUERY).map(|ids| format!("[{}]", ids.join(", ")));
            argument_values.insert("nodes", some.collect());
            argument_values.insert("node", ids);
            let base = types.base(&kind);
            for (field, arguments, _) in QUERIES.iter().filter(|row| row.0.starts_with("node")) {
                for arguments in filled_in(arguments, &argument_values) {
                    let text = format!(
                        "{{ {field}({arguments}) {{ __typename nodeId ... on {kind} {{ {base} }} }} }}"
                    );
                    queries.push(Document::new(field, arguments, text, false));
                }
            }
        }
        for row in QUERIES.iter().filter(|row| !row.0.starts_with("node")) {
            queries.extend(documents(&mut types, "Query", row, &argument_values));
        }
        for row in SUBSCRIPTIONS {
            subscriptions.extend(documents(&mut types, "Subscription", row, &argument_values));
        }
        Self { queries, subscriptions, relations: relations(hidden), types }
    }
}

fn documents(
    types: &mut SchemaTypes,
    root: &str,
    row: &RootField,
    argument_values: &ArgumentValues,
) -> Vec<Document> {
    let (field, arguments, depth) = *row;
    let ty = types.field_type(root, field).to_owned();
    let operation = root.to_lowercase();
    let mut documents = Vec::new();
    let item = types.item(&ty).map(str::to_owned);
    for arguments in filled_in(arguments, argument_values) {
        let mut put = |text, is_paged| {
            documents.push(Document::new(field, arguments.clone(), text, is_paged));
        };
        let (all, some) = (
            parenthesized(&[&arguments, "limit: 100"]),
            parenthesized(&[&arguments, "first: 5", "after: $after"]),
        );
        if let Some(item) = &item {
            for piece in types.pieces(item, depth) {
                put(format!("{{ {field}{all} {} }}", items(&piece)), false);
            }
            let page = types.page(&ty);
            put(format!("query($after: String) {{ {field}{some} {page} }}"), true);
        } else {
            let all_arguments = parenthesized(&[&arguments]);
            for piece in types.pieces_or_none(&ty, depth) {
                put(format!("{operation} {{ {field}{all_arguments} {piece} }}"), false);
            }
        }
    }
    documents
}
