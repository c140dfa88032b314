//! Webhooks: creation, listing and deletion by admins (R32, R44).

use roundtable_domain::limits::WEBHOOKS_MAX;
use roundtable_domain::{
    Caller, EVENTS, PageInput, Refusal, Settings, WebhookError, WebhookSettings, Webhooks,
};
use roundtable_model::{RequestId, Role, Shards, Span, WebhookId};
use roundtable_testkit::Town;

const URL: &str = "https://hooks.example.com/town?of=events";

async fn town() -> (Town, Caller, Webhooks) {
    let town = Town::of(["ana", "mo", "ada"]).await;
    town.grant_role("mo", Role::Moderator).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    let webhooks = Webhooks::new(town.context().clone());
    (town, ada, webhooks)
}

fn types(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn code<T: std::fmt::Debug>(refused: Result<T, WebhookError>) -> &'static str {
    refused.unwrap_err().code().as_str()
}

async fn urls(webhooks: &Webhooks, caller: &Caller) -> Vec<String> {
    let page = webhooks.list(caller, &PageInput::first()).await.unwrap();
    page.into_items().into_iter().map(|webhook| webhook.url).collect()
}

/// R44: the secret is shown at the creation and never again; the audit log records the creator.
#[tokio::test]
async fn a_secret_is_shown_once() {
    let (town, ada, webhooks) = town().await;
    let wanted = types(&["roundtable.post.created", "*", "roundtable.post.created"]);
    let made = webhooks.create(&ada, URL, &wanted).await.unwrap();
    assert!(made.secret.expose().starts_with("whsec_") && made.secret.expose().len() == 6 + 44);
    assert!(made.webhook.enabled);
    assert_eq!(made.webhook.event_types, types(&["*", "roundtable.post.created"]));
    let other = webhooks.create(&ada, URL, &types(&["*"])).await.unwrap();
    assert_ne!(made.secret, other.secret);
    let listed = webhooks.list(&ada, &PageInput::first()).await.unwrap().into_items();
    let deleted = webhooks.delete(&ada, &made.webhook.id, None).await.unwrap();
    for shown in listed.iter().chain([&made.webhook, &deleted]) {
        assert_eq!(shown.secret.expose(), "");
    }
    let stored = town.context().ops().webhook(&other.webhook.id).get().await.unwrap().unwrap();
    assert_eq!(stored.secret, other.secret, "messages are signed with it");
    let trail = town.audit_trail().await;
    let did = |what: &str| trail.iter().filter(|line| line.contains(what)).count();
    assert_eq!((did("createWebhook"), did("deleteWebhook")), (2, 1), "{trail:?}");
}

/// R32: only admins, even if a token claims otherwise.
#[tokio::test]
async fn only_admins_manage_webhooks() {
    let (town, ada, webhooks) = town().await;
    let id = webhooks.create(&ada, URL, &types(&["*"])).await.unwrap().webhook.id;
    let now = town.now();
    for caller in [
        town.caller("ana"),
        town.staff("mo", Role::Moderator),
        town.staff("ana", Role::Admin),
        town.caller("ada"),
    ] {
        assert_eq!(code(webhooks.create(&caller, URL, &types(&["*"])).await), "FORBIDDEN");
        assert_eq!(code(webhooks.list(&caller, &PageInput::first()).await), "FORBIDDEN");
        assert_eq!(code(webhooks.delete(&caller, &id, None).await), "FORBIDDEN");
        assert_eq!(code(webhooks.replay(&caller, &id, now, None).await), "FORBIDDEN");
        assert_eq!(code(webhooks.enable(&caller, &id, None).await), "FORBIDDEN");
        let deliveries = webhooks.deliveries(&caller, &id, &PageInput::first()).await;
        assert_eq!(code(deliveries), "FORBIDDEN");
    }
    let missing = town.caller("nobody");
    assert_eq!(code(webhooks.list(&missing, &PageInput::first()).await), "UNAUTHENTICATED");
    assert_eq!(urls(&webhooks, &ada).await, [URL]);
}

/// R44: invalid URLs and unknown event types are refused at the creation.
#[tokio::test]
async fn urls_and_event_types_are_checked() {
    let (town, ada, webhooks) = town().await;
    for url in ["http://example.com/", "https://ana:pw@example.com/", "https://127.0.0.1/", "x"] {
        assert_eq!(code(webhooks.create(&ada, url, &types(&["*"])).await), "BAD_REQUEST", "{url}");
    }
    for wanted in [types(&[]), types(&["post.created"]), vec!["*".to_owned(); 101]] {
        assert_eq!(code(webhooks.create(&ada, URL, &wanted).await), "BAD_REQUEST");
    }
    for event in EVENTS {
        webhooks.create(&ada, URL, &types(&[event.name])).await.map_or_else(
            |error| assert!(matches!(error, WebhookError::TooMany)),
            |made| assert_eq!(made.webhook.event_types, [event.name]),
        );
    }
    assert_eq!(urls(&webhooks, &ada).await.len(), WEBHOOKS_MAX, "and no more");
    let local = WebhookSettings { local: true };
    let context = town.on_same_store(Settings { webhooks: local, ..Town::settings() }).await;
    let near = Webhooks::new(context);
    let full = near.create(&ada, "http://127.0.0.1:9/", &types(&["*"])).await.unwrap_err();
    assert!(matches!(full, WebhookError::TooMany), "the address itself is fine there");
}

/// R32: a repeated deletion returns what it deleted.
#[tokio::test]
async fn a_repeated_deletion_deletes_once() {
    let (_town, ada, webhooks) = town().await;
    let id = webhooks.create(&ada, URL, &types(&["*"])).await.unwrap().webhook.id;
    let request: RequestId = "again".parse().unwrap();
    let first = webhooks.delete(&ada, &id, Some(&request)).await.unwrap();
    assert_eq!(webhooks.delete(&ada, &id, Some(&request)).await.unwrap(), first);
    assert_eq!(code(webhooks.delete(&ada, &id, None).await), "NOT_FOUND");
    let other: WebhookId = "other".parse().unwrap();
    assert_eq!(code(webhooks.delete(&ada, &other, Some(&request)).await), "IDEMPOTENCY_MISMATCH");
    assert_eq!(urls(&webhooks, &ada).await, [] as [String; 0]);
}

/// R44: a disabled endpoint stays disabled until a replay.
#[tokio::test]
async fn a_disabled_endpoint_is_enabled_by_a_replay() {
    let (town, ada, webhooks) = town().await;
    let id = webhooks.create(&ada, URL, &types(&["*"])).await.unwrap().webhook.id;
    assert!(webhooks.disable(&id, "it has failed for a day").await.unwrap());
    assert!(!webhooks.disable(&id, "it has failed for a day").await.unwrap(), "once");
    let listed = webhooks.list(&ada, &PageInput::first()).await.unwrap().into_items();
    assert!(listed.iter().all(|webhook| !webhook.enabled));
    let trail = town.audit_trail().await;
    assert_eq!(trail.iter().filter(|line| line.contains("disableWebhook")).count(), 1, "{trail:?}");
    assert!(webhooks.replay(&ada, &id, town.now(), None).await.unwrap().enabled);
    let other: WebhookId = "other".parse().unwrap();
    assert_eq!(code(webhooks.replay(&ada, &other, town.now(), None).await), "NOT_FOUND");
}

/// R57: an endpoint is enabled without a replay, once per request.
#[tokio::test]
async fn a_disabled_endpoint_can_be_enabled() {
    let (town, ada, webhooks) = town().await;
    let id = webhooks.create(&ada, URL, &types(&["*"])).await.unwrap().webhook.id;
    webhooks.disable(&id, "it has failed for a day").await.unwrap();
    let request: RequestId = "enable".parse().unwrap();
    let enabled = webhooks.enable(&ada, &id, Some(&request)).await.unwrap();
    assert!(enabled.enabled && enabled.secret.expose().is_empty());
    assert_eq!(webhooks.enable(&ada, &id, None).await.unwrap(), enabled, "it is already");
    webhooks.disable(&id, "it fails again").await.unwrap();
    assert!(!webhooks.enable(&ada, &id, Some(&request)).await.unwrap().enabled, "as it is now");
    let other: WebhookId = "other".parse().unwrap();
    assert_eq!(code(webhooks.enable(&ada, &other, None).await), "NOT_FOUND");
    let page = PageInput::first();
    assert_eq!(code(webhooks.deliveries(&ada, &other, &page).await), "NOT_FOUND");
    assert!(webhooks.deliveries(&ada, &id, &page).await.unwrap().items.is_empty());
    let trail = town.audit_trail().await;
    assert_eq!(trail.iter().filter(|line| line.contains("enableWebhook")).count(), 1, "{trail:?}");
}

/// R57: a replay is repeatable, and is refused from a time that the stream has forgotten.
#[tokio::test]
async fn a_repeated_replay_is_queued_once() {
    let (town, ada, webhooks) = town().await;
    let id = webhooks.create(&ada, URL, &types(&["*"])).await.unwrap().webhook.id;
    let (request, from): (RequestId, _) = ("replay".parse().unwrap(), town.now());
    for _ in 0..2 {
        assert!(webhooks.replay(&ada, &id, from, Some(&request)).await.unwrap().enabled);
    }
    let queue = "events".parse().unwrap();
    let jobs = town.context().ops().jobs(&queue, Span::ALL, Shards::ONE).page().await.unwrap();
    assert_eq!(jobs.items.len(), 1);
    let other = webhooks.replay(&ada, &id, from.plus_ms(1), Some(&request)).await;
    assert_eq!(code(other), "IDEMPOTENCY_MISMATCH");
}

/// R44: a disable based on a state before a replay does not undo the replay.
#[tokio::test]
async fn disabling_does_not_undo_a_replay() {
    let (town, ada, webhooks) = town().await;
    let id = webhooks.create(&ada, URL, &types(&["*"])).await.unwrap().webhook.id;
    let as_read = town.context().ops().webhook(&id).get().await.unwrap().unwrap();
    let replayed = webhooks.replay(&ada, &id, town.now(), None).await.unwrap();
    assert!(!webhooks.disable_if_unchanged(&as_read, "it has failed for a day").await.unwrap());
    let listed = webhooks.list(&ada, &PageInput::first()).await.unwrap().into_items();
    assert_eq!(listed, std::slice::from_ref(&replayed), "it is enabled, as the replay returned it");
    assert!(webhooks.disable_if_unchanged(&replayed, "it has failed since").await.unwrap());
}
