//! Uploads.

use roundtable_domain::{Code, MediaError, NewUpload, PostError, Refusal};
use roundtable_model::UserStatus;
use roundtable_testkit::Town;

use super::{announced, png, request, sees, showing};

/// R43: a file is announced, uploaded, inspected, and described by its bytes.
#[tokio::test]
async fn a_picture_is_uploaded() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let ticket = announced(&town, "ana", &png()).await;
    assert_eq!((ticket.method, ticket.headers["content-type"].as_str()), ("PUT", "image/png"));
    assert_eq!(ticket.expires_at, town.now().plus_ms(15 * 60 * 1_000));
    let early = media.complete_upload(&ana, &ticket.key, None).await;
    assert!(matches!(early, Err(MediaError::NotUploaded)), "{early:?}");
    town.media_store().put_incoming(&ticket.key, &Town::picture());
    let picture = media.complete_upload(&ana, &ticket.key, None).await.unwrap();
    assert_eq!((&picture.s3_key, picture.content_type.as_str()), (&ticket.key, "image/png"));
    assert_eq!((picture.width, picture.height), (Some(3), Some(2)));
    // Hours later its owner can still use it.
    town.advance_ms(23 * 60 * 60 * 1_000);
    town.settle().await;
    media.url(Some(&ana), &picture.s3_key).await.unwrap();
}

/// R43: an unused upload expires after a day; a used one stays.
#[tokio::test]
async fn unused_uploads_expire() {
    let town = Town::of(["ana"]).await;
    let (used, unused) = (town.upload("ana").await, town.upload("ana").await);
    town.post_as("ana", showing(vec![Town::as_new_media(&used)])).await;
    town.advance_ms(25 * 60 * 60 * 1_000);
    assert!(sees(&town, None, &used.s3_key).await);
    assert!(!sees(&town, Some(&town.caller("ana")), &unused.s3_key).await);
    let late = showing(vec![Town::as_new_media(&unused)]);
    let late = town.posts().create(&town.caller("ana"), &late, None).await;
    assert!(matches!(late, Err(PostError::NoSuchMedia)), "{late:?}");
}

/// R43: keys cannot be chosen or guessed, and are unique.
#[tokio::test]
async fn keys_are_random() {
    let town = Town::of(["ana"]).await;
    let (one, other) =
        (announced(&town, "ana", &png()).await, announced(&town, "ana", &png()).await);
    assert_ne!(one.key, other.key);
    let name = one.key.as_str().strip_prefix("u/ana/").unwrap();
    assert_eq!(name.len(), 32, "160 bits: {name}");
    assert!(!format!("{one:?}").contains(&one.upload_url), "an address opens a door");
}

/// R43: other types and files that are too large are refused when announced.
#[tokio::test]
async fn invalid_uploads_are_refused() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let most = town.context().settings().media.image_bytes_max;
    let wrong = [
        ("image/svg+xml", 100),
        ("text/html", 100),
        ("application/pdf", 100),
        ("image/PNG", 100),
        ("image/png; x=y", 100),
        ("", 100),
        ("image/png", 0),
        ("image/png", most + 1),
        ("video/mp4", u64::MAX),
    ];
    for (content_type, bytes) in wrong {
        let input = NewUpload { content_type: content_type.into(), bytes, purpose: None };
        let refused = media.create_upload(&ana, &input, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest, "{input:?}");
    }
    let large = NewUpload { content_type: "video/mp4".into(), bytes: most + 1, purpose: None };
    announced(&town, "ana", &large).await;
    let stranger = media.create_upload(&town.caller("nobody"), &png(), None).await;
    assert_eq!(stranger.unwrap_err().code(), Code::Unauthenticated);
    town.set_status("ana", UserStatus::Suspended).await;
    let suspended = media.create_upload(&ana, &png(), None).await;
    assert_eq!(suspended.unwrap_err().code(), Code::Forbidden);
}

/// R43: a file that does not match its declaration is refused and deleted.
#[tokio::test]
async fn mismatched_files_are_refused_and_deleted() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let picture = Town::picture();
    let mut wide = picture.clone();
    wide[16..20].copy_from_slice(&40_000u32.to_be_bytes());
    let mut flat = picture.clone();
    flat[20..24].fill(0);
    let html = [b"<script>alert(1)</script>".as_slice(), &picture].concat();
    let gif = [b"GIF89a\x03\0\x02\0".as_slice(), &picture[10..]].concat();
    let cut = picture[..8].iter().chain(&[0; 38]).copied().collect();
    for wrong in [wide, flat, html[..picture.len()].to_vec(), gif, cut, picture[1..].to_vec()] {
        let ticket = announced(&town, "ana", &png()).await;
        town.media_store().put_incoming(&ticket.key, &wrong);
        let refused = media.complete_upload(&ana, &ticket.key, None).await;
        assert!(matches!(refused, Err(MediaError::DeclarationMismatch)), "{refused:?}");
        assert_eq!(town.media_store().count(), 0, "its bytes are deleted");
        assert!(town.rows("USER#ana", "UPLOAD#").await.is_empty());
        let again = media.complete_upload(&ana, &ticket.key, None).await;
        assert!(matches!(again, Err(MediaError::NoSuchUpload)), "{again:?}");
    }
}

/// R43: the inspected copy is shown, even if another file is uploaded afterwards.
#[tokio::test]
async fn later_uploads_are_not_shown() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let picture = town.upload("ana").await;
    let mut other = Town::picture();
    other.reverse();
    town.media_store().put_incoming(&picture.s3_key, &other);
    let again = media.complete_upload(&ana, &picture.s3_key, None).await.unwrap();
    assert_eq!(again, picture);
    let shown = media.url(Some(&ana), &picture.s3_key).await.unwrap();
    assert_eq!(town.media_store().fetch(&shown.url).unwrap(), Town::picture());
}

/// R43: two concurrent completions get the same answer, and one copy stays.
#[tokio::test]
async fn concurrent_completions_keep_one_copy() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let key = town.send_picture("ana").await;
    let (one, other) = tokio::join!(
        media.complete_upload(&ana, &key, None),
        media.complete_upload(&ana, &key, None)
    );
    assert_eq!(one.unwrap(), other.unwrap());
    assert_eq!(town.media_store().count(), 2, "what was sent, and the copy that is shown");
}

/// R43: an upload that is not completed in time is deleted with its bytes.
#[tokio::test]
async fn incomplete_uploads_expire() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let key = town.send_picture("ana").await;
    town.advance_ms(74 * 60 * 1_000);
    assert!(!town.rows("USER#ana", "UPLOAD#").await.is_empty(), "an hour later it may still");
    town.advance_ms(2 * 60 * 1_000);
    let late = media.complete_upload(&ana, &key, None).await;
    assert!(matches!(late, Err(MediaError::NoSuchUpload)), "{late:?}");
}

/// R32, I8: repeated with the same requests, it is one file.
#[tokio::test]
async fn requests_are_idempotent() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let (first, then) = (request("first"), request("then"));
    let ticket = media.create_upload(&ana, &png(), Some(&first)).await.unwrap();
    town.advance_ms(60_000);
    let again = media.create_upload(&ana, &png(), Some(&first)).await.unwrap();
    assert_eq!((&again.key, again.expires_at), (&ticket.key, ticket.expires_at));
    let other = NewUpload { content_type: "image/gif".into(), bytes: 40, purpose: None };
    let mismatch = media.create_upload(&ana, &other, Some(&first)).await.unwrap_err();
    assert_eq!(mismatch.code(), Code::IdempotencyMismatch);
    town.media_store().put_incoming(&ticket.key, &Town::picture());
    let picture = media.complete_upload(&ana, &ticket.key, Some(&then)).await.unwrap();
    let same = media.complete_upload(&ana, &ticket.key, Some(&then)).await.unwrap();
    assert_eq!(same, picture);
    assert_eq!(town.rows("USER#ana", "UPLOAD#").await.len(), 1);
    let spent = media.create_upload(&ana, &png(), Some(&first)).await;
    assert!(matches!(spent, Err(MediaError::UploadExpired)), "{spent:?}");
    let third = request("third");
    media.create_upload(&ana, &png(), Some(&third)).await.unwrap();
    town.advance_ms(2 * 60 * 60 * 1_000);
    let late = media.create_upload(&ana, &png(), Some(&third)).await.unwrap_err();
    assert_eq!(late.code(), Code::Conflict, "given up, it does not begin anew by itself");
}

/// R43: a rejection does not depend on deleting the bytes; that happens later.
#[tokio::test]
async fn a_rejection_does_not_wait_for_the_deletion() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let ticket = announced(&town, "ana", &png()).await;
    town.media_store().put_incoming(&ticket.key, &[b'<'; 4]);
    town.media_store().set_undeletable(true);
    let refused = media.complete_upload(&ana, &ticket.key, None).await;
    assert!(matches!(refused, Err(MediaError::DeclarationMismatch)), "{refused:?}");
    assert_eq!(
        town.media_store().count(),
        1,
        "and nothing was copied that is not as long as it should be"
    );
    town.media_store().set_undeletable(false);
    town.settle().await;
    assert_eq!(town.media_store().count(), 0);
}

/// R43: other users' files do not exist.
#[tokio::test]
async fn other_users_uploads_cannot_be_completed() {
    let town = Town::of(["ana", "bo"]).await;
    let key = town.send_picture("ana").await;
    let theirs = town.media().complete_upload(&town.caller("bo"), &key, None).await;
    assert!(matches!(theirs, Err(MediaError::NoSuchUpload)), "{theirs:?}");
    town.media().complete_upload(&town.caller("ana"), &key, None).await.unwrap();
}

/// R43: an unavailable store accepts nothing and loses nothing.
#[tokio::test]
async fn an_unavailable_store_changes_nothing() {
    let town = Town::of(["ana"]).await;
    let (media, ana) = (town.media(), town.caller("ana"));
    let key = town.send_picture("ana").await;
    town.media_store().set_unavailable(true);
    let refused = media.create_upload(&ana, &png(), None).await.unwrap_err();
    assert_eq!(refused.code(), Code::Internal);
    let refused = media.complete_upload(&ana, &key, None).await.unwrap_err();
    assert_eq!(refused.code(), Code::Internal);
    assert_eq!(town.rows("USER#ana", "UPLOAD#").await.len(), 1, "only the first was announced");
    town.media_store().set_unavailable(false);
    media.complete_upload(&ana, &key, None).await.unwrap();
}
