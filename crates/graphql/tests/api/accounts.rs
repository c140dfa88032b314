//! Registration, sessions, profiles and API keys.

use roundtable_domain::Caller;
use roundtable_interface::ClientInfo;
use roundtable_model::Role;
use serde_json::{Value, json};

use crate::api_town::ApiTown;

const REGISTER: &str = "mutation { register(input: { email: \"ana@example.com\",
    password: \"correct horse battery\", nickname: \"ana\", fullName: \"Ana\" })
    { accessToken refreshToken expiresIn tokenType user { nickname email } } }";

async fn registered(api: &ApiTown) -> (Value, ClientInfo) {
    let payload = api.run_as(ClientInfo::default(), REGISTER).await["register"].take();
    let found =
        api.run_as(ClientInfo::default(), "{ getUserByNickname(nickname: \"ana\") { id } }").await;
    let id = found["getUserByNickname"]["id"].as_str().unwrap();
    (payload, api.client(id))
}

async fn refresh(api: &ApiTown, token: &Value) -> Value {
    let document = format!("mutation {{ refreshToken(refreshToken: {token}) {{ refreshToken }} }}");
    api.response(ClientInfo::default(), &document, Value::Null).await
}

/// R6: a refreshed token replaces the one before.
#[tokio::test]
async fn a_user_registers_logs_in_and_refreshes() {
    let api = ApiTown::of([]).await;
    let (payload, _) = registered(&api).await;
    assert_eq!(payload["accessToken"], "token of ana");
    assert_eq!((&payload["expiresIn"], &payload["tokenType"]), (&json!(900), &json!("Bearer")));
    assert_eq!(payload["user"], json!({ "nickname": "ana", "email": "ana@example.com" }));
    let login = |password: &str| {
        format!(
            "mutation {{ login(email: \"ana@example.com\", password: \"{password}\")
                {{ accessToken refreshToken user {{ nickname }} }} }}"
        )
    };
    let wrong = api.error_code_as(ClientInfo::default(), &login("wrong horse battery")).await;
    assert_eq!(wrong, "UNAUTHENTICATED");
    let entered =
        api.run_as(ClientInfo::default(), &login("correct horse battery")).await["login"].take();
    assert_eq!(entered["user"]["nickname"], "ana");
    let next =
        refresh(&api, &entered["refreshToken"]).await["data"]["refreshToken"]["refreshToken"]
            .take();
    assert!(next.is_string() && next != entered["refreshToken"]);
    let logout = format!("mutation {{ logout(refreshToken: {next}) }}");
    assert_eq!(api.run_as(ClientInfo::default(), &logout).await["logout"], true);
    let expired = refresh(&api, &next).await;
    assert_eq!(expired["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
}

/// R48: one argument for all names, or the address as before.
#[tokio::test]
async fn a_user_logs_in_by_any_of_their_names() {
    let api = ApiTown::of([]).await;
    let (_, ana) = registered(&api).await;
    let handle = "mutation { updateProfile(input: { handle: \"captain\" }) { handle } }";
    api.run_as(ana, handle).await;
    let login = |names: &str| {
        format!(
            "mutation {{ login({names} password: \"correct horse battery\")
                {{ user {{ nickname }} }} }}"
        )
    };
    for names in [
        "identifier: \"ana@example.com\"",
        "identifier: \"ana\"",
        "identifier: \"captain\"",
        "identifier: \"@captain\"",
        "email: \"ana@example.com\"",
        "email: \"ana@example.com\", identifier: null",
    ] {
        let entered = api.run_as(ClientInfo::default(), &login(names)).await["login"].take();
        assert_eq!(entered["user"]["nickname"], "ana", "{names}");
    }
    let both = "identifier: \"ana\", email: \"ana@example.com\"";
    for names in ["", both, "identifier: \"\"", "identifier: \"ana@\""] {
        let refused = api.error_code_as(ClientInfo::default(), &login(names)).await;
        assert_eq!(refused, "BAD_REQUEST", "{names}");
    }
    let refused = api.error_code_as(ClientInfo::default(), &login("identifier: \"@ana\"")).await;
    assert_eq!(refused, "UNAUTHENTICATED");
}

/// R6: a new password ends all other sessions.
#[tokio::test]
async fn passwords_emails_and_profiles_can_be_changed() {
    let api = ApiTown::of([]).await;
    let (payload, ana) = registered(&api).await;
    let change = "mutation { changePassword(current: \"correct horse battery\",
        next: \"another horse entirely\") }";
    assert_eq!(api.run_as(ana.clone(), change).await["changePassword"], true);
    let expired = refresh(&api, &payload["refreshToken"]).await;
    assert_eq!(expired["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    let email = "mutation { changeEmail(password: \"another horse entirely\",
        email: \"a@example.org\") { email } }";
    assert_eq!(api.run_as(ana.clone(), email).await["changeEmail"]["email"], "a@example.org");
    let profile =
        "mutation { updateProfile(input: { bio: \"hello\", fullName: null, tags: [\"Tea\"],
        isPrivate: true }) { nickname bio fullName tags isPrivate } }";
    let shown = api.run_as(ana, profile).await["updateProfile"].take();
    let expected = json!({ "nickname": "ana", "bio": "hello", "fullName": null, "tags": ["Tea"],
        "isPrivate": true });
    assert_eq!(shown, expected);
}

/// R6: logout and deletion.
#[tokio::test]
async fn logging_out_everywhere_ends_all_sessions_and_deleting_needs_the_nickname() {
    let api = ApiTown::of([]).await;
    let (payload, ana) = registered(&api).await;
    let everywhere = "mutation { logout(everywhere: true) }";
    assert_eq!(api.run_as(ana.clone(), everywhere).await["logout"], true);
    let expired = refresh(&api, &payload["refreshToken"]).await;
    assert_eq!(expired["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    let delete = |name: &str| format!("mutation {{ deleteAccount(confirmNickname: \"{name}\") }}");
    assert_eq!(api.error_code_as(ana.clone(), &delete("bo")).await, "BAD_REQUEST");
    assert_eq!(api.run_as(ana.clone(), &delete("ana")).await["deleteAccount"], true);
    let company = "mutation { createCompany(name: \"Late\") { id } }";
    assert_eq!(api.error_code_as(ana, company).await, "UNAUTHENTICATED");
}

/// R45: later lists omit the secret.
#[tokio::test]
async fn an_api_key_shows_its_secret_once() {
    let api = ApiTown::of(["ana"]).await;
    let create = "mutation { createApiKey(name: \"robot\", scopes: [\"read\"]) { id prefix secret scopes } }";
    let key = api.run("ana", create).await["createApiKey"].take();
    assert!(key["secret"].as_str().unwrap().contains(key["prefix"].as_str().unwrap()));
    let list = "{ listApiKeys { items { id name secret } } }";
    let listed = api.run("ana", list).await["listApiKeys"]["items"].take();
    assert_eq!(listed, json!([{ "id": key["id"], "name": "robot", "secret": null }]));
    let revoke = format!("mutation {{ revokeApiKey(id: {}) {{ name }} }}", key["id"]);
    assert_eq!(api.run("ana", &revoke).await["revokeApiKey"]["name"], "robot");
    assert_eq!(api.run("ana", list).await["listApiKeys"]["items"], json!([]));
}

/// R50
#[tokio::test]
async fn admins_set_tiers_and_verify_users() {
    let api = ApiTown::of(["ana"]).await;
    api.town.add_user("ada", |user| user.roles = vec![Role::User, Role::Admin]).await;
    let ada = api.staff("ada", Role::Admin);
    let tier = r#"mutation { setUserTier(userId: "ana", tier: pro, requestId: "1") { tier } }"#;
    let verify = r#"mutation { setUserVerified(userId: "ana", isVerified: true) { isVerified } }"#;
    for document in [tier, verify] {
        assert_eq!(api.error_code("ana", document).await, "FORBIDDEN");
        api.run_as(ada.clone(), document).await;
    }
    let seen = api.run_as(None, r#"{ getUser(id: "ana") { tier isVerified } }"#).await;
    assert_eq!(seen["getUser"], json!({ "tier": "pro", "isVerified": true }));
}

/// R5: invitations, failed logins and webhooks are for admins only.
#[tokio::test]
async fn admins_manage_invitations_login_attempts_and_webhooks() {
    let api = ApiTown::of(["ana"]).await;
    api.town.add_user("ada", |user| user.roles = vec![Role::User, Role::Admin]).await;
    let ada = api.staff("ada", Role::Admin);
    let invite = "mutation { createInvitation(uses: 3) { code usesLeft expiresAt } }";
    let invitation = api.run_as(ada.clone(), invite).await["createInvitation"].take();
    assert_eq!((&invitation["usesLeft"], &invitation["expiresAt"]), (&json!(3), &Value::Null));
    let login = "mutation { login(email: \"ana@example.com\", password: \"not it at all\")
        { accessToken } }";
    api.error_code_as(ClientInfo::default(), login).await;
    let attempts = "{ listLoginAttempts(key: \"ana@example.com\") { items { key count } } }";
    let found = api.run_as(ada.clone(), attempts).await["listLoginAttempts"]["items"][0].take();
    assert_eq!(found, json!({ "key": "ana@example.com", "count": 1 }));
    let hook = "mutation { createWebhook(url: \"https://example.com/in\", eventTypes: [\"*\"])
        { id url enabled secret } }";
    let webhook = api.run_as(ada.clone(), hook).await["createWebhook"].take();
    assert!(webhook["secret"].is_string() && webhook["enabled"] == true);
    let hooks = "{ listWebhooks { items { id secret } } }";
    let listed = api.run_as(ada.clone(), hooks).await["listWebhooks"]["items"][0].take();
    assert_eq!(listed, json!({ "id": webhook["id"], "secret": null }));
    // R57
    let id = &webhook["id"];
    let deliveries = format!(
        "{{ listWebhookDeliveries(webhookId: {id}) {{ items {{ id eventTypes sent attempts
            failingSince error nextAttemptAt happenedAt }} }} }}"
    );
    let waiting = api.run_as(ada.clone(), &deliveries).await["listWebhookDeliveries"].take();
    assert_eq!(waiting["items"], json!([]));
    let enable = format!("mutation {{ enableWebhook(id: {id}) {{ enabled }} }}");
    assert_eq!(api.run_as(ada.clone(), &enable).await["enableWebhook"]["enabled"], true);
    let (now, long_ago) = (api.town.now().to_string(), "2001-01-01T00:00:00Z");
    let replay = |from: &str| {
        format!(
            "mutation {{ replayWebhook(id: {id}, from: \"{from}\", requestId: \"{from}\") {{ id }} }}"
        )
    };
    for from in [&now, long_ago] {
        assert_eq!(api.run_as(ada.clone(), &replay(from)).await["replayWebhook"]["id"], *id);
    }
    for document in [&deliveries, &enable, &replay(&now)] {
        assert_eq!(api.error_code("ana", document).await, "FORBIDDEN", "{document}");
    }
    let gone = format!("mutation {{ deleteWebhook(id: {}) {{ id }} }}", webhook["id"]);
    assert_eq!(api.run_as(ada, &gone).await["deleteWebhook"]["id"], webhook["id"]);
    for document in [attempts, hook, hooks] {
        assert_eq!(api.error_code("ana", document).await, "FORBIDDEN", "{document}");
    }
}

/// The token is `SUBJECT ADDRESS` here.
#[tokio::test]
async fn an_identity_signs_up_is_linked_and_proves_an_address() {
    let api = ApiTown::of([]).await;
    let register = |name: &str, token: &str| {
        format!(
            "mutation {{ register(input: {{ email: \"{name}@example.com\", nickname: \"{name}\",
            password: \"correct horse battery\" {token} }}) {{ deviceToken user {{ nickname }} }} }}"
        )
    };
    let token = "identityToken: \"s-1 ana@example.com\"";
    let anonymous = ClientInfo::default;
    let ana = api.run_as(anonymous(), &register("ana", token)).await["register"].take();
    assert_eq!(ana["user"]["nickname"], "ana");
    assert!(ana["deviceToken"].as_str().unwrap().starts_with("rtd."));
    assert_eq!(api.error_code_as(anonymous(), &register("bo", token)).await, "BAD_REQUEST");

    api.run_as(anonymous(), &register("bo", "")).await;
    let link = |password: &str| {
        format!(
            "mutation {{ linkIdentity(identityToken: \"s-2 bo@example.com\",
            password: \"{password}\") }}"
        )
    };
    let wrong = api.error_code_as(anonymous(), &link("wrong horse battery")).await;
    assert_eq!(wrong, "UNAUTHENTICATED");
    assert_eq!(api.run_as(anonymous(), &link("correct horse battery")).await["linkIdentity"], true);

    // Bo's new address is free, and another user claims it before he proves it.
    api.run_as(anonymous(), &register("bob", "")).await;
    let bo = api.services.accounts().by_nickname(None, &"bo".parse().unwrap()).await.unwrap();
    let bo = Caller::with_roles(bo.unwrap().id.clone(), &[Role::User]);
    let change = |token: &str| {
        format!(
            "mutation {{ changeEmail(password: \"correct horse battery\",
            email: \"bob@example.com\" {token}) {{ email }} }}"
        )
    };
    assert_eq!(api.error_code_as(Some(bo.clone()), &change("")).await, "CONFLICT");
    let proved = change("identityToken: \"s-2 bob@example.com\"");
    let changed = api.run_as(Some(bo), &proved).await["changeEmail"].take();
    assert_eq!(changed, json!({ "email": "bob@example.com" }));
}
