//! What every store of files promises.

use roundtable_domain::MediaStore;
use roundtable_model::MediaKey;

/// A file that has been sent.
pub(crate) const BYTES: &[u8] = b"\x89PNG\r\n\x1a\nand so on";

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
    assert_eq!(store.take(&never, "a").await.unwrap(), None);

    assert_eq!(store.take(sent, "first").await.unwrap(), Some(BYTES.len() as u64));
    assert_eq!(store.read(sent, "first", 0..4).await.unwrap(), b"\x89PNG");
    assert_eq!(store.read(sent, "first", 0..BYTES.len() as u64).await.unwrap(), BYTES);
    assert_eq!(store.read(sent, "first", 0..0).await.unwrap(), b"");

    // Whoever still knows the address cannot change what was taken.
    let other: Vec<u8> = BYTES.iter().rev().copied().collect();
    resend(&other).await;
    assert_eq!(store.read(sent, "first", 0..BYTES.len() as u64).await.unwrap(), BYTES);
    assert_eq!(store.take(sent, "second").await.unwrap(), Some(BYTES.len() as u64));
    assert_eq!(store.read(sent, "second", 0..BYTES.len() as u64).await.unwrap(), other);

    store.discard(sent, "second").await.unwrap();
    store.discard(sent, "second").await.unwrap();
    store.read(sent, "second", 0..1).await.unwrap_err();
    assert_eq!(store.read(sent, "first", 0..4).await.unwrap(), b"\x89PNG");

    store.remove(sent).await.unwrap();
    store.remove(sent).await.unwrap();
    store.read(sent, "first", 0..1).await.unwrap_err();
    assert_eq!(store.take(sent, "third").await.unwrap(), None);
}
