//! Unique names and their locks (I2).

use roundtable_model::UserStatus;
use roundtable_model::entities::{EmailLock, HandleLock, NickLock, User};
use roundtable_model::table::Delete;
use roundtable_verify::Invariant;

use crate::town::{Town, lines, read, user};

#[tokio::test]
async fn a_missing_lock_is_found_and_written() {
    let town = Town::new().await;
    for key in [
        EmailLock::at(&read("ana@example.com")).into_key(),
        NickLock::at(&read("bo")).into_key(),
        HandleLock::at(&read("bo_runs")).into_key(),
    ] {
        town.core().delete(Delete::new(key)).await.unwrap();
    }
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        [
            "I2 EMAIL#ana@example.com / UNIQUE#USER, USER#ana / PROFILE#ana: \
             expected a lock of ana, whose profile carries this name; found none",
            "I2 HANDLE#bo_runs / UNIQUE#USER, USER#bo / PROFILE#bo: \
             expected a lock of bo, whose profile carries this name; found none",
            "I2 NICK#bo / UNIQUE#USER, USER#bo / PROFILE#bo: \
             expected a lock of bo, whose profile carries this name; found none",
        ]
    );
    assert_eq!(town.repair_all().await, 3);
    let lock = town.tables.core.email_lock(&read("ana@example.com")).get().await.unwrap().unwrap();
    assert_eq!(lock.user_id, read("ana"));
}

#[tokio::test]
async fn an_orphaned_lock_is_found_and_deleted() {
    let town = Town::new().await;
    let (user_id, created_at) = (read("nobody"), user("ana").created_at);
    town.put(&NickLock { nickname: read("ghost"), user_id, created_at }).await;
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        ["I2 NICK#ghost / UNIQUE#USER, USER#nobody / PROFILE#nobody: \
          expected no lock: no live profile carries this name; found a lock of nobody"]
    );
    town.repair_all().await;
    assert_eq!(town.item("NICK#ghost", "UNIQUE#USER").await, None);
}

#[tokio::test]
async fn a_deleted_profile_carries_no_name() {
    let town = Town::new().await;
    let mut gone = user("cleo");
    gone.status = UserStatus::Deleted;
    town.put(&gone).await;
    let report = town.check().await;
    assert_eq!(report.totals[&Invariant::I2], 2);
    assert_eq!(town.repair_all().await, 2);
    assert_eq!(town.item("NICK#cleo", "UNIQUE#USER").await, None);
    assert_eq!(town.item("EMAIL#cleo@example.com", "UNIQUE#USER").await, None);
}

#[tokio::test]
async fn a_lock_of_another_user_goes_to_the_user_with_the_name() {
    let town = Town::new().await;
    let (user_id, created_at) = (read("bo"), user("ana").created_at);
    town.put(&EmailLock { email: read("Ana@example.com"), user_id, created_at, proved_at: None })
        .await;
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        ["I2 EMAIL#ana@example.com / UNIQUE#USER, USER#ana / PROFILE#ana, USER#bo / PROFILE#bo: \
          expected a lock of ana, whose profile carries this name; found a lock of bo"]
    );
    assert_eq!(town.repair_all().await, 1);
    let lock = town.tables.core.email_lock(&read("ana@example.com")).get().await.unwrap().unwrap();
    assert_eq!((lock.user_id, lock.email), (read("ana"), read("ana@example.com")));
}

/// Nicknames that differ in case are the same.
#[tokio::test]
async fn two_profiles_with_the_same_name_are_not_repaired() {
    let town = Town::new().await;
    let twin = User { nickname: read("ANA"), email: None, ..user("twin") };
    town.put(&twin).await;
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        ["I2 NICK#ana / UNIQUE#USER, USER#ana / PROFILE#ana, USER#twin / PROFILE#twin: \
          expected one live profile that carries this name; found ana, twin; the lock is of ana"]
    );
    assert_eq!(
        report.findings[0].unrepairable_reason(),
        Some("several users carry the name: rename all but one")
    );
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!(
        (repaired.repaired_count, repaired.unrepaired.len(), repaired.report.total()),
        (0, 1, 1)
    );
}
