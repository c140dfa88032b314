//! How to reach DynamoDB: region, endpoint, credentials, patience and time. Reads no files of ours.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials as FixedCredentials, SharedCredentialsProvider};
use roundtable_table::{Clock, SystemClock};

/// How to reach DynamoDB.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The AWS region; `None` leaves it to the environment.
    pub region: Option<String>,
    /// The address of a server other than Amazon's, for instance DynamoDB Local.
    pub endpoint: Option<String>,
    /// Who asks.
    pub credentials: Credentials,
    /// How patient to be.
    pub retries: Retries,
    /// What time it is, for expiry.
    pub clock: Arc<dyn Clock>,
    /// How long a table may take to be made or taken away.
    pub table_wait: Duration,
    /// How long to pause between two looks at a shard that has nothing new. DynamoDB serves five
    /// looks a second at one shard, to all its readers together.
    pub stream_poll: Duration,
}

/// Who asks.
#[derive(Clone)]
pub enum Credentials {
    /// Whoever the environment says: variables, profiles, single sign-on, web identity, containers
    /// or the instance, as the AWS tools look for it.
    Environment(Box<Environment>),
    /// The holder of these keys.
    Fixed {
        /// The access key's id.
        access_key: String,
        /// The access key's secret.
        secret_key: String,
        /// The token of a session, for temporary keys.
        session_token: Option<String>,
    },
}

/// What the environment says about AWS; made by [`Config::from_env`].
#[derive(Clone)]
pub struct Environment(SdkConfig);

/// How patient to be with throttling, failures and conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// How often to send one request in all.
    pub attempts_max: u32,
    /// The longest first pause; each further one may be twice as long.
    pub delay_first: Duration,
    /// The longest pause.
    pub delay_max: Duration,
    /// How long one try may take.
    pub attempt_wait: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts_max: 8,
            delay_first: Duration::from_millis(50),
            delay_max: Duration::from_secs(5),
            attempt_wait: Duration::from_secs(10),
        }
    }
}

/// The SDK's defaults as of this date, so that an upgrade changes none of them silently.
fn behavior() -> BehaviorVersion {
    BehaviorVersion::v2026_01_12()
}

impl Config {
    /// What the environment says: region, endpoint and credentials as the AWS tools find them.
    pub async fn from_env() -> Self {
        let found = aws_config::defaults(behavior()).load().await;
        Self::with(Credentials::Environment(Box::new(Environment(found))))
    }

    /// A server on this machine, such as DynamoDB Local, that takes any credentials.
    pub fn local(endpoint: impl Into<String>) -> Self {
        let credentials = Credentials::Fixed {
            access_key: String::from("local"),
            secret_key: String::from("local"),
            session_token: None,
        };
        Self {
            region: Some(String::from("us-east-1")),
            endpoint: Some(endpoint.into()),
            stream_poll: Duration::from_millis(20),
            ..Self::with(credentials)
        }
    }

    /// Amazon's own endpoints with these credentials.
    pub fn with(credentials: Credentials) -> Self {
        Self {
            region: None,
            endpoint: None,
            credentials,
            retries: Retries::default(),
            clock: Arc::new(SystemClock),
            table_wait: Duration::from_mins(5),
            stream_poll: Duration::from_millis(250),
        }
    }

    /// This configuration in another region.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// This configuration with another server.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// This configuration with another clock.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// This configuration with other patience.
    pub const fn retries(mut self, retries: Retries) -> Self {
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
        let timeouts =
            TimeoutConfig::builder().operation_attempt_timeout(self.retries.attempt_wait).build();
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

// Keys are secrets, and the SDK's own structures say more than a log needs.
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
