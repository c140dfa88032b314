//! Fuzzes the schema with GraphQL documents, executed by several viewers of a town.
//!
//! An input that begins with a byte above 127 is a list of choices for generating a document; any other
//! input is a document. Its lines `# as NAME` and `# with JSON` set the viewer and the variables.

use std::cell::RefCell;

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::api_town::{ApiTown, schema};
use crate::choices::ByteChoices;
use crate::document_writer::{Document, DocumentStyle, document};
use crate::grammar::Grammar;
use crate::populated_town::{CANARY, VIEWERS};
use crate::response_checks::{check, hash};
use crate::runner::Coverage;
use crate::value_pool::ValuePool;

/// Requests before the writable town is replaced, so that a finding depends on a short history.
const REQUESTS_MAX: usize = 1_500;
/// Documents between two runs of the processors.
const SETTLE_EVERY: usize = 8;

struct DocumentTarget {
    runtime: Runtime,
    grammar: Grammar,
    /// Only gets queries, so that hidden content stays hidden.
    read_only: ApiTown,
    writable: ApiTown,
    value_pool: ValuePool,
    documents: usize,
    /// Print all documents and responses.
    is_verbose: bool,
}

thread_local! {
    static TARGET: RefCell<Option<DocumentTarget>> = const { RefCell::new(None) };
}

/// Runs one input and returns its coverage. Panics on a finding.
pub fn documents(bytes: &[u8]) -> Coverage {
    TARGET.with_borrow_mut(|target| {
        let target = target.get_or_insert_with(DocumentTarget::new);
        let mut coverage = Coverage::default();
        target.run_input(bytes, &mut coverage);
        coverage
    })
}

impl DocumentTarget {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let grammar = Grammar::parse(roundtable_graphql::SDL);
        let (read_only, value_pool) = runtime.block_on(ApiTown::new(schema()));
        let (writable, _) = runtime.block_on(ApiTown::new(schema()));
        let is_verbose = std::env::var_os("ROUNDTABLE_FUZZ_SHOW").is_some();
        Self { runtime, grammar, read_only, writable, value_pool, documents: 0, is_verbose }
    }

    fn run_input(&mut self, bytes: &[u8], coverage: &mut Coverage) {
        let (viewer, document) = self.parse(bytes);
        let Self { runtime, read_only, writable, value_pool, documents, is_verbose, .. } = self;
        *documents += 1;
        let changes = document.text.contains("mutation") || document.text.contains("subscription");
        let is_read_only = !changes && !documents.is_multiple_of(4);
        let api_town = if is_read_only { read_only } else { writable };
        let request = format!("{} {}", document.text, document.variables);
        runtime.block_on(async {
            for viewer in [viewer, "", "ada"] {
                let response = api_town.execute(viewer, &document).await;
                if *is_verbose {
                    eprintln!("{viewer}: {request}\n  {response}");
                }
                check(&response, &request, coverage);
                value_pool.learn(&response);
                if is_read_only {
                    check_hidden(viewer, &request, &response);
                }
            }
            if document.text.contains("subscription")
                && let Some(event) = api_town.subscribe(viewer, &document).await
            {
                check(&event, &request, coverage);
            }
            if !is_read_only && documents.is_multiple_of(SETTLE_EVERY) {
                for (request, event) in api_town.settle().await {
                    check(&event, &request, coverage);
                    coverage.insert(hash("event"));
                }
            }
        });
        if self.writable.requests > REQUESTS_MAX {
            (self.writable, self.value_pool) = self.runtime.block_on(ApiTown::new(schema()));
        }
    }

    /// Returns the viewer and the document of an input.
    fn parse(&self, bytes: &[u8]) -> (&'static str, Document) {
        if let Some((first, rest)) = bytes.split_first()
            && *first > 127
        {
            let mut bytes = ByteChoices(rest);
            let viewer = *bytes.choose(&VIEWERS);
            let mut document =
                document(&mut bytes, &self.grammar, &self.value_pool, DocumentStyle::default());
            if bytes.once_in(25) {
                corrupt(&mut bytes, &mut document.text);
            }
            return (viewer, document);
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let line = |begin: &str| text.lines().find_map(|line| line.strip_prefix(begin));
        let name = line("# as ").unwrap_or("ana").trim();
        let viewer = VIEWERS.into_iter().find(|viewer| *viewer == name).unwrap_or_default();
        let variables = line("# with ").and_then(|json| serde_json::from_str(json).ok());
        let variables = variables.unwrap_or(Value::Null);
        (viewer, Document { text, variables, ..Document::default() })
    }
}

/// Truncates a text or inserts something.
pub(crate) fn corrupt(bytes: &mut ByteChoices<'_>, text: &mut String) {
    const PARTS: [&str; 12] =
        ["{", "}", "(", ")", "\"", "\"\"\"", "...", "$", "@", ":", "\u{0}", "\u{feff}"];
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let at = starts.get(bytes.pick(starts.len())).copied().unwrap_or_default();
    if bytes.pick(2) == 0 {
        text.insert_str(at, bytes.choose::<&str>(&PARTS));
    } else {
        text.truncate(at);
    }
}

/// Checks that strangers do not see hidden content.
fn check_hidden(viewer: &str, request: &str, response: &Value) {
    if matches!(viewer, "" | "dee") && !request.contains(CANARY) {
        assert!(!response.to_string().contains(CANARY), "viewer {viewer:?}: {request}\n{response}");
    }
}
