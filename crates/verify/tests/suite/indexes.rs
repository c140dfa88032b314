//! Index keys against the fields they follow from, and indexes against items (I3).

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_model::entities::{Follow, Post, Task};
use roundtable_model::table::{Key, ManualClock, Update};
use roundtable_model::{Entity, UserCount, samples};

use crate::tampered::Tampered;
use crate::town::{BEGIN_MS, Town, broken_keys, lines, post, read};
use roundtable_verify::Invariant;

#[tokio::test]
async fn a_stale_index_key_is_found_and_rewritten() {
    let town = Town::new().await;
    let key = Follow::at(&read("ana"), &read("bo"));
    town.update(Update::new(key).set("GSI3SK", "ENTITY#Following#old#bo")).await;
    let report = town.check().await;
    let [line] = &lines(&report)[..] else { panic!("{:?}", lines(&report)) };
    assert!(
        line.starts_with(
            "I3 USER#ana / FOLLOWING#bo: expected USER#ana / ENTITY#Following#2025-01-27T15:31:00.000Z#bo \
             in GSI3; found USER#ana / ENTITY#Following#old#bo"
        ),
        "{line}"
    );
    assert_eq!(town.repair_all().await, 1);
}

#[tokio::test]
async fn unexpected_index_keys_are_removed() {
    let town = Town::new().await;
    let mut task: Task = samples::task();
    (task.due_at, task.done) = (None, false);
    town.put(&task).await;
    assert!(town.check().await.is_clean());
    town.update(Update::new(task.key()).set("GSI2PK", "DUE#20250101").set("GSI2SK", "x")).await;
    let report = town.check().await;
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.findings[0].expected, "nothing in GSI2");
    town.repair_all().await;
    let item = town.core().get(roundtable_model::table::Get::new(task.key())).await.unwrap().item;
    assert_eq!(item, Some(task.item()));
}

/// Without its keys a post is in no list.
#[tokio::test]
async fn lost_index_keys_are_written_again() {
    let town = Town::new().await;
    let lost = ["GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK"];
    let update = lost.into_iter().fold(Update::new(Post::at(&read("p1"))), Update::remove);
    town.update(update).await;
    let report = town.check().await;
    let here = (Invariant::I3, "POST#p1 / POST");
    assert_eq!(broken_keys(&report), [here; 3]);
    assert_eq!(town.repair_all().await, 1);
    assert_eq!(town.tables.core.post(&read("p1")).get().await.unwrap(), Some(post()));
}

/// The store has lost an entry: writing the item unchanged would not restore it.
#[tokio::test]
async fn a_lost_index_entry_is_found_and_restored() {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let backend = Tampered::new(Reference::new(clock.clone()));
    let tamper = backend.tamper();
    let town = Town::on(backend, clock).await;
    tamper.hide("GSI1", Key::new("POST#p1", "LIKE#ana"));
    let report = town.check().await;
    let [line] = &lines(&report)[..] else { panic!("{:?}", lines(&report)) };
    let begin = "I3 POST#p1 / LIKE#ana: expected USER#ana / LIKE#";
    assert!(line.starts_with(begin) && line.ends_with("#p1 in GSI1; found nothing"), "{line}");
    assert_eq!(town.repair_all().await, 1);
}

/// The store loses the entry again and again: the repair gives up, and does not recount by that
/// index.
#[tokio::test]
async fn a_repair_without_effect_is_not_repeated_forever() {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let backend = Tampered::new(Reference::new(clock.clone()));
    let tamper = backend.tamper();
    let town = Town::on(backend, clock).await;
    tamper.hide_forever("GSI1", Key::new("USER#ana", "FOLLOWING#bo"));
    town.put(&crate::town::count("bo", UserCount::Followers, 1)).await;
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!(repaired.report.total(), 2, "{:?}", lines(&repaired.report));
    assert_eq!(repaired.unrepaired.len(), 2, "{:?}", repaired.unrepaired);
    let counter = town.item("USER#bo", "COUNTER#FOLLOWERS").await.unwrap();
    assert_eq!(counter.number("count").unwrap().to_u64(), Some(1));
}

/// Only the store could remove the entry.
#[tokio::test]
async fn an_entry_without_an_item_is_found_and_left() {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let backend = Tampered::new(Reference::new(clock.clone()));
    let tamper = backend.tamper();
    let town = Town::on(backend, clock).await;
    let ghost = crate::town::like("ghost").item();
    tamper.show("GSI1", ghost);
    let report = town.check().await;
    let [line, left] = &lines(&report)[..] else { panic!("{:?}", lines(&report)) };
    assert!(
        line.starts_with("I3 POST#p1 / LIKE#ghost: expected nothing in GSI1; found USER#ghost")
    );
    assert!(left.starts_with("I6 POST#p1 / LIKE#ghost: expected an item whose user exists"));
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!((repaired.repaired_count, repaired.unrepaired.len()), (0, 2));
    assert!(
        repaired.unrepaired[0].reason.contains("restore a backup"),
        "{:?}",
        repaired.unrepaired
    );
}

#[tokio::test]
async fn an_entry_with_other_content_is_found() {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let backend = Tampered::new(Reference::new(clock.clone()));
    let tamper = backend.tamper();
    let town = Town::on(backend, clock).await;
    tamper.hide("GSI1", Key::new("POST#p1", "LIKE#ana"));
    tamper.show("GSI1", crate::town::like("ana").item().with("likeType", "laugh"));
    let report = town.check().await;
    // The shown entry is not in the order of a scan, so the check of owners sees it alone.
    let [line, _] = &lines(&report)[..] else { panic!("{:?}", lines(&report)) };
    assert!(
        line.starts_with("I3 POST#p1 / LIKE#ana") && line.ends_with("with other content"),
        "{line}"
    );
}
