//! Signed URLs that can be handed out again: signing takes longer than everything else about a URL, and
//! a browser finds a picture in its cache only under the same URL.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use parking_lot::Mutex;
use roundtable_model::{MediaKey, Time};

use super::MediaUrl;

/// The most URLs: together a few megabytes.
const MAX: NonZeroUsize = NonZeroUsize::new(20_000).unwrap();

/// Recently signed URLs, by file and copy.
#[derive(Clone, Debug)]
pub(super) struct SignedUrls(Arc<Mutex<LruCache<(MediaKey, String), MediaUrl>>>);

impl Default for SignedUrls {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(MAX))))
    }
}

impl SignedUrls {
    /// Returns a URL that is valid until `until` at least.
    pub(super) fn get(&self, key: &MediaKey, copy: &str, until: Time) -> Option<MediaUrl> {
        let key = (key.clone(), copy.to_owned());
        self.0.lock().get(&key).filter(|url| url.expires_at >= until).cloned()
    }

    pub(super) fn put(&self, key: &MediaKey, copy: &str, url: &MediaUrl) {
        self.0.lock().put((key.clone(), copy.to_owned()), url.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_used_again_until_too_little_of_its_life_is_left() {
        let (urls, key) = (SignedUrls::default(), "media/ana/1".parse().unwrap());
        let url = MediaUrl { url: "https://files/1".into(), expires_at: Time::from_ms(1_000) };
        urls.put(&key, "a", &url);
        assert_eq!(urls.get(&key, "a", Time::from_ms(1_000)), Some(url));
        assert_eq!(urls.get(&key, "a", Time::from_ms(1_001)), None);
        assert_eq!(urls.get(&key, "b", Time::from_ms(1_000)), None, "another copy of the file");
    }
}
