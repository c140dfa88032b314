//! What the store says about itself, damage, and the drain before a check.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use roundtable_conformance::Reference;
use roundtable_model::table::{Error, ManualClock};
use roundtable_verify::{Failure, Invariant};

use crate::tampered::Tampered;
use crate::town::{BEGIN_MS, Town, lines};

#[tokio::test]
async fn what_the_store_finds_is_part_of_the_report() {
    let town = Town::new().await;
    let verify = town.verify().audited_by(|| Ok(vec![String::from("an entry leads nowhere")]));
    let report = verify.check().await.unwrap();
    assert_eq!(
        lines(&report),
        ["I5 gg_core: expected base, indexes and stream that agree; found an entry leads nowhere"]
    );
    assert!(report.checked.contains(&Invariant::I16));
    let damaged = || Err(Error::Damaged { place: "log segment 1".into(), detail: "no".into() });
    let report = town.verify().audited_by(damaged).check().await.unwrap();
    assert_eq!(lines(&report), ["I16 log segment 1: expected what was written; found no"]);
}

#[tokio::test]
async fn damage_is_a_finding_and_not_the_end() {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let backend = Tampered::new(Reference::new(clock.clone()));
    let tamper = backend.tamper();
    let town = Town::on(backend, clock).await;
    tamper.damage(Some("GSI2"));
    let report = town.check().await;
    assert_eq!(lines(&report), ["I16 GSI2: expected what was written; found damage"]);
    tamper.damage(None);
    let report = town.check().await;
    assert_eq!(lines(&report), ["I16 the table: expected what was written; found damage"]);
    assert!(report.notes.iter().any(|note| note.contains("the rest was not checked")));
}

#[tokio::test]
async fn processors_finish_before_every_look() {
    let town = Town::new().await;
    let drained = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&drained);
    let verify = town.verify().drained_by(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(()) })
    });
    verify.check().await.unwrap();
    assert_eq!(drained.load(Ordering::SeqCst), 1);
    verify.repair().await.unwrap();
    assert_eq!(drained.load(Ordering::SeqCst), 2);
    let stuck = town.verify().drained_by(|| Box::pin(async { Err(String::from("stuck")) }));
    assert!(matches!(stuck.check().await, Err(Failure::Drain(why)) if why == "stuck"));
}
