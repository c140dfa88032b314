//! Compression of responses. It runs outside the scheduler, so that long responses are sent as they are.

use axum::body::HttpBody;
use axum::http::Response;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};

/// The longest response that is compressed: the fastest level takes about 10 ms for it.
const BYTES_MAX: u64 = 1 << 20;

pub(super) fn layer() -> CompressionLayer<impl Predicate> {
    // Images are skipped by default; video is as dense and longer.
    let not_video = NotForContentType::const_new("video/");
    let compressible = DefaultPredicate::new().and(not_video).and(IsShort);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(compressible)
}

/// Skips long responses, and those whose length is not known, such as batches.
#[derive(Clone, Copy, Debug)]
struct IsShort;

impl Predicate for IsShort {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        response.body().size_hint().upper().is_some_and(|bytes| bytes <= BYTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures::stream;

    use super::*;

    #[test]
    fn only_short_responses_are_compressed() {
        let is_short = |body: Body| IsShort.should_compress(&Response::new(body));
        assert!(is_short(Body::from(vec![b' '; 1 << 20])));
        assert!(!is_short(Body::from(vec![b' '; (1 << 20) + 1])));
        assert!(!is_short(Body::from_stream(stream::iter([Ok::<_, std::io::Error>("[")]))));
    }
}
