//! What every store of files promises.

use roundtable_domain::MediaStore;
use roundtable_model::MediaKey;

/// A file that has been sent.
pub(crate) const BYTES: &[u8] = b"\x89PNG\r\n\x1a\nand so on";
pub(crate) const LENGTH: u64 = BYTES.len() as u64;

pub(crate) fn key(text: &str) -> MediaKey {
    text.parse().unwrap()
}

/// What follows when `sent` has been sent, and something else can be sent by `resend` afterwards.
pub(crate) async fn keeps_what_was_taken(
    store: &dyn MediaStore,
    sent: &MediaKey,
    resend: impl AsyncFn(&[u8]),
) {
    let never = key("u/ana/never-sent");
    assert_eq!(store.take(&never, "a", LENGTH).await.unwrap(), None);

    assert_eq!(store.take(sent, "first", LENGTH).await.unwrap(), Some(LENGTH));
    assert_eq!(store.read(sent, "first", 0..4).await.unwrap(), b"\x89PNG");
    assert_eq!(store.read(sent, "first", 0..LENGTH).await.unwrap(), BYTES);
    assert_eq!(store.read(sent, "first", 0..0).await.unwrap(), b"");

    // Whoever still knows the address cannot change what was taken.
    let other: Vec<u8> = BYTES.iter().rev().copied().collect();
    resend(&other).await;
    assert_eq!(store.read(sent, "first", 0..LENGTH).await.unwrap(), BYTES);
    assert_eq!(store.take(sent, "second", LENGTH).await.unwrap(), Some(LENGTH));
    assert_eq!(store.read(sent, "second", 0..LENGTH).await.unwrap(), other);

    store.discard(sent, "second").await.unwrap();
    store.discard(sent, "second").await.unwrap();
    store.read(sent, "second", 0..1).await.unwrap_err();
    assert_eq!(store.read(sent, "first", 0..4).await.unwrap(), b"\x89PNG");

    // Of a file that has arrived, the copy that is shown is enough.
    resend(&other).await;
    assert_eq!(store.take(sent, "stray", LENGTH).await.unwrap(), Some(LENGTH));
    store.tidy(sent, "first").await.unwrap();
    store.tidy(sent, "first").await.unwrap();
    assert_eq!(store.read(sent, "first", 0..LENGTH).await.unwrap(), BYTES);
    store.read(sent, "stray", 0..1).await.unwrap_err();
    assert_eq!(store.take(sent, "third", LENGTH).await.unwrap(), None);

    // What is not as long as it should be is not even copied.
    resend(&other).await;
    assert_eq!(store.take(sent, "other", LENGTH - 1).await.unwrap(), Some(LENGTH));
    store.read(sent, "other", 0..1).await.unwrap_err();

    store.remove(sent).await.unwrap();
    store.remove(sent).await.unwrap();
    store.read(sent, "first", 0..1).await.unwrap_err();
    assert_eq!(store.take(sent, "third", LENGTH).await.unwrap(), None);
}
