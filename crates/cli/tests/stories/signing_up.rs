//! Accounts.

use serde_json::json;

use super::people::PASSWORD;
use super::scene::{Scene, text};

const REGISTER: &str = "mutation ($email: AWSEmail!, $nickname: String!, $password: String!) {
    register(input: { email: $email, nickname: $nickname, password: $password }) { tokenType } }";
const REFRESH: &str = "mutation ($token: String!) { refreshToken(refreshToken: $token) {
    accessToken refreshToken } }";

pub(super) async fn an_account_is_created_used_and_deleted(scene: &Scene) {
    let (mut ana, anonymous) = (scene.sign_up("ana").await, scene.anonymous());
    let me = "{ me { id nickname email } }";
    let response = ana.ask(me, json!({})).await["me"].take();
    assert_eq!(
        (response["id"].as_str(), response["nickname"].as_str()),
        (Some(&*ana.id), Some(&*ana.nickname))
    );
    assert_eq!(response["email"], ana.credential("")["email"]);
    assert!(anonymous.ask(me, json!({})).await["me"].is_null());
    assert_eq!(anonymous.refused(REGISTER, ana.credential(PASSWORD)).await, "CONFLICT");
    let post = "mutation ($once: ID) {
        createPost(input: { content: \"hello\", contentType: text }, requestId: $once) { id } }";
    assert_eq!(anonymous.refused(post, json!({})).await, "UNAUTHENTICATED");

    let wrong = ana.log_in("wrong horse").await;
    assert_eq!(wrong["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    let again = ana.log_in(PASSWORD).await["data"]["login"].take();
    assert_eq!(again["user"]["id"], ana.id.as_str());
    ana.token = Some(text(&again["accessToken"]));
    let update = "mutation ($once: ID) {
        updateProfile(input: { displayName: \"Ana\", bio: \"Runs.\" }, requestId: $once) {
            displayName bio } }";
    let changed = ana.ask(update, json!({})).await["updateProfile"].take();
    assert_eq!(changed, json!({ "displayName": "Ana", "bio": "Runs." }));

    let next = ana.ask(REFRESH, json!({ "token": again["refreshToken"] })).await;
    ana.token = Some(text(&next["refreshToken"]["accessToken"]));
    let next = next["refreshToken"]["refreshToken"].clone();
    let run_result =
        "query ($name: String!) { getUserByNickname(nickname: $name) { displayName bio } }";
    let run_result =
        ana.ask(run_result, json!({ "name": ana.nickname })).await["getUserByNickname"].take();
    assert_eq!(run_result, changed);
    let leave = "mutation ($token: String!) { logout(refreshToken: $token) }";
    assert_eq!(ana.ask(leave, json!({ "token": next })).await["logout"], true);
    assert_eq!(ana.refused(me, json!({})).await, "UNAUTHENTICATED", "the token ends with it");
    assert_eq!(anonymous.refused(REFRESH, json!({ "token": next })).await, "UNAUTHENTICATED");
    // Another device than the one they signed up on.
    anonymous.ask(REFRESH, json!({ "token": ana.refresh_token })).await;
}
