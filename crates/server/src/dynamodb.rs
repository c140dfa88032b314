//! The connection to DynamoDB, or to another server that speaks its API.

use std::sync::Arc;

use roundtable_dynamo::{Config, Dynamo};
use roundtable_table::{Clock, Store};

use crate::configuration::StoreSettings;

const ACCESS_KEY_VARIABLE: &str = "AWS_ACCESS_KEY_ID";

pub(crate) async fn connect(settings: &StoreSettings, clock: Arc<dyn Clock>) -> Store {
    let config = match &settings.endpoint {
        None => Config::from_env().await,
        // Development servers accept any credentials, and their users often have none.
        Some(endpoint) if is_local(endpoint) && std::env::var_os(ACCESS_KEY_VARIABLE).is_none() => {
            Config::local(endpoint)
        }
        Some(endpoint) => Config::from_env().await.endpoint(endpoint),
    };
    let config = match &settings.region {
        Some(region) => config.region(region),
        None => config,
    };
    Store::new(Dynamo::connect(config.clock(clock)))
}

fn is_local(endpoint: &str) -> bool {
    let uri = endpoint.parse::<hyper::Uri>();
    uri.is_ok_and(|uri| matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_local() {
        for local in ["http://localhost", "http://127.0.0.1:8000/", "http://[::1]:8000"] {
            assert!(is_local(local), "{local}");
        }
        for far in ["https://dynamodb.eu-west-1.amazonaws.com", "http://127.0.0.1.example.com"] {
            assert!(!is_local(far), "{far}");
        }
    }
}
