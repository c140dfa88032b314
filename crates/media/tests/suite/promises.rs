//! Promises of every media store.

use roundtable_domain::MediaStore;
use roundtable_model::MediaKey;

/// A file that has been uploaded.
pub(crate) const BYTES: &[u8] = b"\x89PNG\r\n\x1a\nand so on";
pub(crate) const LENGTH: u64 = BYTES.len() as u64;

pub(crate) fn key(text: &str) -> MediaKey {
    text.parse().unwrap()
}

/// Checks a store to which `sent` has been uploaded, and `resend` can upload something else.
pub(crate) async fn checks_media_store(
    store: &dyn MediaStore,
    sent: &MediaKey,
    resend: impl AsyncFn(&[u8]),
) {
    let never = key("u/ana/never-sent");
    assert_eq!(store.copy_upload(&never, "a", LENGTH).await.unwrap(), None);

    assert_eq!(store.copy_upload(sent, "first", LENGTH).await.unwrap(), Some(LENGTH));
    assert_eq!(store.read(sent, "first", 0..4).await.unwrap(), b"\x89PNG");
    assert_eq!(store.read(sent, "first", 0..LENGTH).await.unwrap(), BYTES);
    assert_eq!(store.read(sent, "first", 0..0).await.unwrap(), b"");

    // A client that still has the URL cannot change a copy.
    let other: Vec<u8> = BYTES.iter().rev().copied().collect();
    resend(&other).await;
    assert_eq!(store.read(sent, "first", 0..LENGTH).await.unwrap(), BYTES);
    assert_eq!(store.copy_upload(sent, "second", LENGTH).await.unwrap(), Some(LENGTH));
    assert_eq!(store.read(sent, "second", 0..LENGTH).await.unwrap(), other);

    store.remove_copy(sent, "second").await.unwrap();
    store.remove_copy(sent, "second").await.unwrap();
    store.read(sent, "second", 0..1).await.unwrap_err();
    assert_eq!(store.read(sent, "first", 0..4).await.unwrap(), b"\x89PNG");

    // Of a completed file, only the served copy is kept.
    resend(&other).await;
    assert_eq!(store.copy_upload(sent, "stray", LENGTH).await.unwrap(), Some(LENGTH));
    store.remove_others(sent, "first").await.unwrap();
    store.remove_others(sent, "first").await.unwrap();
    assert_eq!(store.read(sent, "first", 0..LENGTH).await.unwrap(), BYTES);
    store.read(sent, "stray", 0..1).await.unwrap_err();
    assert_eq!(store.copy_upload(sent, "third", LENGTH).await.unwrap(), None);

    // A file of the wrong length is not even copied.
    resend(&other).await;
    assert_eq!(store.copy_upload(sent, "other", LENGTH - 1).await.unwrap(), Some(LENGTH));
    store.read(sent, "other", 0..1).await.unwrap_err();

    store.remove(sent).await.unwrap();
    store.remove(sent).await.unwrap();
    store.read(sent, "first", 0..1).await.unwrap_err();
    assert_eq!(store.copy_upload(sent, "third", LENGTH).await.unwrap(), None);
}
