//! What an API key must not do: create or widen access, whoever owns it.

use roundtable_domain::{Caller, STAFF_SCOPE};
use roundtable_model::Role;
use serde_json::{Value, json};

use crate::test_server::{PASSWORD, TestServer, code};

/// A server with an admin's key that has every scope.
async fn with_staff_key() -> (TestServer, Caller, String) {
    let server = TestServer::fresh().await;
    let ada = server.registered("ada").await;
    server.accounts().grant(&ada.user.nickname, Role::Admin).await.unwrap();
    let ada = server.accounts().refresh(&ada.refresh_token).await.unwrap().caller;
    let scopes = ["read", "write", STAFF_SCOPE].map(String::from);
    let made = server.accounts().create_key(&ada, "program", &scopes, None).await.unwrap();
    (server, ada, made.secret.expose().to_owned())
}

async fn refusal(server: &TestServer, key: &str, document: &str, variables: &Value) -> Value {
    let (_, mut refused) = server.ask_with(Some(key), document, variables.clone()).await;
    assert_eq!(code(&refused), "FORBIDDEN", "{document}: {refused}");
    refused["errors"][0]["message"].take()
}

#[tokio::test]
async fn a_staff_key_creates_and_widens_no_access() {
    let (server, ada, key) = with_staff_key().await;
    let bo = server.registered("bo").await;
    let group = "mutation { createGroup(input: { name: \"readers\" }) { id } }";
    let (_, made) = server.ask(Some(&key), group).await;
    let group = made["data"]["createGroup"]["id"].as_str().unwrap_or_else(|| panic!("{made}"));
    let variables = json!({ "password": PASSWORD, "bo": bo.user.id, "group": group });
    for document in [
        "mutation ($bo: ID!) { setUserRoles(userId: $bo, roles: [user, admin]) { id } }",
        "mutation { createWebhook(url: \"https://example.com/in\", eventTypes: [\"*\"]) { id } }",
        "mutation { createInvitation(uses: 1000) { code } }",
        "mutation { createInvitation { code } }",
        "mutation { createApiKey(name: \"more\", scopes: [\"read\"]) { id } }",
        "mutation ($password: String!) { createApiKey(name: \"more\", scopes: [\"read\"],
            password: $password) { id } }",
        "mutation { revokeApiKey(id: \"any\") { id } }",
        "mutation ($password: String!) { changePassword(current: $password,
            next: \"quite another secret\") }",
        "mutation ($password: String!) { changeEmail(password: $password,
            email: \"eve@example.org\") { id } }",
        "mutation ($password: String!) { deleteAccount(confirmNickname: \"ada\",
            password: $password) }",
        "mutation { logout(everywhere: true) }",
        "mutation ($group: ID!, $bo: ID!) { setGroupRole(groupId: $group, userId: $bo,
            role: owner) { role } }",
        "{ listApiKeys { items { id } } }",
        "{ listWebhooks { items { id } } }",
    ] {
        let message = refusal(&server, &key, document, &variables).await;
        assert_eq!(message, "API keys cannot do this; sign in with your password", "{document}");
    }
    let (_, read) =
        server.ask(Some(&key), "{ getUserByEmail(email: \"bo@example.org\") { nickname } }").await;
    assert_eq!(read["data"]["getUserByEmail"]["nickname"], "bo", "it is a staff key: {read}");
    let keys = server.accounts().keys(&ada, &roundtable_domain::PageInput::first()).await.unwrap();
    assert_eq!(keys.items.len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_user_invites_few() {
    let server = TestServer::with(|all| all.settings.invitations.open_max = 2).await;
    let token = server.sign_up("ana").await;
    let invite = async |uses: u32| {
        let invite = format!("mutation {{ createInvitation(uses: {uses}) {{ usesLeft }} }}");
        server.ask(Some(&token), &invite).await.1
    };
    assert_eq!(code(&invite(6).await), "BAD_REQUEST");
    for _ in 0..2 {
        assert_eq!(invite(5).await["data"]["createInvitation"]["usesLeft"], 5);
    }
    assert_eq!(code(&invite(1).await), "CONFLICT");
    server.stop().await;
}
