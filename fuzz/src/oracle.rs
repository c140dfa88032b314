//! Compares answers with those of another commit, the oracle, document by document.
//!
//! A file has a JSON object on each line: a document, who sends it, and the answer. Both sides answer the
//! same documents in the same order, on towns with the same ids and times. Every difference has to be one
//! of a list of accepted ones, which gives the reasons.

mod accepted;
mod comparison;
mod conditions;
mod generator;
mod mismatch;
mod places;
mod replay;
mod rules;

use std::io::{BufRead, Write};

use tokio::runtime::{Builder, Runtime};

pub use self::comparison::Comparison;
use self::generator::OracleGenerator;
use self::replay::{OracleEntry, Replay};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Generates `count` documents and writes them with this commit's answers.
pub fn generate_oracle(count: usize, seed: u64, out: &mut impl Write) {
    runtime().block_on(async {
        let (mut replay, value_pool) = Replay::new().await;
        let mut generator = OracleGenerator::new(seed, value_pool);
        for _ in 0..count {
            let (mut entry, lists) = generator.generate();
            replay.answer(&mut entry).await;
            generator.learn(&mut entry, lists);
            replay.keep_cursors(&entry);
            serde_json::to_writer(&mut *out, &entry).unwrap();
            out.write_all(b"\n").unwrap();
        }
        out.flush().unwrap();
    });
}

/// Answers the documents of a file and compares the answers with those of the file.
pub fn compare_with_oracle(lines: impl BufRead) -> Comparison {
    runtime().block_on(async {
        let (mut replay, _) = Replay::new().await;
        let mut comparison = Comparison::default();
        for line in lines.lines() {
            let expected: OracleEntry = serde_json::from_str(&line.unwrap()).unwrap();
            if comparison.is_skipped(&expected) {
                continue;
            }
            let mut found = expected.clone();
            replay.answer(&mut found).await;
            comparison.add(&expected, &found);
        }
        comparison
    })
}
