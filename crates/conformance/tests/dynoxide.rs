//! The suite on the DynamoDB backend, against a server in this process.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its store has failed")]

use std::sync::OnceLock;

use async_trait::async_trait;
use dynoxide::Database;
use roundtable_conformance::{KnownDeviation, Setup, TestBench};
use roundtable_dynamo::{Config, Dynamo};
use roundtable_table::Store;

struct Dynoxide;

/// Differences of dynoxide 3.2 from DynamoDB.
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
        reason: "it marks only what it swept itself as expired, as DynamoDB does",
    },
    KnownDeviation {
        case: "expiry::an_update_over_an_expired_item_has_no_old_image",
        reason: "the old image of an update that makes an item is the bare key, not nothing",
    },
    KnownDeviation {
        case: "updates::an_update_that_makes_an_item_has_no_old_image",
        reason: "the old image of an update that makes an item is the bare key, not nothing",
    },
    KnownDeviation {
        case: "streams::an_unknown_shard_is_an_error",
        reason: "a shard that never was reads as an empty one",
    },
    KnownDeviation {
        case: "tables::the_stream_of_a_table_made_again_starts_afresh",
        reason: "the stream of a table made again still shows the changes of the one before",
    },
    KnownDeviation {
        case: "tokens::a_token_is_forgotten_after_ten_minutes",
        reason: "it forgets tokens by its own clock",
    },
];

#[async_trait]
impl Setup for Dynoxide {
    async fn bench(&self) -> TestBench {
        let clock = TestBench::clock();
        let config = Config::local(address()).clock(clock.clone());
        TestBench::new(Store::new(Dynamo::connect(config)), clock)
    }

    fn known_deviations(&self) -> &[KnownDeviation] {
        DEVIATIONS
    }
}

/// The address of the one server of this process, started on first use.
fn address() -> &'static str {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| {
        let (send, receive) = std::sync::mpsc::channel();
        // Each case has its own runtime; the server must outlive them.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                send.send(listener.local_addr().unwrap()).unwrap();
                dynoxide::server::serve_on(listener, Database::memory().unwrap()).await;
            });
        });
        format!("http://{}", receive.recv().unwrap())
    })
}

roundtable_conformance::suite!(Dynoxide);
