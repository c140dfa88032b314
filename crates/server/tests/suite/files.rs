//! Files of people, in a directory of the server's own (R43).

use reqwest::StatusCode;
use roundtable_domain::NewUpload;
use serde_json::Value;

use crate::served::{Served, code, read};

/// The smallest picture there is.
const PICTURE: &[u8] = &[
    0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0xff, 0xff, 0xff, 0, 0, 0, 0x21,
    0xf9, 4, 1, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b,
];

#[tokio::test]
async fn a_file_is_sent_and_fetched_by_signed_addresses() {
    let served = Served::fresh().await;
    let ana = served.signed_up("ana").await;
    let media = &served.handle.services().media;
    let bytes = PICTURE.len() as u64;
    let new = NewUpload { content_type: "image/gif".into(), bytes, purpose: None };
    let ticket = media.create_upload(&ana.caller, &new, None).await.unwrap();
    assert!(ticket.upload_url.starts_with(&format!("{}/media/", served.url)));
    let send = async |url: &str, kind: &str, bytes: &[u8]| {
        let put = served.client.put(url).header("content-type", kind).body(bytes.to_vec());
        put.send().await.unwrap()
    };
    for (kind, bytes) in [("text/html", PICTURE), ("image/gif", &PICTURE[..10]), ("image/gif", b"")]
    {
        let answer = read(send(&ticket.upload_url, kind, bytes).await).await;
        assert_eq!((answer.0, code(&answer.1)), (StatusCode::BAD_REQUEST, "BAD_REQUEST"));
    }
    let forged = ticket.upload_url.replace("gif", "png");
    assert_eq!(send(&forged, "image/png", PICTURE).await.status(), StatusCode::FORBIDDEN);
    let sent = send(&ticket.upload_url, "image/gif", PICTURE).await;
    assert_eq!(sent.status(), StatusCode::NO_CONTENT);

    let stranger = served.client.get(ticket.upload_url.split('?').next().unwrap());
    let (status, answer): (_, Value) = read(stranger.send().await.unwrap()).await;
    assert_eq!((status, code(&answer)), (StatusCode::FORBIDDEN, "FORBIDDEN"));
    served.stop().await;
}
