//! Signing up, in and out; profiles and keys.

use roundtable_graphql::Client;
use roundtable_model::Role;
use serde_json::{Value, json};

use crate::stage::Stage;

const REGISTER: &str = "mutation { register(input: { email: \"ana@example.com\",
    password: \"correct horse battery\", nickname: \"ana\", fullName: \"Ana\" })
    { accessToken refreshToken expiresIn tokenType user { nickname email } } }";

async fn registered(stage: &Stage) -> (Value, Client) {
    let payload = stage.ask_as(Client::default(), REGISTER).await["register"].take();
    let found =
        stage.ask_as(Client::default(), "{ getUserByNickname(nickname: \"ana\") { id } }").await;
    let id = found["getUserByNickname"]["id"].as_str().unwrap();
    (payload, stage.client(id))
}

async fn refresh(stage: &Stage, token: &Value) -> Value {
    let document = format!("mutation {{ refreshToken(refreshToken: {token}) {{ refreshToken }} }}");
    stage.answer(Client::default(), &document, Value::Null).await
}

/// R6: somebody signs up, and is signed in; their next token replaces the one before.
#[tokio::test]
async fn somebody_signs_up_signs_in_and_refreshes() {
    let stage = Stage::of([]).await;
    let (payload, _) = registered(&stage).await;
    assert_eq!(payload["accessToken"], "token of ana");
    assert_eq!((&payload["expiresIn"], &payload["tokenType"]), (&json!(900), &json!("Bearer")));
    assert_eq!(payload["user"], json!({ "nickname": "ana", "email": "ana@example.com" }));
    let login = |password: &str| {
        format!(
            "mutation {{ login(email: \"ana@example.com\", password: \"{password}\")
                {{ accessToken refreshToken user {{ nickname }} }} }}"
        )
    };
    let wrong = stage.refused_as(Client::default(), &login("wrong horse battery")).await;
    assert_eq!(wrong, "UNAUTHENTICATED");
    let entered =
        stage.ask_as(Client::default(), &login("correct horse battery")).await["login"].take();
    assert_eq!(entered["user"]["nickname"], "ana");
    let next =
        refresh(&stage, &entered["refreshToken"]).await["data"]["refreshToken"]["refreshToken"]
            .take();
    assert!(next.is_string() && next != entered["refreshToken"]);
    let logout = format!("mutation {{ logout(refreshToken: {next}) }}");
    assert_eq!(stage.ask_as(Client::default(), &logout).await["logout"], true);
    let over = refresh(&stage, &next).await;
    assert_eq!(over["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
}

/// R6: a new password signs everybody else out; the names of an account are its owner's to change.
#[tokio::test]
async fn passwords_addresses_and_profiles_are_changed() {
    let stage = Stage::of([]).await;
    let (payload, ana) = registered(&stage).await;
    let change = "mutation { changePassword(current: \"correct horse battery\",
        next: \"another horse entirely\") }";
    assert_eq!(stage.ask_as(ana.clone(), change).await["changePassword"], true);
    let over = refresh(&stage, &payload["refreshToken"]).await;
    assert_eq!(over["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    let email = "mutation { changeEmail(password: \"another horse entirely\",
        email: \"a@example.org\") { email } }";
    assert_eq!(stage.ask_as(ana.clone(), email).await["changeEmail"]["email"], "a@example.org");
    let profile =
        "mutation { updateProfile(input: { bio: \"hello\", fullName: null, tags: [\"Tea\"],
        isPrivate: true }) { nickname bio fullName tags isPrivate } }";
    let shown = stage.ask_as(ana, profile).await["updateProfile"].take();
    let expected = json!({ "nickname": "ana", "bio": "hello", "fullName": null, "tags": ["Tea"],
        "isPrivate": true });
    assert_eq!(shown, expected);
}

/// R6: all devices can be signed out at once, and an account deleted by whoever means it.
#[tokio::test]
async fn everywhere_is_everywhere_and_deleting_needs_the_nickname() {
    let stage = Stage::of([]).await;
    let (payload, ana) = registered(&stage).await;
    let everywhere = "mutation { logout(everywhere: true) }";
    assert_eq!(stage.ask_as(ana.clone(), everywhere).await["logout"], true);
    let over = refresh(&stage, &payload["refreshToken"]).await;
    assert_eq!(over["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    let delete = |name: &str| format!("mutation {{ deleteAccount(confirmNickname: \"{name}\") }}");
    assert_eq!(stage.refused_as(ana.clone(), &delete("bo")).await, "BAD_REQUEST");
    assert_eq!(stage.ask_as(ana.clone(), &delete("ana")).await["deleteAccount"], true);
    let company = "mutation { createCompany(name: \"Late\") { id } }";
    assert_eq!(stage.refused_as(ana, company).await, "UNAUTHENTICATED");
}

/// R45: a key shows all of itself once, and is listed without it until it is taken away.
#[tokio::test]
async fn a_key_shows_its_secret_once() {
    let stage = Stage::of(["ana"]).await;
    let create = "mutation { createApiKey(name: \"robot\", scopes: [\"read\"]) { id prefix secret scopes } }";
    let key = stage.ask("ana", create).await["createApiKey"].take();
    assert!(key["secret"].as_str().unwrap().contains(key["prefix"].as_str().unwrap()));
    let list = "{ listApiKeys { items { id name secret } } }";
    let listed = stage.ask("ana", list).await["listApiKeys"]["items"].take();
    assert_eq!(listed, json!([{ "id": key["id"], "name": "robot", "secret": null }]));
    let revoke = format!("mutation {{ revokeApiKey(id: {}) {{ name }} }}", key["id"]);
    assert_eq!(stage.ask("ana", &revoke).await["revokeApiKey"]["name"], "robot");
    assert_eq!(stage.ask("ana", list).await["listApiKeys"]["items"], json!([]));
}

/// R5: what is for admins is refused to others: invitations, failed sign-ins, endpoints.
#[tokio::test]
async fn admins_invite_look_at_sign_ins_and_keep_endpoints() {
    let stage = Stage::of(["ana"]).await;
    stage.town.move_in("ada", |user| user.roles = vec![Role::User, Role::Admin]).await;
    let ada = stage.staff("ada", Role::Admin);
    let invite = "mutation { createInvitation(uses: 3) { code usesLeft expiresAt } }";
    let invitation = stage.ask_as(ada.clone(), invite).await["createInvitation"].take();
    assert_eq!((&invitation["usesLeft"], &invitation["expiresAt"]), (&json!(3), &Value::Null));
    let login = "mutation { login(email: \"ana@example.com\", password: \"not it at all\")
        { accessToken } }";
    stage.refused_as(Client::default(), login).await;
    let attempts = "{ listLoginAttempts(key: \"ana@example.com\") { items { key count } } }";
    let found = stage.ask_as(ada.clone(), attempts).await["listLoginAttempts"]["items"][0].take();
    assert_eq!(found, json!({ "key": "ana@example.com", "count": 1 }));
    let hook = "mutation { createWebhook(url: \"https://example.com/in\", eventTypes: [\"*\"])
        { id url enabled secret } }";
    let webhook = stage.ask_as(ada.clone(), hook).await["createWebhook"].take();
    assert!(webhook["secret"].is_string() && webhook["enabled"] == true);
    let hooks = "{ listWebhooks { items { id secret } } }";
    let listed = stage.ask_as(ada.clone(), hooks).await["listWebhooks"]["items"][0].take();
    assert_eq!(listed, json!({ "id": webhook["id"], "secret": null }));
    let gone = format!("mutation {{ deleteWebhook(id: {}) {{ id }} }}", webhook["id"]);
    assert_eq!(stage.ask_as(ada, &gone).await["deleteWebhook"]["id"], webhook["id"]);
    for document in [attempts, hook, hooks] {
        assert_eq!(stage.refused("ana", document).await, "FORBIDDEN", "{document}");
    }
}
