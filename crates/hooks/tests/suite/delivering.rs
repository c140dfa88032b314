//! Delivery to webhook endpoints: good ones, and those that hang, flood, lie or move away (R44).

use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::{
    DeliveryError, Settings, WebhookMessage, WebhookSender, WebhookSettings, Webhooks,
};
use roundtable_hooks::{HttpWebhookSender, REPLY_BYTES_MAX};
use roundtable_model::entities::Webhook;
use roundtable_model::table::Clock;
use roundtable_model::{Role, Secret, samples};
use roundtable_streams::RunnerBuilder;
use roundtable_testkit::Town;
use serde_json::Value;

use crate::loopback::{Loopback, Reaction};
use crate::sending::{clock, signature};

const SECRET: &str = "whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0";
const KEY: &[u8] = b"123456789012345678901234";
const LONG: Duration = Duration::from_mins(1);

fn endpoint(service: &Loopback) -> Webhook {
    Webhook { url: service.url(), secret: Secret::new(SECRET), ..samples::webhook() }
}

fn message() -> WebhookMessage {
    WebhookMessage { id: "e1".into(), body: br#"{"specversion":"1.0"}"#.to_vec() }
}

/// A sender that may reach this machine.
fn local_sender(clock: Arc<dyn Clock>) -> HttpWebhookSender {
    HttpWebhookSender::new(LONG, clock).with_settings(&WebhookSettings { local: true })
}

/// R44: signed so that any holder of the secret can verify it, with the content type of `CloudEvents`.
#[tokio::test]
async fn an_event_arrives_signed() {
    let mut service = Loopback::doing(Reaction::answer("204 No Content", "text/plain", "")).await;
    let deliverer = local_sender(clock());
    deliverer.send(&endpoint(&service), &message()).await.unwrap();
    let received = service.received().await;
    assert_eq!(received.body, message().body);
    let header = |name: &str| received.headers[name].as_str();
    assert_eq!(header("content-type"), "application/cloudevents+json; charset=utf-8");
    assert_eq!((header("webhook-id"), header("webhook-timestamp")), ("e1", "1737991800"));
    let signed = signature(KEY, br#"e1.1737991800.{"specversion":"1.0"}"#);
    assert_eq!(header("webhook-signature"), format!("v1,{signed}"));
}

/// R44: any reply but a prompt success is a failure, and 410 ends the subscription.
#[tokio::test]
async fn only_a_success_is_a_delivery() {
    let flood = format!("HTTP/1.1 500 Oh\r\n\r\n{}", "x".repeat(REPLY_BYTES_MAX * 4));
    let moved = "HTTP/1.1 302 Found\r\nlocation: http://example.com/\r\ncontent-length: 0\r\n\r\n";
    for (reaction, reason) in [
        (Reaction::raw(flood).then_hang(), "500"),
        (Reaction::raw(moved), "302"),
        (Reaction::raw("I am no server\r\n\r\n"), "reached"),
        (Reaction::answer("503 Service Unavailable", "text/plain", "later"), "503"),
        (Reaction::raw(""), "reached"),
    ] {
        let service = Loopback::doing(reaction).await;
        let deliverer = local_sender(clock());
        let refused = deliverer.send(&endpoint(&service), &message()).await.unwrap_err();
        assert!(matches!(&refused, DeliveryError::Failed(_)), "{refused}");
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    let service = Loopback::doing(Reaction::answer("410 Gone", "text/plain", "")).await;
    let gone = local_sender(clock()).send(&endpoint(&service), &message()).await;
    assert_eq!(gone, Err(DeliveryError::Gone));
}

/// R44: a success counts, however long its body is, and the body is not waited for.
#[tokio::test]
async fn a_success_counts_whatever_its_body() {
    let flood = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(REPLY_BYTES_MAX * 4));
    let announced = format!("HTTP/1.1 202 Accepted\r\ncontent-length: {}\r\n\r\nx", u32::MAX);
    let lie = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{";
    for reaction in [
        Reaction::raw(flood.clone()),
        Reaction::raw(flood).then_hang(),
        Reaction::raw(announced).then_hang(),
        Reaction::raw(lie),
        Reaction::raw(lie).then_hang(),
    ] {
        let service = Loopback::doing(reaction).await;
        let deliverer = local_sender(clock());
        for _ in 0..2 {
            deliverer.send(&endpoint(&service), &message()).await.unwrap();
        }
    }
}

/// R44: a silent endpoint is waited for once, and no longer than the time-out.
#[tokio::test]
async fn a_silent_receiver_times_out() {
    let half = Reaction::raw("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n");
    for reaction in [Reaction::raw(""), half] {
        let mut service = Loopback::doing(reaction.then_hang()).await;
        let (to, deliverer) = (endpoint(&service), local_sender(clock()));
        let telling = tokio::spawn(async move { deliverer.send(&to, &message()).await });
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

/// R44: a name is checked when it is connected to: this machine and its network are never reached,
/// however the address is written.
#[tokio::test]
async fn nothing_is_sent_to_this_machine_or_its_network() {
    let mut service = Loopback::doing(Reaction::json("{}")).await;
    let port = service.port();
    let deliverer =
        HttpWebhookSender::new(LONG, clock()).with_settings(&WebhookSettings { local: false });
    for host in ["localhost", "127.0.0.1", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"] {
        let to = Webhook { url: format!("http://{host}:{port}/"), ..endpoint(&service) };
        let refused = deliverer.send(&to, &message()).await.unwrap_err();
        assert!(matches!(&refused, DeliveryError::Failed(_)), "{host}: {refused}");
        let reason = refused.to_string();
        assert!(reason.contains("this machine or its network"), "{host}: {reason}");
        assert!(service.is_idle(), "{host}");
        assert!(HttpWebhookSender::new(LONG, clock()).send(&to, &message()).await.is_err());
    }
    assert!(service.is_idle(), "and nobody allows it by forgetting about it");
    let to = Webhook { url: format!("http://localhost:{port}/"), ..endpoint(&service) };
    local_sender(clock()).send(&to, &message()).await.unwrap();
    service.received().await;
}

/// R44: from a post to a subscribed endpoint, over HTTP, beside one that hangs.
#[tokio::test]
async fn a_silent_endpoint_does_not_delay_others() {
    let local = WebhookSettings { local: true };
    let town = Town::with(Settings { webhooks: local, ..Town::settings() }, ["ana", "ada"]).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    let mut hanging = Loopback::doing(Reaction::raw("").then_hang()).await;
    let mut good = Loopback::doing(Reaction::json("{}")).await;
    let webhooks = Webhooks::new(town.context().clone());
    let types = ["roundtable.post.created".to_owned()];
    webhooks.create(&ada, &hanging.url(), &types).await.unwrap();
    let made = webhooks.create(&ada, &good.url(), &types).await.unwrap();
    let deliverer = Arc::new(local_sender(town.clock().clone()));
    let runner = RunnerBuilder::with_all_processors_undelayed(town.context())
        .with_webhook_sender(deliverer)
        .build();
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
        town.advance_ms(1_000);
    }
    // It was called once, and has all its time.
    hanging.received().await;
    assert!(hanging.is_idle());
    running.abort();
    drop(stop);
}
