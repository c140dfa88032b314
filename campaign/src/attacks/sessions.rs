//! Credentials whose session has ended: by a sign-out, or by a new password of the user.

use anyhow::{Result, ensure};
use serde_json::json;

use super::AttackCase;
use super::scene::{AttackScene, PASSWORD, READER, STRANGERS};

pub(super) const CASES: &[AttackCase] = &[
    AttackCase {
        name: "signed-out-token",
        expected: "a token of a session that has ended reads nothing, creates no key and deletes nothing",
        run: use_signed_out_token,
    },
    AttackCase {
        name: "old-password-token",
        expected: "a new password ends the tokens of all other sessions, and the keys",
        run: use_tokens_of_an_old_password,
    },
    AttackCase {
        name: "copied-refresh-token",
        expected: "a refresh token that is used twice ends its session for both",
        run: use_a_refresh_token_twice,
    },
];

/// What a thief wants first: to come back later, and to do harm.
const THEFTS: [&str; 4] = [
    "{ me { email } }",
    "mutation { createApiKey(name: \"mine\", scopes: [\"write\"]) { secret } }",
    "mutation { updateProfile(input: { bio: \"stolen\" }) { bio } }",
    "{ getFeed(first: 1) { edges { cursor } } }",
];

fn use_signed_out_token(scene: &AttackScene<'_>) -> Result<String> {
    let victim = scene.sign_up(READER, "victim")?;
    let login = scene.login(READER, &victim.email, PASSWORD, Some(&victim.device))?;
    let stolen = login.text("/data/login/accessToken")?;
    scene.me(STRANGERS[0], &stolen)?.require_success("a stolen token, before the sign-out")?;
    let logout = scene.ask(READER, Some(&stolen), "mutation { logout }", &json!({}))?;
    logout.require_success("signing out")?;
    require_useless(scene, &stolen, &victim.name)?;
    let own = scene.me(READER, &victim.token)?;
    ensure!(own.at("/data/me/nickname") == &victim.name, "the victim's other session: {own}");
    let everywhere = "mutation { logout(everywhere: true) }";
    scene.ask(READER, Some(&victim.token), everywhere, &json!({}))?.require_success(everywhere)?;
    require_useless(scene, &victim.token, &victim.name)?;
    Ok(format!("{} requests with two tokens were refused", 2 * (THEFTS.len() + 1)))
}

fn use_tokens_of_an_old_password(scene: &AttackScene<'_>) -> Result<String> {
    let victim = scene.sign_up(READER, "victim")?;
    let login = scene.login(STRANGERS[1], &victim.email, PASSWORD, None)?;
    let stolen = login.text("/data/login/accessToken")?;
    let key = scene.create_key(&victim, &["write"])?;
    let change = "mutation ($old: String!) { changePassword(current: $old, next: \"another battery staple\") }";
    let changed = scene.ask(READER, Some(&victim.token), change, &json!({ "old": PASSWORD }))?;
    changed.require_success("changing the password")?;
    require_useless(scene, &stolen, &victim.name)?;
    require_useless(scene, &key, &victim.name)?;
    let refresh = json!({ "token": login.text("/data/login/refreshToken")? });
    let refreshed = scene.ask(STRANGERS[1], None, REFRESH, &refresh)?;
    refreshed.require_refusal("the refresh token of another session", &["UNAUTHENTICATED"])?;
    scene.me(READER, &victim.token)?.require_success("the session that changed the password")?;
    Ok(String::from("the other session's token, its refresh token and a key were refused"))
}

const REFRESH: &str = "mutation ($token: String!) { refreshToken(refreshToken: $token) { accessToken refreshToken } }";

fn use_a_refresh_token_twice(scene: &AttackScene<'_>) -> Result<String> {
    let victim = scene.sign_up(READER, "victim")?;
    let stolen = json!({ "token": victim.refresh });
    let first = scene.ask(STRANGERS[2], None, REFRESH, &stolen)?;
    let gained = first.text("/data/refreshToken/accessToken")?;
    let second = scene.ask(READER, None, REFRESH, &stolen)?;
    second.require_refusal("the token that the thief has used", &["UNAUTHENTICATED"])?;
    require_useless(scene, &gained, &victim.name)?;
    let next = json!({ "token": first.text("/data/refreshToken/refreshToken")? });
    let again = scene.ask(STRANGERS[2], None, REFRESH, &next)?;
    again.require_refusal("the thief's next token", &["UNAUTHENTICATED"])?;
    Ok(String::from("the thief has lost what the copy gained"))
}

/// Fails unless a credential is good for nothing any more.
fn require_useless(scene: &AttackScene<'_>, credential: &str, name: &str) -> Result<()> {
    let delete = format!("mutation {{ deleteAccount(confirmNickname: \"{name}\") }}");
    for query in THEFTS.into_iter().chain([delete.as_str()]) {
        let answer = scene.ask(STRANGERS[0], Some(credential), query, &json!({}))?;
        answer.require_refusal(query, &["UNAUTHENTICATED"])?;
        ensure!(answer.status == 401 && answer.at("/data").is_null(), "{query}: {answer}");
    }
    let query = "query ($name: String!) { getUserByNickname(nickname: $name) { bio } }";
    let profile = scene.ask(READER, None, query, &json!({ "name": name }))?;
    ensure!(profile.at("/data/getUserByNickname").is_object(), "the account is gone: {profile}");
    ensure!(profile.at("/data/getUserByNickname/bio").is_null(), "it was changed: {profile}");
    Ok(())
}
