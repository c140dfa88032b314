//! The stream: in order, chained, and ending in the stored items (I4).

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_model::UserCount;
use roundtable_model::table::{Key, ManualClock, Update};
use roundtable_verify::Invariant;

use crate::tampered::{Tamper, Tampered};
use crate::town::{BEGIN_MS, Town, broken_keys, count, lines};

async fn town() -> (Town, Tamper) {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let backend = Tampered::new(Reference::new(clock.clone()));
    let tamper = backend.tamper();
    let town = Town::on(backend, clock).await;
    // Write the counter twice more, so that images chain.
    town.put(&count("bo", UserCount::Posts, 4)).await;
    town.put(&count("bo", UserCount::Posts, 1)).await;
    assert!(town.check().await.is_clean());
    (town, tamper)
}

fn bo() -> Key {
    Key::new("USER#bo", "COUNTER#POSTS")
}

#[tokio::test]
async fn a_doubled_record_is_found() {
    let (town, tamper) = town().await;
    tamper.double(bo(), false);
    let report = town.check().await;
    let found = lines(&report);
    assert!(
        found.iter().any(|line| line.starts_with("I4 USER#bo / COUNTER#POSTS at ")
            && line.contains("expected a change after ")),
        "{found:?}"
    );
    assert!(found.iter().all(|line| line.starts_with("I4 USER#bo / COUNTER#POSTS")), "{found:?}");
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!(repaired.repaired_count, 0);
    assert!(repaired.unrepaired.iter().all(|left| left.reason.contains("never rewritten")));
}

/// The same record under two numbers is in order, but does not chain.
#[tokio::test]
async fn a_doubled_record_under_another_number_is_found() {
    let (town, tamper) = town().await;
    tamper.double(bo(), true);
    let report = town.check().await;
    let found = lines(&report);
    assert!(!found.is_empty());
    let chain = "expected the new image of the previous change; found another image";
    assert!(
        found.iter().all(|line| line.ends_with(chain) || line.contains("no item")),
        "{found:?}"
    );
    assert!(
        found.iter().all(|line| line.starts_with("I4 USER#bo / COUNTER#POSTS at ")),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_lost_record_is_found() {
    let (town, tamper) = town().await;
    tamper.lose(bo(), 1);
    let report = town.check().await;
    let [line] = &lines(&report)[..] else { panic!("{:?}", lines(&report)) };
    assert!(line.starts_with("I4 USER#bo / COUNTER#POSTS at "), "{line}");
    assert!(line.contains("the new image of the previous change"), "{line}");
}

#[tokio::test]
async fn a_stream_that_does_not_end_in_what_is_stored_is_found() {
    let (town, tamper) = town().await;
    tamper.lose(bo(), 2);
    let report = town.check().await;
    let expected =
        "I4 USER#bo / COUNTER#POSTS: expected the last image of the stream; found another item";
    assert_eq!(lines(&report), [expected]);
}

/// After the oldest changes were trimmed, the rest must still chain.
#[tokio::test]
async fn a_stream_without_its_beginning_is_no_finding() {
    let (town, tamper) = town().await;
    tamper.lose(bo(), 0);
    assert!(town.check().await.is_clean());
}

#[tokio::test]
async fn removals_are_part_of_the_chain() {
    let (town, tamper) = town().await;
    let key = Key::new("POST#p1", "LIKE#ana");
    town.core().delete(roundtable_model::table::Delete::new(key.clone())).await.unwrap();
    town.put(&crate::town::like("ana")).await;
    town.update(Update::new(key.clone()).set("note", "again")).await;
    assert!(town.check().await.is_clean());
    tamper.lose(key, 1);
    let report = town.check().await;
    assert_eq!(report.totals.keys().copied().collect::<Vec<_>>(), [Invariant::I4]);
    assert!(broken_keys(&report)[0].1.starts_with("POST#p1 / LIKE#ana at "), "{report:?}");
}
