//! Webhooks, as admins make, list and take them away (R32, R44).

use roundtable_domain::limits::WEBHOOKS_MAX;
use roundtable_domain::{
    Caller, EVENTS, PageInput, Refusal, Settings, WebhookError, WebhookSettings, Webhooks,
};
use roundtable_model::{RequestId, Role, WebhookId};
use roundtable_testkit::Town;

const URL: &str = "https://hooks.example.com/town?of=events";

async fn town() -> (Town, Caller, Webhooks) {
    let town = Town::of(["ana", "mo", "ada"]).await;
    town.employ("mo", Role::Moderator).await;
    let ada = town.employ("ada", Role::Admin).await;
    let webhooks = Webhooks::new(town.ground().clone());
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

/// R44: the secret is shown when an endpoint is made, and never again; the audit knows who did it.
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
    let stored = town.ground().ops().webhook(&other.webhook.id).get().await.unwrap().unwrap();
    assert_eq!(stored.secret, other.secret, "messages are signed with it");
    let trail = town.trail().await;
    let did = |what: &str| trail.iter().filter(|line| line.contains(what)).count();
    assert_eq!((did("createWebhook"), did("deleteWebhook")), (2, 1), "{trail:?}");
}

/// R32: nobody but admins, whatever they claim to be.
#[tokio::test]
async fn only_admins_have_to_do_with_webhooks() {
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
        assert_eq!(code(webhooks.replay(&caller, &id, now).await), "FORBIDDEN");
    }
    let nobody = town.caller("nobody");
    assert_eq!(code(webhooks.list(&nobody, &PageInput::first()).await), "UNAUTHENTICATED");
    assert_eq!(urls(&webhooks, &ada).await, [URL]);
}

/// R44: what cannot be sent to, or will never happen, is refused where it is asked for.
#[tokio::test]
async fn addresses_and_types_are_checked() {
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
    let ground = town.on_same_store(Settings { webhooks: local, ..Town::settings() }).await;
    let near = Webhooks::new(ground);
    let full = near.create(&ada, "http://127.0.0.1:9/", &types(&["*"])).await.unwrap_err();
    assert!(matches!(full, WebhookError::TooMany), "the address itself is fine there");
}

/// R32: a removal sent again answers with what it removed.
#[tokio::test]
async fn removing_twice_with_the_same_request_removes_once() {
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

/// R44: an endpoint that was given up stays off until somebody asks for what it missed.
#[tokio::test]
async fn one_that_was_given_up_is_off_until_it_is_replayed() {
    let (town, ada, webhooks) = town().await;
    let id = webhooks.create(&ada, URL, &types(&["*"])).await.unwrap().webhook.id;
    assert!(webhooks.give_up(&id, "it has failed for a day").await.unwrap());
    assert!(!webhooks.give_up(&id, "it has failed for a day").await.unwrap(), "once");
    let listed = webhooks.list(&ada, &PageInput::first()).await.unwrap().into_items();
    assert!(listed.iter().all(|webhook| !webhook.enabled));
    let trail = town.trail().await;
    assert_eq!(trail.iter().filter(|line| line.contains("disableWebhook")).count(), 1, "{trail:?}");
    assert!(webhooks.replay(&ada, &id, town.now()).await.unwrap().enabled);
    let other: WebhookId = "other".parse().unwrap();
    assert_eq!(code(webhooks.replay(&ada, &other, town.now()).await), "NOT_FOUND");
}

/// R44: whoever gave an endpoint up before somebody asked for a replay does not turn it off again.
#[tokio::test]
async fn giving_up_does_not_undo_a_replay() {
    let (town, ada, webhooks) = town().await;
    let id = webhooks.create(&ada, URL, &types(&["*"])).await.unwrap().webhook.id;
    let as_read = town.ground().ops().webhook(&id).get().await.unwrap().unwrap();
    let replayed = webhooks.replay(&ada, &id, town.now()).await.unwrap();
    assert!(!webhooks.give_up_as_read(&as_read, "it has failed for a day").await.unwrap());
    let listed = webhooks.list(&ada, &PageInput::first()).await.unwrap().into_items();
    assert_eq!(listed, std::slice::from_ref(&replayed), "it is on, and as the replay has said");
    assert!(webhooks.give_up_as_read(&replayed, "it has failed since").await.unwrap());
}
