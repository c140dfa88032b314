//! Pauses between tries, and random numbers for them. The SDK retries plain reads. Whatever may be
//! repeated for a reason of ours, too, is sent by the SDK just once and repeated here, so that its
//! tries do not multiply with ours: writes, batches, and transactions that met others.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

use crate::Retries;
use crate::errors::{code, code_of};

/// A wait that no clock can count ends here, in thirty years.
const FAR_FUTURE: Duration = Duration::from_hours(30 * 365 * 24);

/// Sends a copy of a request, without the SDK's retries.
macro_rules! once {
    ($request:expr) => {
        $request.clone().customize().config_override($crate::retry::no_retries()).send()
    };
}
pub(crate) use once;

pub(crate) fn no_retries() -> aws_sdk_dynamodb::config::Builder {
    aws_sdk_dynamodb::Config::builder().retry_config(RetryConfig::disabled())
}

/// Whether a request was refused for the moment, before anything was done.
pub(crate) fn is_undone<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    let code = code_of(error);
    matches!(
        code,
        Some(code::CONFLICT | code::THROTTLED | code::OVER_THROUGHPUT | code::OVER_REQUESTS)
    )
}

/// Whether a request may go well the next time; what it asks for may have been done.
pub(crate) fn is_passing<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> bool {
    is_undone(error)
        || match error {
            SdkError::TimeoutError(_) | SdkError::ResponseError(_) => true,
            SdkError::DispatchFailure(failure) => failure.is_io() || failure.is_timeout(),
            SdkError::ServiceError(refused) => refused.raw().status().is_server_error(),
            _ => false,
        }
}

/// The moment when `wait` is over.
pub(crate) fn deadline(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or_else(|| now + FAR_FUTURE)
}

/// Pauses that grow, up to a number of tries.
#[derive(Debug)]
pub(crate) struct Backoff {
    retries: Retries,
    tried: u32,
}

impl Backoff {
    pub(crate) const fn new(retries: Retries) -> Self {
        Self { retries, tried: 1 }
    }

    /// Pauses before the next try; `false`, at once, when there should be none.
    pub(crate) async fn pause(&mut self) -> bool {
        if self.tried >= self.retries.attempts_max {
            return false;
        }
        tokio::time::sleep(jittered(self.longest())).await;
        self.tried += 1;
        true
    }

    /// Sends until the answer is not one to try `again` after, or the tries are used up.
    pub(crate) async fn send<T, E, F>(
        &mut self,
        again: impl Fn(&SdkError<E, HttpResponse>) -> bool + Send,
        send: impl Fn() -> F + Send,
    ) -> Result<T, SdkError<E, HttpResponse>>
    where
        F: Future<Output = Result<T, SdkError<E, HttpResponse>>> + Send,
        T: Send,
        E: Send,
    {
        loop {
            match send().await {
                Err(error) if again(&error) && self.pause().await => {}
                answer => return answer,
            }
        }
    }

    fn longest(&self) -> Duration {
        let doublings = (self.tried - 1).min(16);
        self.retries.delay_first.saturating_mul(1 << doublings).min(self.retries.delay_max)
    }
}

/// Anything up to `longest`, so that those who collided once do not collide again.
fn jittered(longest: Duration) -> Duration {
    const STEPS: u32 = 1 << 16;
    #[expect(clippy::cast_possible_truncation, reason = "any 16 bits will do")]
    let step = random() as u32 % STEPS;
    longest.mul_f64(f64::from(step) / f64::from(STEPS))
}

/// Each hasher of the standard library has new keys, seeded by the operating system.
fn random() -> u64 {
    RandomState::new().hash_one(())
}

/// A token no other transaction has.
pub(crate) fn fresh_token() -> String {
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_longest_one() {
        let retries = Retries {
            attempts_max: 100,
            delay_first: Duration::from_millis(10),
            delay_max: Duration::from_millis(50),
            attempt_wait: Duration::from_secs(1),
        };
        let longest = |tried| Backoff { retries, tried }.longest().as_millis();
        assert_eq!([1, 2, 3, 4, 90].map(longest), [10, 20, 40, 50, 50]);
        assert!(jittered(Duration::from_millis(10)) < Duration::from_millis(10));
    }

    #[tokio::test]
    async fn tries_come_to_an_end() {
        let retries =
            Retries { attempts_max: 3, delay_first: Duration::from_nanos(1), ..Retries::default() };
        let mut backoff = Backoff::new(retries);
        assert!(backoff.pause().await);
        assert!(backoff.pause().await);
        assert!(!backoff.pause().await);
    }

    #[test]
    fn the_longest_wait_has_a_deadline() {
        assert!(deadline(Duration::MAX) > Instant::now() + Duration::from_hours(24));
        assert!(deadline(Duration::ZERO) <= Instant::now());
    }

    #[test]
    fn tokens_differ_and_fit() {
        let (one, other) = (fresh_token(), fresh_token());
        assert_ne!(one, other);
        assert_eq!(one.len(), 32);
        assert!(one.len() <= roundtable_table::limits::TOKEN_BYTES_MAX);
    }
}
