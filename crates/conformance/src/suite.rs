//! The cases, by topic; each name is a sentence that holds on every backend.
//!
//! A case is a function here and a name in [`for_each_case`](crate::for_each_case). A function that
//! is missing from the list is dead code, which the compiler reports.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "this is test code: a broken promise is a panic"
)]

mod batches;
mod capacity;
mod comparisons;
mod concurrency;
mod conditions;
mod expiry;
mod functions;
mod indexes;
mod items;
mod keys;
mod limits;
mod merge;
mod numbers;
mod paging;
mod queries;
mod scans;
mod steps;
mod streams;
mod tables;
mod tokens;
mod transactions;
mod updates;
mod walks;

use crate::run::Case;

macro_rules! cases {
    (() $($topic:ident { $($case:ident)* })*) => {
        pub static CASES: &[Case] = &[$($(
            Case {
                name: concat!(stringify!($topic), "::", stringify!($case)),
                run: |bench| Box::pin(async move { $topic::$case(&bench).await }),
            },
        )*)*];
    };
}

crate::for_each_case! { cases {} }

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::CASES;

    #[test]
    fn the_suite_has_unique_names_and_does_not_shrink() {
        let names: BTreeSet<_> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), CASES.len(), "each case has a name of its own");
        assert!(CASES.len() >= 220, "{} cases", CASES.len());
    }
}
