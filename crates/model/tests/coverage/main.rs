//! For every query of every design document: the document's own table and ours hold the same facts
//! and return the same results. If our result differs on purpose, the test states the difference.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod base;
mod documents;
mod facts;
mod ours;
mod s0;
mod s1;
mod s2;
mod s3;
mod s3_full;
mod s3_mvp;
mod s4;
mod sides;

use std::collections::BTreeSet;

use crate::documents::{DOCUMENTS, S0, S1, S2, S3, S3_MVP, S4};

/// R2: every query of a document has a test.
#[test]
fn every_question_of_every_document_is_exercised() {
    let covered = [
        (&S0, s0::COVERED, 30),
        (&S1, s1::COVERED, 19),
        (&S2, s2::COVERED, 21),
        (&S3_MVP, s3_mvp::COVERED, 13),
        (&S3, s3_full::COVERED, 16),
        (&S4, s4::COVERED, 11),
    ];
    assert_eq!(covered.len(), DOCUMENTS.len());
    for (document, covered, count) in covered {
        let asked: Vec<&str> = document.questions.iter().map(|question| question.name).collect();
        let once: BTreeSet<&str> = covered.iter().copied().collect();
        assert_eq!(once, asked.iter().copied().collect(), "{}", document.name);
        assert_eq!((asked.len(), covered.len()), (count, count), "{}", document.name);
    }
}

/// The snippets that DynamoDB refuses: two of s2, which filter on a key of the index.
#[test]
fn the_rejected_snippets_are_listed() {
    let questions = DOCUMENTS.iter().flat_map(|document| {
        document.questions.iter().map(move |question| (document.name, question))
    });
    let rejected = questions.filter(|(_, question)| question.rejected.is_some());
    let rejected: Vec<_> = rejected.map(|(document, question)| (document, question.name)).collect();
    assert_eq!(rejected, [("s2", "posts_by_in_index"), ("s2", "likes_by")]);
}
