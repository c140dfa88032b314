//! Events at the door of an endpoint: good ones, and those that hang, flood, lie or move away (R44).

use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::{Deliver, Outgoing, Settings, Undelivered, WebhookSettings, Webhooks};
use roundtable_hooks::{Deliverer, REPLY_BYTES_MAX};
use roundtable_model::entities::Webhook;
use roundtable_model::table::Clock;
use roundtable_model::{Role, Secret, samples};
use roundtable_streams::Setup;
use roundtable_testkit::Town;
use serde_json::Value;

use crate::loopback::{Loopback, Told};
use crate::sending::{clock, signature};

const SECRET: &str = "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0";
const KEY: &[u8] = b"123456789012345678901234";
const LONG: Duration = Duration::from_mins(1);

fn endpoint(service: &Loopback) -> Webhook {
    Webhook { url: service.url(), secret: Secret::new(SECRET), ..samples::webhook() }
}

fn message() -> Outgoing {
    Outgoing { id: "e1".into(), body: br#"{"specversion":"1.0"}"#.to_vec() }
}

/// One that may go to this machine.
fn nearby(clock: Arc<dyn Clock>) -> Deliverer {
    Deliverer::new(LONG, clock).allowing(&WebhookSettings { local: true })
}

/// R44: signed so that anybody who has the secret can check it, and of the type of `CloudEvents`.
#[tokio::test]
async fn an_event_arrives_signed() {
    let mut service = Loopback::doing(Told::answer("204 No Content", "text/plain", "")).await;
    let deliverer = nearby(clock());
    deliverer.deliver(&endpoint(&service), &message()).await.unwrap();
    let received = service.received().await;
    assert_eq!(received.body, message().body);
    let header = |name: &str| received.headers[name].as_str();
    assert_eq!(header("content-type"), "application/cloudevents+json; charset=utf-8");
    assert_eq!((header("webhook-id"), header("webhook-timestamp")), ("e1", "1737991800"));
    let signed = signature(KEY, br#"e1.1737991800.{"specversion":"1.0"}"#);
    assert_eq!(header("webhook-signature"), format!("v1,{signed}"));
}

/// R44: whatever does not say yes, soon, is a no; and one that is gone is gone.
#[tokio::test]
async fn only_a_yes_is_a_yes() {
    let flood = format!("HTTP/1.1 500 Oh\r\n\r\n{}", "x".repeat(REPLY_BYTES_MAX * 4));
    let moved = "HTTP/1.1 302 Found\r\nlocation: http://example.com/\r\ncontent-length: 0\r\n\r\n";
    for (told, why) in [
        (Told::raw(flood).then_hang(), "500"),
        (Told::raw(moved), "302"),
        (Told::raw("I am no server\r\n\r\n"), "reached"),
        (Told::answer("503 Service Unavailable", "text/plain", "later"), "503"),
        (Told::raw(""), "reached"),
    ] {
        let service = Loopback::doing(told).await;
        let deliverer = nearby(clock());
        let refused = deliverer.deliver(&endpoint(&service), &message()).await.unwrap_err();
        assert!(matches!(&refused, Undelivered::Failed(_)), "{refused}");
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let service = Loopback::doing(Told::answer("410 Gone", "text/plain", "")).await;
    let gone = nearby(clock()).deliver(&endpoint(&service), &message()).await;
    assert_eq!(gone, Err(Undelivered::Gone));
}

/// R44: who says yes has taken it, whatever it says beyond that, and however long; and nobody waits for
/// the end of it.
#[tokio::test]
async fn a_yes_is_a_yes_however_much_is_said_with_it() {
    let flood = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(REPLY_BYTES_MAX * 4));
    let announced = format!("HTTP/1.1 202 Accepted\r\ncontent-length: {}\r\n\r\nx", u32::MAX);
    let lie = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{";
    for told in [
        Told::raw(flood.clone()),
        Told::raw(flood).then_hang(),
        Told::raw(announced).then_hang(),
        Told::raw(lie),
        Told::raw(lie).then_hang(),
    ] {
        let service = Loopback::doing(told).await;
        let deliverer = nearby(clock());
        for _ in 0..2 {
            deliverer.deliver(&endpoint(&service), &message()).await.unwrap();
        }
    }
}

/// R44: an endpoint that says nothing is waited for once, and no longer than that.
#[tokio::test]
async fn who_says_nothing_has_said_no() {
    let half = Told::raw("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n");
    for told in [Told::raw(""), half] {
        let mut service = Loopback::doing(told.then_hang()).await;
        let (to, deliverer) = (endpoint(&service), nearby(clock()));
        let telling = tokio::spawn(async move { deliverer.deliver(&to, &message()).await });
        service.received().await;
        // The rest of the wait takes no time.
        tokio::time::pause();
        tokio::time::advance(LONG * 9 / 10).await;
        assert!(!telling.is_finished());
        let refused = telling.await.unwrap().unwrap_err();
        assert!(refused.to_string().contains("no answer within"), "{refused}");
        tokio::time::resume();
    }
}

/// R44: an endpoint that a name leads to is looked at when it is connected to: what is of this machine or
/// its network hears nothing, however it is written.
#[tokio::test]
async fn nothing_is_sent_to_this_machine_or_its_network() {
    let mut service = Loopback::doing(Told::json("{}")).await;
    let port = service.port();
    let deliverer = Deliverer::new(LONG, clock()).allowing(&WebhookSettings { local: false });
    for host in ["localhost", "127.0.0.1", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"] {
        let to = Webhook { url: format!("http://{host}:{port}/"), ..endpoint(&service) };
        let refused = deliverer.deliver(&to, &message()).await.unwrap_err();
        assert!(matches!(&refused, Undelivered::Failed(_)), "{host}: {refused}");
        let why = refused.to_string();
        assert!(why.contains("this machine or its network"), "{host}: {why}");
        assert!(service.is_idle(), "{host}");
        assert!(Deliverer::new(LONG, clock()).deliver(&to, &message()).await.is_err());
    }
    assert!(service.is_idle(), "and nobody allows it by forgetting about it");
    let to = Webhook { url: format!("http://localhost:{port}/"), ..endpoint(&service) };
    nearby(clock()).deliver(&to, &message()).await.unwrap();
    service.received().await;
}

/// R44: from a post to whoever asked for it, over HTTP, beside one who hangs.
#[tokio::test]
async fn who_hangs_keeps_nobody_waiting() {
    let local = WebhookSettings { local: true };
    let town = Town::with(Settings { webhooks: local, ..Town::settings() }, ["ana", "ada"]).await;
    let ada = town.employ("ada", Role::Admin).await;
    let mut hanging = Loopback::doing(Told::raw("").then_hang()).await;
    let mut good = Loopback::doing(Told::json("{}")).await;
    let webhooks = Webhooks::new(town.ground().clone());
    let types = ["roundtable.post.created".to_owned()];
    webhooks.create(&ada, &hanging.url(), &types).await.unwrap();
    let made = webhooks.create(&ada, &good.url(), &types).await.unwrap();
    let deliverer = Arc::new(nearby(town.clock().clone()));
    let runner = Setup::everything_at_once(town.ground()).telling(deliverer).build();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn({
        let runner = runner.clone();
        async move { runner.run(async { drop(stopped.await) }).await }
    });
    for text in ["one", "two", "three"] {
        let post = town.post("ana", text).await;
        let received = good.received().await;
        let event: Value = serde_json::from_slice(&received.body).unwrap();
        assert_eq!(event["type"], "roundtable.post.created");
        assert_eq!(event["data"]["content"], text);
        assert_eq!(event["subject"], post.id.to_string());
        let at = &received.headers["webhook-timestamp"];
        let signed = [event["id"].as_str().unwrap().as_bytes(), b".", at.as_bytes(), b"."].concat();
        let signed = [signed, received.body].concat();
        let secret = made.secret.expose().strip_prefix("whsec_").unwrap();
        let key = data_encoding::BASE64.decode(secret.as_bytes()).unwrap();
        let expected = format!("v1,{}", signature(&key, &signed));
        assert_eq!(received.headers["webhook-signature"], expected);
        town.pass_ms(1_000);
    }
    // It was asked once, and has all its time.
    hanging.received().await;
    assert!(hanging.is_idle());
    running.abort();
    drop(stop);
}
