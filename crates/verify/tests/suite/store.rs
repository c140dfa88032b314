//! What the store says about itself, damage, and the drain before a check.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use roundtable_conformance::Reference;
use roundtable_model::UserCount;
use roundtable_model::table::{Error, ManualClock};
use roundtable_verify::{Failure, Invariant};

use crate::tampered::Tampered;
use crate::town::{BEGIN_MS, Town, count as count_of, lines};

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
        Box::pin(async { Ok(7) })
    });
    assert_eq!(verify.check().await.unwrap().applied, Some(7));
    assert_eq!(drained.load(Ordering::SeqCst), 1);
    verify.repair().await.unwrap();
    assert_eq!(drained.load(Ordering::SeqCst), 2);
    town.put(&count_of("bo", UserCount::Posts, 9)).await;
    let repaired = verify.repair().await.unwrap();
    assert_eq!((repaired.mended, repaired.report.applied), (1, Some(14)), "of both rounds");
    assert_eq!(town.check().await.applied, None);
    let stuck = town.verify().drained_by(|| Box::pin(async { Err(String::from("stuck")) }));
    assert!(matches!(stuck.check().await, Err(Failure::Drain(why)) if why == "stuck"));
}

/// What is derived from damage is damage, too.
#[tokio::test]
async fn where_the_store_is_damaged_nothing_is_derived() {
    let town = Town::new().await;
    let damaged = || Err(Error::Damaged { place: "log segment 1".into(), detail: "no".into() });
    let drain = || panic!("it must not be asked");
    let report = town.verify().audited_by(damaged).drained_by(drain).check().await.unwrap();
    assert_eq!(lines(&report), ["I16 log segment 1: expected what was written; found no"]);
    assert_eq!(report.applied, None);
    assert!(report.notes.iter().any(|note| note.contains("were not let on")), "{report:?}");
}
