//! Quotas: the bytes and the pending uploads of one user.

use std::sync::Arc;

use futures::future::join_all;
use roundtable_conformance::Reference;
use roundtable_domain::{Code, MediaError, NewUpload, Refusal, Settings};
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{Entity, Tier};
use roundtable_testkit::{Town, UserAction, YieldingBackend};

use super::{announced, png, request, showing};

const PNG_BYTES: u64 = 45;

/// Room for three pictures, two of them pending.
fn small() -> Settings {
    let mut settings = Town::settings();
    settings.media.account_bytes_max = 3 * PNG_BYTES;
    settings.media.account_uploads_max = 2;
    settings
}

/// The bytes and the pending uploads that a user is charged for.
async fn charged(town: &Town, name: &str) -> [u64; 2] {
    let partition = format!("USER#{name}");
    let mut counts = [0, 0];
    for (count, counter) in counts.iter_mut().zip(["MEDIA_BYTES", "PENDING_UPLOADS"]) {
        let rows = town.rows(&partition, &format!("COUNTER#{counter}")).await;
        if let Some(row) = rows.first() {
            let number = row.split("count=").nth(1).unwrap().split(' ').next().unwrap();
            *count = number.parse().unwrap();
        }
    }
    counts
}

#[tokio::test]
async fn a_user_gets_tickets_for_no_more_than_the_quota() {
    assert_eq!(Town::picture().len() as u64, PNG_BYTES);
    let town = Town::with(small(), ["ana", "bo"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    for _ in 0..3 {
        town.upload("ana").await;
        town.settle().await;
    }
    assert_eq!(charged(&town, "ana").await, [3 * PNG_BYTES, 0]);
    let tiny = NewUpload { bytes: 1, ..png() };
    let refused = media.create_upload(&ana, &tiny, None).await.unwrap_err();
    let text = format!("the tier `free` allows at most {} bytes of files", 3 * PNG_BYTES);
    assert!(refused.to_string().starts_with(&text), "{refused}");
    assert_eq!(refused.code(), Code::QuotaExceeded);
    assert_eq!(refused.code().as_str(), "QUOTA_EXCEEDED");
    announced(&town, "bo", &png()).await;
    assert_eq!(town.rows("USER#ana", "UPLOAD#").await.len(), 3, "nothing of it is kept");
}

/// R50: a tier has quotas of its own, and the refusal names the limit and the tier.
#[tokio::test]
async fn the_tier_decides_how_much_a_user_may_upload() {
    let mut settings = small();
    settings.tiers.pro.account_bytes_max = Some(4 * PNG_BYTES);
    settings.tiers.pro.account_uploads_max = Some(10);
    settings.tiers.pro.image_bytes_max = Some(PNG_BYTES);
    settings.tiers.pro.video_bytes_max = Some(PNG_BYTES);
    let town = Town::with(settings, []).await;
    town.add_user("ana", |ana| ana.tier = Tier::Pro).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    for _ in 0..4 {
        announced(&town, "ana", &png()).await;
    }
    let refused = media.create_upload(&ana, &png(), None).await.unwrap_err();
    assert_eq!(refused.code(), Code::QuotaExceeded);
    let text = format!("the tier `pro` allows at most {} bytes of files", 4 * PNG_BYTES);
    assert!(refused.to_string().starts_with(&text), "{refused}");
    let large = NewUpload { bytes: PNG_BYTES + 1, ..png() };
    let refused = media.create_upload(&ana, &large, None).await.unwrap_err().to_string();
    assert!(refused.contains("maximum 45 for the tier `pro`"), "{refused}");
}

#[tokio::test]
async fn a_user_has_a_limited_number_of_pending_uploads() {
    let town = Town::with(small(), ["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let tiny = NewUpload { bytes: 1, ..png() };
    let first = town.send_picture("ana").await;
    announced(&town, "ana", &tiny).await;
    let refused = media.create_upload(&ana, &tiny, None).await.unwrap_err();
    let text = "the tier `free` allows at most 2 pending uploads";
    assert!(refused.to_string().starts_with(text), "{refused}");
    assert_eq!(refused.code(), Code::QuotaExceeded);
    media.complete_upload(&ana, &first, None).await.unwrap();
    town.settle().await;
    announced(&town, "ana", &tiny).await;
    assert_eq!(charged(&town, "ana").await, [PNG_BYTES + 2, 2]);
}

/// Requests that run at the same time do not get more together.
#[tokio::test]
async fn concurrent_announcements_keep_the_quota() {
    let mut settings = small();
    settings.media.account_uploads_max = 100;
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let backend = YieldingBackend::new(Reference::new(clock.clone()));
    let town = Town::on(Store::new(backend), clock, settings, 0).await;
    town.add_user("ana", |_| {}).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let input = png();
    let answers = join_all((0..10).map(|_| media.create_upload(&ana, &input, None))).await;
    let accepted = answers.iter().filter(|answer| answer.is_ok()).count();
    let is_refused = |answer: &&Result<_, MediaError>| {
        answer.as_ref().is_err_and(|refused| refused.code() == Code::QuotaExceeded)
    };
    let refused = answers.iter().filter(is_refused).count();
    assert_eq!((accepted, refused), (3, 7), "{answers:?}");
    assert_eq!(charged(&town, "ana").await, [3 * PNG_BYTES, 3]);
}

/// I8: a repeated request is charged once.
#[tokio::test]
async fn a_repeated_announcement_is_charged_once() {
    let town = Town::with(small(), ["ana"]).await;
    let (media, ana, once) = (town.media(), town.caller("ana"), request("once"));
    for _ in 0..5 {
        media.create_upload(&ana, &png(), Some(&once)).await.unwrap();
    }
    town.settle().await;
    assert_eq!(charged(&town, "ana").await, [PNG_BYTES, 1]);
}

/// A file that was refused, or is deleted with its post, takes no bytes.
#[tokio::test]
async fn refused_and_deleted_files_are_released() {
    let town = Town::with(small(), ["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let ticket = announced(&town, "ana", &png()).await;
    town.media_store().put_incoming(&ticket.key, &[b'<'; 45]);
    let refused = media.complete_upload(&ana, &ticket.key, None).await;
    assert!(matches!(refused, Err(MediaError::DeclarationMismatch)), "{refused:?}");
    town.settle().await;
    assert_eq!(charged(&town, "ana").await, [0, 0]);

    let picture = town.upload("ana").await;
    let post = town.post_as("ana", showing(vec![Town::as_new_media(&picture)])).await;
    town.settle().await;
    assert_eq!(charged(&town, "ana").await, [PNG_BYTES, 0]);
    town.posts().delete(&ana, &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(charged(&town, "ana").await, [0, 0]);
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// I6: without its checkpoint, the processor reads everything again and releases nothing twice.
#[tokio::test]
async fn redelivered_changes_release_nothing_twice() {
    let town = Town::of(["ana"]).await;
    let ana = town.caller("ana");
    let (gone, _kept) = (town.upload("ana").await, town.upload("ana").await);
    let post = town.post_as("ana", showing(vec![Town::as_new_media(&gone)])).await;
    town.posts().delete(&ana, &post.id, None).await.unwrap();
    announced(&town, "ana", &png()).await;
    town.settle().await;
    assert_eq!(charged(&town, "ana").await, [2 * PNG_BYTES, 1]);
    let (ops, counters) = (town.context().ops(), "counters".parse().unwrap());
    for checkpoint in ops.checkpoints(&counters).all().await.unwrap() {
        ops.table().delete(checkpoint.key().delete()).await.unwrap();
    }
    town.settle().await;
    assert_eq!(charged(&town, "ana").await, [2 * PNG_BYTES, 1]);
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// An upload that expires is released once the store has deleted it: pending, or complete and unused.
#[tokio::test]
async fn expired_files_are_released() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let reference = Arc::new(Reference::new(clock.clone()));
    let store = Store::shared(reference.clone());
    let town = Town::on(store, clock, small(), 0).await;
    town.add_user("ana", |_| {}).await;
    announced(&town, "ana", &png()).await;
    town.upload("ana").await;
    town.settle().await;
    assert_eq!(charged(&town, "ana").await, [2 * PNG_BYTES, 1]);
    for (hours, left) in [(2, [PNG_BYTES, 0]), (24, [0, 0])] {
        town.advance_ms(hours * 60 * 60 * 1_000);
        assert_eq!(reference.sweep(), 1);
        town.settle().await;
        assert_eq!(charged(&town, "ana").await, left);
    }
}

/// The counters go with the account.
#[tokio::test]
async fn a_deleted_account_leaves_no_charge() {
    let town = Town::of(["bo"]).await;
    let ana = town.sign_up("ana").await.caller;
    town.media().create_upload(&ana, &png(), None).await.unwrap();
    let partition = format!("USER#{}", ana.user_id);
    assert_eq!(town.rows(&partition, "COUNTER#MEDIA_BYTES").await.len(), 1);
    let deletion = UserAction::DeleteAccount("ana".parse().unwrap());
    town.perform(&ana, &deletion, None).await.unwrap();
    for _ in 0..3 {
        town.settle().await;
        town.advance_ms(60 * 60 * 1_000);
    }
    assert_eq!(town.rows(&partition, "").await, Vec::<String>::new());
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// Files from before there were quotas take none, and none is released with them.
#[tokio::test]
async fn files_that_were_never_charged_are_not_released() {
    let town = Town::of(["ana"]).await;
    let old = roundtable_domain::NewMedia {
        s3_key: "u/ana/old".parse().unwrap(),
        content_type: "image/png".into(),
        width: Some(3),
        height: Some(2),
    };
    let old = town.add_upload("ana", old).await;
    let post = town.post_as("ana", showing(vec![old])).await;
    town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(charged(&town, "ana").await, [0, 0]);
    assert!(town.rows("USER#ana", "UPLOAD#").await.is_empty());
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// The server accepts the bytes of a pending upload only.
#[tokio::test]
async fn bytes_are_awaited_until_the_upload_is_complete_or_refused() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let [complete, refused] = [town.send_picture("ana").await, town.send_picture("ana").await];
    assert_eq!(media.awaiting_owner(&complete).await.unwrap(), ana.user_id);
    media.complete_upload(&ana, &complete, None).await.unwrap();
    town.media_store().put_incoming(&refused, &[b'<'; 45]);
    media.complete_upload(&ana, &refused, None).await.unwrap_err();
    for key in [&complete, &refused] {
        let closed = media.awaiting_owner(key).await.unwrap_err();
        assert_eq!(closed.code(), Code::Conflict, "{closed:?}");
    }
    let pending = town.send_picture("ana").await;
    town.set_status("ana", roundtable_model::UserStatus::Suspended).await;
    media.awaiting_owner(&pending).await.unwrap_err();
}
