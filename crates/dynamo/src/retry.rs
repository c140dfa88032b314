//! Retries with backoff and jitter. The SDK retries plain reads. Requests with retry rules of our own
//! (writes, batches, transactions) are sent by the SDK just once and retried here, so that its attempts
//! do not multiply with ours.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

use crate::RetryPolicy;
use crate::errors::{code, code_of};

/// Replaces a deadline that would overflow: thirty years.
const FAR_FUTURE: Duration = Duration::from_hours(30 * 365 * 24);

/// Sends a copy of a request, without the SDK's retries.
macro_rules! send_once {
    ($request:expr) => {
        $request.clone().customize().config_override($crate::retry::no_retries()).send()
    };
}
pub(crate) use send_once;

pub(crate) fn no_retries() -> aws_sdk_dynamodb::config::Builder {
    aws_sdk_dynamodb::Config::builder().retry_config(RetryConfig::disabled())
}

/// Returns whether a request was rejected temporarily, before anything was done.
pub(crate) fn is_rejected<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    let code = code_of(error);
    matches!(
        code,
        Some(code::CONFLICT | code::THROTTLED | code::OVER_THROUGHPUT | code::OVER_REQUESTS)
    )
}

/// Returns whether a request may succeed when retried; it may have been executed already.
pub(crate) fn is_transient<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> bool {
    is_rejected(error)
        || match error {
            SdkError::TimeoutError(_) | SdkError::ResponseError(_) => true,
            SdkError::DispatchFailure(failure) => failure.is_io() || failure.is_timeout(),
            SdkError::ServiceError(rejected) => rejected.raw().status().is_server_error(),
            _ => false,
        }
}

pub(crate) fn deadline(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or_else(|| now + FAR_FUTURE)
}

/// Exponential backoff with a maximum number of attempts.
#[derive(Debug)]
pub(crate) struct RequestBackoff {
    retries: RetryPolicy,
    attempts: u32,
}

impl RequestBackoff {
    pub(crate) const fn new(retries: RetryPolicy) -> Self {
        Self { retries, attempts: 1 }
    }

    /// Pauses before the next attempt; returns `false` at once if none is left.
    pub(crate) async fn pause(&mut self) -> bool {
        if self.attempts >= self.retries.attempts_max {
            return false;
        }
        tokio::time::sleep(jittered(self.delay_limit())).await;
        self.attempts += 1;
        true
    }

    /// Sends until the result is final or `should_retry` is false, or no attempt is left.
    pub(crate) async fn send<T, E, F>(
        &mut self,
        should_retry: impl Fn(&SdkError<E, HttpResponse>) -> bool + Send,
        send: impl Fn() -> F + Send,
    ) -> Result<T, SdkError<E, HttpResponse>>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>> + Send,
        T: Send,
        E: Send,
    {
        loop {
            match send().await {
                Err(error) if should_retry(&error) && self.pause().await => {}
                response => return response,
            }
        }
    }

    fn delay_limit(&self) -> Duration {
        let doublings = (self.attempts - 1).min(16);
        self.retries.delay_first.saturating_mul(1 << doublings).min(self.retries.delay_max)
    }
}

/// Returns a random duration up to `longest`, so that clients that collided do not collide again.
fn jittered(longest: Duration) -> Duration {
    const STEPS: u32 = 1 << 16;
    #[expect(clippy::cast_possible_truncation, reason = "any 16 bits will do")]
    let step = random() as u32 % STEPS;
    longest.mul_f64(f64::from(step) / f64::from(STEPS))
}

/// A random number: each hasher of the standard library has new keys, seeded by the system.
fn random() -> u64 {
    RandomState::new().hash_one(())
}

pub(crate) fn fresh_token() -> String {
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_limit() {
        let retries = RetryPolicy {
            attempts_max: 100,
            delay_first: Duration::from_millis(10),
            delay_max: Duration::from_millis(50),
            attempt_timeout: Duration::from_secs(1),
        };
        let longest = |tried| RequestBackoff { retries, attempts: tried }.delay_limit().as_millis();
        assert_eq!([1, 2, 3, 4, 90].map(longest), [10, 20, 40, 50, 50]);
        assert!(jittered(Duration::from_millis(10)) < Duration::from_millis(10));
    }

    #[tokio::test]
    async fn the_number_of_attempts_is_limited() {
        let retries = RetryPolicy {
            attempts_max: 3,
            delay_first: Duration::from_nanos(1),
            ..RetryPolicy::default()
        };
        let mut backoff = RequestBackoff::new(retries);
        assert!(backoff.pause().await);
        assert!(backoff.pause().await);
        assert!(!backoff.pause().await);
    }

    #[test]
    fn the_longest_wait_does_not_overflow() {
        assert!(deadline(Duration::MAX) > Instant::now() + Duration::from_hours(24));
        assert!(deadline(Duration::ZERO) <= Instant::now());
    }

    #[test]
    fn tokens_differ_and_are_short_enough() {
        let (one, other) = (fresh_token(), fresh_token());
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
        assert!(one.len() <= roundtable_table::limits::TOKEN_BYTES_MAX);
    }
}
