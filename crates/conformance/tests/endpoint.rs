//! The suite on the DynamoDB backend, against the server that `ROUNDTABLE_DYNAMODB_ENDPOINT` names:
//!
//! ```text
//! scripts/dynamodb-local.sh cargo test -p roundtable-conformance --test endpoint
//! ```

use std::io::Write as _;

use async_trait::async_trait;
use roundtable_conformance::{KnownDeviation, Setup, TestBench, report};
use roundtable_dynamo::{Config, Dynamo};
use roundtable_table::Store;

const VARIABLE: &str = "ROUNDTABLE_DYNAMODB_ENDPOINT";

/// Requirements of the contract that a test cannot observe on DynamoDB.
const DEVIATIONS: &[KnownDeviation] = &[
    KnownDeviation {
        case: "expiry::the_sweep_removes_each_expired_item_once",
        reason: "it sweeps by its own clock, when it likes",
    },
    KnownDeviation {
        case: "expiry::the_sweep_takes_items_out_of_indexes",
        reason: "it sweeps by its own clock, when it likes",
    },
    KnownDeviation {
        case: "expiry::an_expired_item_that_is_written_over_went_for_its_age",
        reason: "it marks only what it swept itself as expired",
    },
    KnownDeviation {
        case: "tokens::a_token_is_forgotten_after_ten_minutes",
        reason: "it forgets tokens by its own clock",
    },
];

/// Differences of DynamoDB Local from DynamoDB.
const LOCAL_DEVIATIONS: &[KnownDeviation] = &[
    KnownDeviation {
        case: "paging::a_megabyte_counts_what_the_filter_drops",
        reason: "what the filter drops does not count towards the size of a page",
    },
    KnownDeviation {
        case: "capacity::a_query_that_finds_nothing_costs_one_step",
        reason: "a query that finds nothing is reported to cost nothing",
    },
    KnownDeviation {
        case: "capacity::a_transaction_costs_twice",
        reason: "transactions are reported to cost four times",
    },
    KnownDeviation {
        case: "capacity::a_transaction_pays_for_indexes_once",
        reason: "transactions are reported to cost four times",
    },
];

struct Endpoint {
    address: String,
    known_deviations: Vec<KnownDeviation>,
}

impl Endpoint {
    fn at(address: String) -> Self {
        let mut known_deviations = DEVIATIONS.to_vec();
        if is_local(&address) {
            known_deviations.extend(LOCAL_DEVIATIONS);
        }
        Self { address, known_deviations }
    }
}

/// Amazon's endpoints are never on this machine.
fn is_local(address: &str) -> bool {
    address.contains("//127.0.0.1:") || address.contains("//localhost:")
}

#[async_trait]
impl Setup for Endpoint {
    async fn bench(&self) -> TestBench {
        let clock = TestBench::clock();
        let config = if is_local(&self.address) {
            Config::local(&self.address)
        } else {
            Config::from_env().await.endpoint(&self.address)
        };
        let config = config.clock(clock.clone());
        TestBench::new(Store::new(Dynamo::connect(config)), clock)
    }

    fn known_deviations(&self) -> &[KnownDeviation] {
        &self.known_deviations
    }
}

#[test]
fn the_server_keeps_the_contract() {
    let Ok(address) = std::env::var(VARIABLE) else {
        let _ = writeln!(std::io::stderr(), "{VARIABLE} names no server: nothing to test");
        return;
    };
    assert!(report(&Endpoint::at(address)), "some cases failed");
}
