//! Items whose owner is gone (I6).

use roundtable_model::entities::{Job, Like, Session};
use roundtable_model::{Entity, samples};
use roundtable_verify::Invariant;

use crate::town::{Town, broken_keys, lines, read};

#[tokio::test]
async fn items_of_a_missing_user_are_found() {
    let town = Town::new().await;
    town.put(&Session { user_id: read("ghost"), id: read("s1"), ..samples::session() }).await;
    let report = town.check().await;
    let expected = "expected an item whose user exists; found the first of those left behind";
    assert_eq!(lines(&report), [format!("I6 USER#ghost / SESSION#s1: {expected}")]);
    assert!(report.findings[0].unrepairable_reason().is_some());
}

#[tokio::test]
async fn reactions_to_a_missing_post_and_by_a_missing_user_are_found() {
    let town = Town::new().await;
    let like = |post: &str, user: &str| Like {
        post_id: read(post),
        user_id: read(user),
        ..samples::like()
    };
    town.put(&like("gone", "ghost")).await;
    let report = town.check().await;
    let orphans = broken_keys(&report);
    let orphans = orphans.iter().filter(|(invariant, _)| *invariant == Invariant::I6);
    // Once in the partition of the post, once in that of the user.
    assert_eq!(orphans.count(), 2, "{:?}", lines(&report));
}

/// A purge that is still to come removes what a deleted owner left behind.
#[tokio::test]
async fn nothing_is_left_behind_while_a_purge_is_pending() {
    let town = Town::new().await;
    town.put(&Session { user_id: read("ghost"), id: read("s1"), ..samples::session() }).await;
    let job = Job { queue: read("purge"), due_at: samples::user().created_at, ..samples::job() };
    town.ops().put(job.put()).await.unwrap();
    let report = town.check().await;
    assert!(report.is_clean(), "{:?}", lines(&report));
    assert!(report.notes.iter().any(|note| note.contains("purges are pending")), "{report:?}");
}
