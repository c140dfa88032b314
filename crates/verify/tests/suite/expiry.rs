//! Expired items are hidden from reads (I10).

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_model::entities::Session;
use roundtable_model::table::{Clock, ManualClock};
use roundtable_model::{Expiry, samples};
use roundtable_verify::Invariant;

use crate::tampered::Tampered;
use crate::town::{BEGIN_MS, Town, at, lines, read};

fn session(ttl: Expiry) -> Session {
    Session { user_id: read("ana"), id: read("s1"), ttl, ..samples::session() }
}

#[tokio::test]
async fn a_hidden_expired_item_is_no_finding() {
    let town = Town::new().await;
    town.put(&session(Expiry::at(at(5)))).await;
    assert!(town.check().await.is_clean());
    // Expired but not yet deleted: the stream still holds it, and no read returns it.
    town.clock.advance_ms(6 * 60_000);
    assert!(town.check().await.is_clean());
}

/// A store whose clock is late returns expired items.
#[tokio::test]
async fn an_expired_item_that_is_read_is_found() {
    let town = Town::new().await;
    town.put(&session(Expiry::at(at(5)))).await;
    let ours: Arc<dyn Clock> = Arc::new(ManualClock::at_ms(BEGIN_MS + 5 * 60_000));
    let report = town.verify().clock(ours).check().await.unwrap();
    let over = BEGIN_MS / 1000 + 300;
    assert_eq!(
        lines(&report),
        [format!(
            "I10 USER#ana / SESSION#s1: expected nothing, from second {over} on; \
             found it was read at second {over}"
        )]
    );
    let just_before: Arc<dyn Clock> = Arc::new(ManualClock::at_ms(BEGIN_MS + 5 * 60_000 - 1));
    assert!(town.verify().clock(just_before).check().await.unwrap().is_clean());
}

#[tokio::test]
async fn an_expiry_that_comes_too_early_is_found() {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let backend = Tampered::new(Reference::new(clock.clone()));
    let tamper = backend.tamper();
    let town = Town::on(backend, clock).await;
    town.put(&session(Expiry::at(at(5)))).await;
    let key = roundtable_model::table::Key::new("USER#ana", "SESSION#s1");
    town.core().delete(roundtable_model::table::Delete::new(key.clone())).await.unwrap();
    assert!(town.check().await.is_clean());
    tamper.mark_expired(key);
    let report = town.check().await;
    assert_eq!(report.findings[0].invariant, Invariant::I10, "{:?}", lines(&report));
    assert_eq!(report.findings[0].expected, "an expiry of an expired item");
}
