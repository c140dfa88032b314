//! GraphQL documents against the schema, asked by several viewers of a town.
//!
//! Bytes that begin with one above 127 are choices that a document is written by; all others are a
//! document themselves. Lines `# as NAME` and `# with JSON` say who asks, and with which variables.

use std::cell::RefCell;

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::answers::{check, hash};
use crate::bytes::Bytes;
use crate::driving::Seen;
use crate::grammar::Grammar;
use crate::pool::Pool;
use crate::stage::{CANARY, Stage, VIEWERS, schema};
use crate::writing::{Document, document};

/// How often a town that changes is asked before another one takes its place: what happens there follows
/// from what happened before.
const ASKED_MAX: usize = 1_500;
/// How many documents are asked of it before everything follows from them.
const SETTLE_EVERY: usize = 8;

struct Run {
    runtime: Runtime,
    grammar: Grammar,
    /// Only looked at, so that what is hidden stays so.
    still: Stage,
    changing: Stage,
    pool: Pool,
    documents: usize,
    /// Whether everything is printed.
    shows: bool,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// Tries one input; what was seen of the program. Panics when something is wrong.
pub fn documents(bytes: &[u8]) -> Seen {
    RUN.with_borrow_mut(|run| {
        let run = run.get_or_insert_with(Run::new);
        let mut seen = Seen::default();
        run.one(bytes, &mut seen);
        seen
    })
}

impl Run {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let grammar = Grammar::of(&schema().sdl());
        let (still, pool) = runtime.block_on(Stage::new(schema()));
        let (changing, _) = runtime.block_on(Stage::new(schema()));
        let shows = std::env::var_os("ROUNDTABLE_FUZZ_SHOW").is_some();
        Self { runtime, grammar, still, changing, pool, documents: 0, shows }
    }

    fn one(&mut self, bytes: &[u8], seen: &mut Seen) {
        let (viewer, document) = self.read(bytes);
        let Self { runtime, still, changing, pool, documents, shows, .. } = self;
        *documents += 1;
        let changes = document.text.contains("mutation") || document.text.contains("subscription");
        let is_still = !changes && !documents.is_multiple_of(4);
        let stage = if is_still { still } else { changing };
        let shown = format!("{} {}", document.text, document.variables);
        runtime.block_on(async {
            for viewer in [viewer, "", "ada"] {
                let answer = stage.ask(viewer, &document).await;
                if *shows {
                    eprintln!("{viewer}: {shown}\n  {answer}");
                }
                check(&answer, &shown, seen);
                pool.learn(&answer);
                if is_still {
                    check_hidden(viewer, &shown, &answer);
                }
            }
            if document.text.contains("subscription")
                && let Some(told) = stage.listen(viewer, &document).await
            {
                check(&told, &shown, seen);
            }
            if !is_still && documents.is_multiple_of(SETTLE_EVERY) {
                for (asked, told) in stage.settle().await {
                    check(&told, &asked, seen);
                    seen.insert(hash("told"));
                }
            }
        });
        if self.changing.asked > ASKED_MAX {
            (self.changing, self.pool) = self.runtime.block_on(Stage::new(schema()));
        }
    }

    /// What an input asks, and who.
    fn read(&self, bytes: &[u8]) -> (&'static str, Document) {
        if let Some((first, rest)) = bytes.split_first()
            && *first > 127
        {
            let mut bytes = Bytes(rest);
            let viewer = *bytes.of(&VIEWERS);
            let mut document = document(&mut bytes, &self.grammar, &self.pool);
            if bytes.once_in(25) {
                break_up(&mut bytes, &mut document.text);
            }
            return (viewer, document);
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        let line = |begin: &str| text.lines().find_map(|line| line.strip_prefix(begin));
        let named = line("# as ").unwrap_or("ana").trim();
        let viewer = VIEWERS.into_iter().find(|viewer| *viewer == named).unwrap_or_default();
        let variables = line("# with ").and_then(|json| serde_json::from_str(json).ok());
        let variables = variables.unwrap_or(Value::Null);
        (viewer, Document { text, variables })
    }
}

/// Takes something out of a text, or puts something in.
fn break_up(bytes: &mut Bytes<'_>, text: &mut String) {
    const PARTS: [&str; 12] =
        ["{", "}", "(", ")", "\"", "\"\"\"", "...", "$", "@", ":", "\u{0}", "\u{feff}"];
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let at = starts.get(bytes.pick(starts.len())).copied().unwrap_or_default();
    if bytes.pick(2) == 0 {
        text.insert_str(at, bytes.of::<&str>(&PARTS));
    } else {
        text.truncate(at);
    }
}

/// Strangers must not be told what is for others.
fn check_hidden(viewer: &str, asked: &str, answer: &Value) {
    if matches!(viewer, "" | "dee") && !asked.contains(CANARY) {
        assert!(!answer.to_string().contains(CANARY), "asked by {viewer:?}: {asked}\n{answer}");
    }
}
