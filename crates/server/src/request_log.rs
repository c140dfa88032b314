//! Log lines of requests: of those that failed or were slow, and of one in so many of the others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use roundtable_domain::Code;
use roundtable_graphql::{OperationType, PreparedRequest};

/// A request that takes as long is always logged.
const SLOW: Duration = Duration::from_secs(1);
/// A name may be as long as a document.
const NAME_CHARS_MAX: usize = 64;

#[derive(Debug)]
pub(crate) struct RequestLog {
    /// One request in this many is logged; 0 logs only those that failed or were slow.
    sample: u64,
    seen: AtomicU64,
}

impl RequestLog {
    pub(crate) const fn new(sample: u64) -> Self {
        Self { sample, seen: AtomicU64::new(0) }
    }

    /// Logs a GraphQL operation and the codes of its errors. One that was refused before it was planned has
    /// no name. A subscription is logged when it has begun.
    pub(crate) fn operation(
        &self,
        prepared: Option<&PreparedRequest>,
        codes: &[&'static str],
        took: Duration,
    ) {
        let failures = [Code::Internal, Code::OutcomeUnknown].map(Code::as_str);
        let has_failed = |code: &&str| failures.contains(code);
        if !self.wants(codes.iter().any(has_failed), took) {
            return;
        }
        let name = prepared.and_then(PreparedRequest::operation_name);
        let operation = name.map(|name| name.get(..NAME_CHARS_MAX).unwrap_or(name));
        let kind = prepared.map(|prepared| match prepared.operation_type() {
            OperationType::Query => "query",
            OperationType::Mutation => "mutation",
            OperationType::Subscription => "subscription",
        });
        let status = codes.first().copied().unwrap_or("OK");
        let cost = prepared.map(|prepared| prepared.cost().fields);
        tracing::info!(operation, kind, status, us = micros(took), cost, "operation");
    }

    /// Logs a request that has no operation, such as that of a file, or that was refused before it.
    pub(crate) fn request(&self, status: u16, took: Duration) {
        if self.wants(status >= 500, took) {
            tracing::info!(status, us = micros(took), "request");
        }
    }

    fn wants(&self, has_failed: bool, took: Duration) -> bool {
        let nth = self.seen.fetch_add(1, Ordering::Relaxed);
        let is_sampled = nth.checked_rem(self.sample) == Some(0);
        is_sampled || has_failed || took >= SLOW
    }
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_and_slow_requests_are_always_logged_and_others_one_in_so_many() {
        let fast = Duration::from_millis(1);
        for (sample, expected) in [(0, 0), (1, 12), (5, 3)] {
            let log = RequestLog::new(sample);
            assert_eq!((0..12).filter(|_| log.wants(false, fast)).count(), expected, "{sample}");
            assert!(log.wants(true, fast) && log.wants(false, SLOW));
        }
    }
}
