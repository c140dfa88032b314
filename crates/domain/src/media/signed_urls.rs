//! Signed URLs that can be handed out again: signing takes longer than everything else about a URL, and
//! a browser finds a picture in its cache only under the same URL.

use std::sync::Arc;

use lru::LruCache;
use parking_lot::Mutex;
use roundtable_model::{MediaKey, Time};

use super::MediaUrl;

/// The estimated memory of all URLs together: some 20,000 of an S3 store, which are the longest.
const BYTES_MAX: usize = 16 << 20;
/// Memory that an entry takes beside its texts: the entry itself, its slot and allocations.
const ENTRY_BYTES: usize = 192;

/// Recently signed URLs.
#[derive(Clone, Debug, Default)]
pub(super) struct SignedUrls(Arc<Mutex<UrlCache>>);

#[derive(Debug)]
struct UrlCache {
    /// By file and copy.
    urls: LruCache<(MediaKey, String), MediaUrl>,
    bytes: usize,
}

impl Default for UrlCache {
    fn default() -> Self {
        Self { urls: LruCache::unbounded(), bytes: 0 }
    }
}

impl SignedUrls {
    /// Returns a URL that is valid until `until` at least.
    pub(super) fn get(&self, key: &MediaKey, copy: &str, until: Time) -> Option<MediaUrl> {
        let key = (key.clone(), copy.to_owned());
        self.0.lock().urls.get(&key).filter(|url| url.expires_at >= until).cloned()
    }

    pub(super) fn put(&self, key: &MediaKey, copy: &str, url: &MediaUrl) {
        let key = (key.clone(), copy.to_owned());
        let mut cache = self.0.lock();
        cache.bytes += bytes(&key, url);
        if let Some((key, before)) = cache.urls.push(key, url.clone()) {
            cache.bytes -= bytes(&key, &before);
        }
        while cache.bytes > BYTES_MAX
            && let Some((key, oldest)) = cache.urls.pop_lru()
        {
            cache.bytes -= bytes(&key, &oldest);
        }
    }
}

fn bytes((key, copy): &(MediaKey, String), url: &MediaUrl) -> usize {
    ENTRY_BYTES + key.as_str().len() + copy.len() + url.url.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(url: String) -> MediaUrl {
        MediaUrl { url: url.into(), expires_at: Time::from_ms(1_000) }
    }

    #[test]
    fn a_url_is_used_again_until_too_little_of_its_life_is_left() {
        let (urls, key) = (SignedUrls::default(), "media/ana/1".parse().unwrap());
        let url = signed(String::from("https://files/1"));
        urls.put(&key, "a", &url);
        assert_eq!(urls.get(&key, "a", Time::from_ms(1_000)), Some(url));
        assert_eq!(urls.get(&key, "a", Time::from_ms(1_001)), None);
        assert_eq!(urls.get(&key, "b", Time::from_ms(1_000)), None, "another copy of the file");
    }

    #[test]
    fn long_urls_take_no_more_memory_than_short_ones() {
        let urls = SignedUrls::default();
        let put = |nth: usize, length| {
            let key = format!("media/ana/{nth}").parse().unwrap();
            urls.put(&key, "a", &signed("x".repeat(length)));
            urls.get(&key, "a", Time::EPOCH).is_some()
        };
        for length in [100, 10_000] {
            assert!((0..5_000).all(|nth| put(nth, length)), "the newest are there");
            assert!(urls.0.lock().bytes <= BYTES_MAX);
        }
        let left = urls.0.lock().urls.len();
        assert_eq!(left, BYTES_MAX / (ENTRY_BYTES + 15 + 1 + 10_000));
        assert!((0..5_000).all(|nth| put(nth, 100)) && (0..5_000).all(|nth| put(nth, 100)));
        let cache = urls.0.lock();
        let counted: usize = cache.urls.iter().map(|(key, url)| bytes(key, url)).sum();
        assert_eq!((cache.urls.len(), cache.bytes), (5_000, counted), "each replaced one is freed");
    }
}
