//! From a post to its readers, through a moderation service.

use std::sync::Arc;

use roundtable_domain::{HookSettings, ModerationMode, Settings};
use roundtable_hooks::WebhookModerator;
use roundtable_model::{CaseId, ModerationStatus as Status, Secret};
use roundtable_streams::{Runner, RunnerBuilder};
use roundtable_testkit::Town;

use crate::loopback::{Loopback, Reaction, Received};

/// Decides about some texts, and fails on others.
fn decide_by_text(received: &Received) -> Reaction {
    let body = String::from_utf8(received.body.clone()).unwrap();
    let says = |text: &str| body.contains(&format!(r#""content":"{text}""#));
    if says("spam") {
        Reaction::json(r#"{"decision":"reject","reason":"looks like spam"}"#)
    } else if says("odd") {
        Reaction::json(r#"{"decision":"flag","reason":"I have never seen this"}"#)
    } else if says("trouble") {
        Reaction::answer("503 Service Unavailable", "text/plain", "later")
    } else {
        Reaction::json(r#"{"decision":"approve"}"#)
    }
}

/// A town whose posts go through a moderation service.
async fn town(service: &Loopback) -> (Town, Runner) {
    let secret = Some(Secret::new("whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0"));
    let hook = HookSettings { url: Some(service.url()), secret, ..HookSettings::default() };
    let settings = Settings { moderation: ModerationMode::Before, hook, ..Town::settings() };
    let town = Town::with(settings, ["ana", "bo", "mo"]).await;
    let hook = &town.context().settings().hook;
    let judge = WebhookModerator::configured(hook, town.clock().clone()).unwrap().unwrap();
    let runner = RunnerBuilder::with_all_processors_undelayed(town.context())
        .with_moderator(Arc::new(judge))
        .build();
    (town, runner)
}

/// R34: a configured hook decides, and the case stays pending where it fails.
#[tokio::test]
async fn a_service_decides_what_is_published() {
    let mut service = Loopback::deciding(decide_by_text).await;
    let (town, runner) = town(&service).await;
    let mut posts = Vec::new();
    for text in ["hello", "spam", "odd", "trouble"] {
        posts.push(town.post("ana", text).await);
    }
    runner.drain().await.unwrap();
    let bo = town.caller("bo");
    let expected = [Status::Approved, Status::Rejected, Status::Flagged, Status::Pending];
    for (post, expected) in posts.iter().zip(expected) {
        let case = town.case(&post.id).await;
        assert_eq!(case.case.status, expected, "{}", post.content);
        let is_visible = town.posts().post(Some(&bo), &post.id).await.is_ok();
        assert_eq!(is_visible, expected == Status::Approved, "{}", post.content);
    }
    let rejected = town.case(&posts[1].id).await.case;
    assert_eq!((rejected.reason.as_deref(), rejected.decided_by), (Some("looks like spam"), None));
    assert_eq!(town.queue(Status::Pending).await, [CaseId::from(&posts[3].id)]);
    assert!(service.received().await.headers.contains_key("webhook-signature"));

    // A failed case waits for a moderator, with a dead letter that says why.
    let letters = runner.dead_letters();
    let queue = "verdicts".parse().unwrap();
    let parked = letters.list(&queue, None, None).await.unwrap().items;
    let errors: Vec<&str> = parked.iter().map(|letter| letter.error.as_str()).collect();
    assert_eq!(errors, ["no verdict: the hook responded with 503 Service Unavailable"]);
    town.moderate(&posts[3].id, Status::Approved).await;
    assert!(town.posts().post(Some(&bo), &posts[3].id).await.is_ok());
}

/// R34: with the hook unreachable, all cases wait for moderators, and nothing else does.
#[tokio::test]
async fn without_the_service_moderators_decide() {
    let gone = Loopback::doing(Reaction::raw("")).await;
    let (town, runner) = town(&gone).await;
    let post = town.post("ana", "hello").await;
    runner.drain().await.unwrap();
    assert_eq!(town.queue(Status::Pending).await, [CaseId::from(&post.id)]);
    assert!(town.audit_trail().await.is_empty());
    town.moderate(&post.id, Status::Approved).await;
    town.like("bo", &post.id).await;
    runner.drain().await.unwrap();
    assert_eq!(town.rows(&format!("POST#{}", post.id), "COUNTER").await.len(), 1);
}
