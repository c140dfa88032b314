//! Compression of responses. It runs outside the scheduler, so that long responses are sent as they are.

use axum::body::{Body, HttpBody};
use axum::http::{Response, header};
use http_body_util::BodyExt as _;
use roundtable_domain::Code;
use roundtable_interface::ApiError;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{
    DefaultPredicate, NotForContentType, Predicate, SizeAbove,
};

use super::responses::error_response;
use crate::answer_budget::AnswerReservation;

/// Shorter responses fit one packet as they are.
const BYTES_MIN: u16 = 1 << 10;
/// The longest response that is compressed: the fastest level takes about 10 ms for it.
const BYTES_MAX: u64 = 1 << 20;

pub(super) fn layer() -> CompressionLayer<impl Predicate> {
    // Images are skipped by default; video is as dense and longer.
    let not_video = NotForContentType::const_new("video/");
    let is_long = SizeAbove::new(BYTES_MIN);
    let compressible = DefaultPredicate::new().and(not_video).and(is_long).and(IsShort);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(compressible)
}

/// Compresses all of a response at once, if it is to be compressed. An encoder takes 300 KB, and would keep them
/// and the response until its client has taken everything.
pub(super) async fn finish(response: Response<Body>) -> Response<Body> {
    if !response.headers().contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let bytes = match body.collect().await {
        Ok(all) => all.to_bytes(),
        Err(error) => {
            tracing::error!(%error, "a response could not be compressed");
            let problem = "internal error; it was logged with this response's x-request-id";
            return error_response(ApiError::new(Code::Internal, problem));
        }
    };
    let reservation: Option<AnswerReservation> = head.extensions.remove();
    let body = match reservation {
        Some(reservation) => Body::from(reservation.hold(bytes)),
        None => Body::from(bytes),
    };
    Response::from_parts(head, body)
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
