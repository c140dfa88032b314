//! The webhook client: requests, replies and failures.

use std::sync::Arc;
use std::time::Duration;

use roundtable_hooks::{HookMessage, REPLY_BYTES_MAX, SendError, WebhookClient};
use roundtable_model::Secret;
use roundtable_model::table::ManualClock;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;

use crate::loopback::{Loopback, Reaction};

/// `base64` of the 24 bytes that follow.
const SECRET: &str = "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0";
const KEY: &[u8] = b"123456789012345678901234";
/// Long enough for any machine.
const LONG: Duration = Duration::from_mins(1);

pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_ms(1_737_991_800_999))
}

pub(crate) fn client(to: &str) -> WebhookClient {
    WebhookClient::new(to, Some(&Secret::new(SECRET)), LONG, clock()).unwrap()
}

fn message() -> HookMessage {
    HookMessage { id: "msg_1".into(), body: br#"{"said":"hello."}"#.as_slice().into() }
}

/// HMAC written out after RFC 2104, independent of the library.
pub(crate) fn signature(key: &[u8], signed: &[u8]) -> String {
    let pad = |with: u8| {
        let mut block = [with; 64];
        key.iter().zip(&mut block).for_each(|(key, byte)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(signed).finalize();
    let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize();
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in outer.chunks(3) {
        let at = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let six = usize::try_from(bits >> (18 - 6 * digit) & 0x3f).unwrap();
            text.push(if digit > three.len() { '=' } else { digits[six].into() });
        }
    }
    text
}

/// R34: the specification's headers, and a signature that receivers can verify.
#[tokio::test]
async fn a_message_arrives_whole_and_signed() {
    let mut service = Loopback::doing(Reaction::json("{}")).await;
    let reply = client(&service.url()).send(&message()).await.unwrap();
    assert_eq!((reply.status.as_u16(), &*reply.body), (200, b"{}".as_slice()));
    let received = service.received().await;
    assert_eq!(received.line, "POST /judge?of=posts HTTP/1.1");
    assert_eq!(received.body, message().body);
    let header = |name: &str| received.headers[name].as_str();
    assert_eq!(header("content-type"), "application/json");
    assert_eq!((header("webhook-id"), header("webhook-timestamp")), ("msg_1", "1737991800"));
    let signed = signature(KEY, br#"msg_1.1737991800.{"said":"hello."}"#);
    assert_eq!(header("webhook-signature"), format!("v1,{signed}"));
}

/// The computation above, against the output of `openssl dgst -sha256 -hmac`.
#[test]
fn signatures_are_what_others_compute() {
    let expected = "MYxfmQGbUOiNp9j/QmsVBUeyyEiOvtVjn4q7CpM/gQY=";
    assert_eq!(signature(KEY, br#"msg_1.1737991800.{"said":"hello."}"#), expected);
}

#[tokio::test]
async fn without_a_secret_nothing_is_signed() {
    let mut service = Loopback::doing(Reaction::json("{}")).await;
    let client = WebhookClient::new(&service.url(), None, LONG, clock()).unwrap();
    client.send(&message()).await.unwrap();
    let received = service.received().await;
    assert!(!received.headers.contains_key("webhook-signature"));
    assert_eq!(received.headers["webhook-id"], "msg_1");
}

/// The time is that of the attempt; the id stays.
#[tokio::test]
async fn a_message_sent_again_is_signed_again() {
    let mut service = Loopback::doing(Reaction::json("{}")).await;
    let clock = clock();
    let secret = Secret::new(SECRET);
    let client = WebhookClient::new(&service.url(), Some(&secret), LONG, clock.clone()).unwrap();
    client.send(&message()).await.unwrap();
    clock.advance_ms(60_000);
    client.send(&message()).await.unwrap();
    let (first, second) = (service.received().await, service.received().await);
    assert_eq!(first.headers["webhook-id"], second.headers["webhook-id"]);
    assert_eq!(second.headers["webhook-timestamp"], "1737991860");
    let signed = signature(KEY, br#"msg_1.1737991860.{"said":"hello."}"#);
    assert_eq!(second.headers["webhook-signature"], format!("v1,{signed}"));
}

/// A crafted id must not shift into the text that is signed after it.
#[tokio::test]
async fn ambiguous_ids_are_refused() {
    let mut service = Loopback::doing(Reaction::json("{}")).await;
    let client = client(&service.url());
    for id in ["msg.1", "msg\r\nwebhook-id: 2"] {
        let message = HookMessage { id: id.into(), ..message() };
        assert_eq!(client.send(&message).await.unwrap_err(), SendError::BadId);
    }
    assert!(service.is_idle());
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let mut elsewhere = Loopback::doing(Reaction::json("{}")).await;
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"] {
        let location = elsewhere.url();
        let head =
            format!("HTTP/1.1 {status}\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let service = Loopback::doing(Reaction::raw(head)).await;
        let reply = client(&service.url()).send(&message()).await.unwrap();
        assert!(reply.status.is_redirection());
    }
    assert!(elsewhere.is_idle());
}

/// Up to the limit and not a byte more, with and without a content length.
#[tokio::test]
async fn a_reply_that_is_too_large_is_an_error() {
    let body = |bytes: usize| "x".repeat(bytes);
    let announced = |bytes: usize| Reaction::answer("200 OK", "text/plain", &body(bytes));
    let streamed = |bytes: usize| {
        Reaction::raw(format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n{}", body(bytes)))
    };
    for (reaction, fits) in [
        (announced(REPLY_BYTES_MAX), true),
        (announced(REPLY_BYTES_MAX + 1), false),
        (streamed(REPLY_BYTES_MAX), true),
        (streamed(REPLY_BYTES_MAX + 1), false),
        // Endless, but the limit comes first.
        (streamed(REPLY_BYTES_MAX * 2).then_hang(), false),
    ] {
        let service = Loopback::doing(reaction).await;
        let reply = client(&service.url()).send(&message()).await;
        assert_eq!(
            reply.as_ref().map(|reply| reply.body.len()).ok(),
            fits.then_some(REPLY_BYTES_MAX)
        );
        assert!(fits || reply.unwrap_err() == SendError::TooLarge);
    }
}

/// One time-out covers a reply that never begins and one that never ends.
#[tokio::test]
async fn a_silent_endpoint_is_waited_for_once() {
    let never = Reaction::raw("");
    let half = Reaction::raw("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n");
    let endless = Reaction::raw("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{");
    for reaction in [never, half, endless] {
        let mut service = Loopback::doing(reaction.then_hang()).await;
        let client = client(&service.url());
        let sending = tokio::spawn(async move { client.send(&message()).await.unwrap_err() });
        service.received().await;
        // The rest of the wait takes no time.
        tokio::time::pause();
        tokio::time::advance(LONG * 9 / 10).await;
        assert!(!sending.is_finished());
        assert_eq!(sending.await.unwrap(), SendError::TimedOut(LONG));
        tokio::time::resume();
    }
}

/// A closed connection and an absent server are told apart from a reply.
#[tokio::test]
async fn a_closed_connection_is_no_reply() {
    let service = Loopback::doing(Reaction::raw("")).await;
    let closed = client(&service.url()).send(&message()).await.unwrap_err();
    assert!(matches!(closed, SendError::Unreachable(_)), "{closed}");

    let half = Reaction::raw("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{");
    let service = Loopback::doing(half).await;
    let broke_off = client(&service.url()).send(&message()).await.unwrap_err();
    assert!(matches!(broke_off, SendError::Incomplete(_)), "{broke_off}");

    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refused = client(&format!("http://{nobody}/")).send(&message()).await.unwrap_err();
    assert!(refused.to_string().contains("refused"), "{refused}");
}

/// A reply is worth nothing without knowing who sent it.
#[tokio::test]
async fn https_never_falls_back_to_plain_text() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let plain = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 1];
        tokio::io::AsyncReadExt::read_exact(&mut stream, &mut hello).await.unwrap();
        assert_eq!(hello[0], 22, "the first byte of a TLS handshake");
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    };
    let client = client(&format!("https://{address}/"));
    let message = message();
    let (reply, ()) = tokio::join!(client.send(&message), plain);
    assert!(matches!(reply.unwrap_err(), SendError::Unreachable(_)));
}
