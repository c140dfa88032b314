//! The configuration of a DynamoDB connection: region, endpoint, credentials, retries and clock.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials as FixedCredentials, SharedCredentialsProvider};
use roundtable_table::{Clock, SystemClock};

/// The configuration of a DynamoDB connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The AWS region; `None` takes it from the environment.
    pub region: Option<String>,
    /// URL of a server other than Amazon's, for instance DynamoDB Local.
    pub endpoint: Option<String>,
    pub credentials: Credentials,
    pub retries: RetryPolicy,
    /// Decides which items are expired.
    pub clock: Arc<dyn Clock>,
    /// Longest wait for a table to be created or deleted.
    pub table_timeout: Duration,
    /// Pause between two reads of a shard without new changes. DynamoDB allows five reads per second
    /// of one shard, for all its readers together.
    pub stream_poll_interval: Duration,
}

#[derive(Clone)]
pub enum Credentials {
    /// From the environment, as the AWS tools find them: variables, profiles, single sign-on, web
    /// identity, containers or the instance.
    Environment(Box<Environment>),
    Fixed {
        access_key: String,
        secret_key: String,
        /// Session token, for temporary keys.
        session_token: Option<String>,
    },
}

/// The AWS settings of the environment, loaded by [`Config::from_env`].
#[derive(Clone)]
pub struct Environment(SdkConfig);

/// The retry policy for throttling, failures and conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Total number of attempts.
    pub attempts_max: u32,
    /// Upper bound of the first pause; it doubles with each attempt.
    pub delay_first: Duration,
    /// Upper bound of all pauses.
    pub delay_max: Duration,
    pub attempt_timeout: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts_max: 8,
            delay_first: Duration::from_millis(50),
            delay_max: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(10),
        }
    }
}

/// Pins the SDK's defaults, so that an upgrade does not change them silently.
fn behavior() -> BehaviorVersion {
    BehaviorVersion::v2026_01_12()
}

impl Config {
    /// Loads region, endpoint and credentials from the environment, as the AWS tools do.
    pub async fn from_env() -> Self {
        let found = aws_config::defaults(behavior()).load().await;
        Self::with(Credentials::Environment(Box::new(Environment(found))))
    }

    /// A server on this machine that accepts any credentials, such as DynamoDB Local.
    pub fn local(endpoint: impl Into<String>) -> Self {
        let credentials = Credentials::Fixed {
            access_key: String::from("local"),
            secret_key: String::from("local"),
            session_token: None,
        };
        Self {
            region: Some(String::from("us-east-1")),
            endpoint: Some(endpoint.into()),
            stream_poll_interval: Duration::from_millis(20),
            ..Self::with(credentials)
        }
    }

    /// Amazon's own endpoints with these credentials.
    pub fn with(credentials: Credentials) -> Self {
        Self {
            region: None,
            endpoint: None,
            credentials,
            retries: RetryPolicy::default(),
            clock: Arc::new(SystemClock),
            table_timeout: Duration::from_mins(5),
            stream_poll_interval: Duration::from_millis(250),
        }
    }

    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    pub const fn retries(mut self, retries: RetryPolicy) -> Self {
        self.retries = retries;
        self
    }

    pub(crate) fn sdk(&self) -> SdkConfig {
        let base = match &self.credentials {
            Credentials::Environment(environment) => environment.0.to_builder(),
            Credentials::Fixed { access_key, secret_key, session_token } => {
                let keys = FixedCredentials::new(
                    access_key,
                    secret_key,
                    session_token.clone(),
                    None,
                    "roundtable",
                );
                SdkConfig::builder()
                    .behavior_version(behavior())
                    .credentials_provider(SharedCredentialsProvider::new(keys))
            }
        };
        let retries = RetryConfig::standard()
            .with_max_attempts(self.retries.attempts_max.max(1))
            .with_initial_backoff(self.retries.delay_first)
            .with_max_backoff(self.retries.delay_max);
        let timeouts = TimeoutConfig::builder()
            .operation_attempt_timeout(self.retries.attempt_timeout)
            .build();
        let mut sdk = base.retry_config(retries).timeout_config(timeouts);
        if let Some(region) = &self.region {
            sdk.set_region(Region::new(region.clone()));
        }
        if let Some(endpoint) = &self.endpoint {
            sdk.set_endpoint_url(Some(endpoint.clone()));
        }
        sdk.build()
    }
}

// Keys are secrets, and the SDK's own output is too long for a log.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(_) => f.write_str("from the environment"),
            Self::Fixed { .. } => f.write_str("fixed"),
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}
