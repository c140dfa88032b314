//! The quotas that uploads are charged to, against the uploads (I1).

use roundtable_model::entities::Upload;
use roundtable_model::{Expiry, UploadState, UserCount, samples};

use crate::town::{Town, at, count, lines, read};

const BYTES: &str = "I1 USER#bo / COUNTER#MEDIA_BYTES: expected count";
const PENDING: &str = "I1 USER#bo / COUNTER#PENDING_UPLOADS: expected count";

fn upload(name: &str, charged_bytes: Option<u64>, state: UploadState) -> Upload {
    let (user_id, key) = (read("bo"), read(&format!("u/bo/{name}")));
    Upload { user_id, key, charged_bytes, state, holder: None, ..samples::upload() }
}

/// Bo has a pending upload and a complete one.
async fn town() -> Town {
    let town = Town::new().await;
    town.put(&upload("one", Some(700), UploadState::Pending)).await;
    town.put(&upload("two", Some(41), UploadState::Complete)).await;
    town.put(&upload("old", None, UploadState::Complete)).await;
    town
}

async fn counted(town: &Town, counter: &str) -> Option<u64> {
    let item = town.item("USER#bo", &format!("COUNTER#{counter}")).await?;
    item.number("count")?.to_u64()
}

#[tokio::test]
async fn charges_that_are_missing_or_wrong_are_found_and_repaired() {
    let town = town().await;
    let bytes = format!("{BYTES} 741, the bytes of the uploads that are charged; found");
    let pending = format!("{PENDING} 1, the pending uploads that are charged; found");
    let none = [format!("{bytes} no such item"), format!("{pending} no such item")];
    assert_eq!(lines(&town.check().await), none);
    for (wrong_bytes, wrong_pending) in [(742, 0), (0, 7)] {
        town.put(&count("bo", UserCount::MediaBytes, wrong_bytes)).await;
        town.put(&count("bo", UserCount::PendingUploads, wrong_pending)).await;
        let found = [format!("{bytes} {wrong_bytes}"), format!("{pending} {wrong_pending}")];
        // A surplus might be expired uploads, unless those have been deleted.
        let report = town.sweeping_verifier().check().await.unwrap();
        assert_eq!(lines(&report), found);
        assert_eq!(town.repair_all().await, 2);
        assert_eq!(counted(&town, "MEDIA_BYTES").await, Some(741));
        assert_eq!(counted(&town, "PENDING_UPLOADS").await, Some(1));
    }
}

/// An expired upload counts until the store deletes it, and the stream releases it.
#[tokio::test]
async fn expired_uploads_count_until_they_are_deleted() {
    let town = town().await;
    let ttl = Some(Expiry::at(at(5)));
    town.put(&Upload { ttl, ..upload("one", Some(700), UploadState::Pending) }).await;
    town.put(&count("bo", UserCount::MediaBytes, 741)).await;
    town.put(&count("bo", UserCount::PendingUploads, 1)).await;
    assert!(town.check().await.is_clean());
    town.clock.advance_ms(6 * 60_000);
    let report = town.check().await;
    assert!(report.is_clean(), "{:?}", lines(&report));
    let note = "2 counters include expired notifications or uploads";
    assert!(report.notes.iter().any(|noted| noted.starts_with(note)), "{:?}", report.notes);
    // Once they are deleted, the count is wrong: nothing has released them here.
    let swept = town.sweeping_verifier().check().await.unwrap();
    assert_eq!(swept.total(), 2, "{:?}", lines(&swept));
}
