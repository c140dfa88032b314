//! The store's own audit, damage, and the drain before a check.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use roundtable_conformance::Reference;
use roundtable_model::UserCount;
use roundtable_model::table::{Error, ManualClock};
use roundtable_verify::{Invariant, VerifyError};

use crate::tampered::Tampered;
use crate::town::{BEGIN_MS, Town, count as count_of, lines};

#[tokio::test]
async fn findings_of_the_store_audit_are_reported() {
    let town = Town::new().await;
    let verify = town.verify().audit_with(|| Ok(vec![String::from("an entry leads nowhere")]));
    let report = verify.check().await.unwrap();
    assert_eq!(
        lines(&report),
        ["I5 gg_core: expected table, indexes and stream that agree; found an entry leads nowhere"]
    );
    assert!(report.checked.contains(&Invariant::I16));
    let damaged = || Err(Error::Damaged { location: "log segment 1".into(), detail: "no".into() });
    let report = town.verify().audit_with(damaged).check().await.unwrap();
    assert_eq!(lines(&report), ["I16 log segment 1: expected intact data; found no"]);
}

#[tokio::test]
async fn damage_is_a_finding_and_the_check_goes_on() {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let backend = Tampered::new(Reference::new(clock.clone()));
    let tamper = backend.tamper();
    let town = Town::on(backend, clock).await;
    tamper.damage(Some("GSI2"));
    let report = town.check().await;
    assert_eq!(lines(&report), ["I16 GSI2: expected intact data; found damage"]);
    tamper.damage(None);
    let report = town.check().await;
    assert_eq!(lines(&report), ["I16 the table: expected intact data; found damage"]);
    assert!(report.notes.iter().any(|note| note.contains("the rest was not checked")));
}

#[tokio::test]
async fn processors_finish_before_every_check() {
    let town = Town::new().await;
    let drained = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&drained);
    let verify = town.verify().drain_with(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(7) })
    });
    assert_eq!(verify.check().await.unwrap().changes_applied, Some(7));
    assert_eq!(drained.load(Ordering::SeqCst), 1);
    verify.repair().await.unwrap();
    assert_eq!(drained.load(Ordering::SeqCst), 2);
    town.put(&count_of("bo", UserCount::Posts, 9)).await;
    let repaired = verify.repair().await.unwrap();
    assert_eq!(
        (repaired.repaired_count, repaired.report.changes_applied),
        (1, Some(14)),
        "of both rounds"
    );
    assert_eq!(town.check().await.changes_applied, None);
    let failing = town.verify().drain_with(|| Box::pin(async { Err(String::from("stuck")) }));
    assert!(matches!(failing.check().await, Err(VerifyError::Drain(why)) if why == "stuck"));
}

/// Data derived from damaged data is damaged, too.
#[tokio::test]
async fn processors_do_not_run_on_a_damaged_store() {
    let town = Town::new().await;
    let damaged = || Err(Error::Damaged { location: "log segment 1".into(), detail: "no".into() });
    let drain = || panic!("it must not be asked");
    let report = town.verify().audit_with(damaged).drain_with(drain).check().await.unwrap();
    assert_eq!(lines(&report), ["I16 log segment 1: expected intact data; found no"]);
    assert_eq!(report.changes_applied, None);
    assert!(report.notes.iter().any(|note| note.contains("did not run")), "{report:?}");
}
