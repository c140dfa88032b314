//! API keys that try to keep or widen the access of whoever holds them, and users who invite too many.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::AttackCase;
use super::scene::{AttackScene, PASSWORD, READER, STRANGERS};

pub(super) const CASES: &[AttackCase] = &[
    AttackCase {
        name: "widening-key",
        expected: "a key of an admin creates no keys, roles, webhooks or invitations, and changes no \
                   credentials",
        run: widen_access,
    },
    AttackCase {
        name: "invitations",
        expected: "a user invites no more people than the limits allow, and a key invites nobody",
        run: invite_too_many,
    },
];

fn widen_access(scene: &AttackScene<'_>) -> Result<String> {
    let stolen = scene.create_key(&scene.admin, &["write", "staff"])?;
    let mallory = scene.sign_up(STRANGERS[0], "mallory")?;
    let sees_email = "query ($email: AWSEmail!) { getUserByEmail(email: $email) { nickname } }";
    let seen =
        scene.ask(STRANGERS[0], Some(&stolen), sees_email, &json!({ "email": mallory.email }))?;
    let is_staff = seen.at("/data/getUserByEmail/nickname") == &mallory.name;
    ensure!(is_staff, "the key is no key of an admin: {seen}");
    let group = "mutation { createGroup(input: { name: \"keyholders\" }) { id } }";
    let group = scene.ask(READER, Some(&scene.admin.token), group, &json!({}))?;
    let variables = json!({
        "user": mallory.id, "password": PASSWORD, "group": group.text("/data/createGroup/id")?,
        "name": scene.admin.name,
    });
    let refused = [
        "mutation { createApiKey(name: \"second\", scopes: [\"write\", \"staff\"]) { secret } }",
        "mutation ($password: String) { createApiKey(name: \"second\", scopes: [\"write\"], \
         password: $password) { secret } }",
        "mutation ($user: ID!) { setUserRoles(userId: $user, roles: [admin]) { id } }",
        "mutation { createWebhook(url: \"https://hooks.example.org/all\", eventTypes: [\"*\"]) { id } }",
        "mutation { createInvitation(uses: 1000) { code } }",
        "mutation ($password: String!) { changePassword(current: $password, next: \"mine from now on\") }",
        "mutation ($password: String!) { changeEmail(password: $password, email: \"me@evil.example\") \
         { email } }",
        "mutation ($name: String!, $password: String) { deleteAccount(confirmNickname: $name, \
         password: $password) }",
        "mutation { logout(everywhere: true) }",
        "mutation ($group: ID!, $user: ID!) { setGroupRole(groupId: $group, userId: $user, role: owner) \
         { role } }",
    ];
    for query in refused {
        let used: Value = used_variables(query, &variables);
        let answer = scene.ask(STRANGERS[0], Some(&stolen), query, &used)?;
        answer.require_refusal(query, &["FORBIDDEN"])?;
    }
    let keys = "{ listApiKeys { items { name } } me { email roles } }";
    let left = scene.ask(READER, Some(&scene.admin.token), keys, &json!({}))?;
    ensure!(left.at("/data/me/email") == &scene.admin.email, "{left}");
    ensure!(
        left.at("/data/listApiKeys/items").as_array().is_some_and(|all| all.len() == 1),
        "{left}"
    );
    let roles = scene.ask(STRANGERS[0], Some(&mallory.token), "{ me { roles } }", &json!({}))?;
    ensure!(roles.at("/data/me/roles") == &json!(["user"]), "{roles}");
    let revoke = "mutation ($id: ID!) { revokeApiKey(id: $id) { id } }";
    let id = scene.ask(
        READER,
        Some(&scene.admin.token),
        "{ listApiKeys { items { id } } }",
        &json!({}),
    )?;
    let id = json!({ "id": id.text("/data/listApiKeys/items/0/id")? });
    scene
        .ask(READER, Some(&scene.admin.token), revoke, &id)?
        .require_success("revoking the key")?;
    let late = scene.me(STRANGERS[0], &stolen)?;
    late.require_refusal("a key that was revoked", &["UNAUTHENTICATED"])?;
    Ok(format!("{} mutations were refused", refused.len()))
}

/// Returns those variables that a document declares: others are an error of their own.
fn used_variables(query: &str, all: &Value) -> Value {
    let used = all.as_object().into_iter().flatten();
    used.filter(|(name, _)| query.contains(&format!("${name}:")))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn invite_too_many(scene: &AttackScene<'_>) -> Result<String> {
    /// The defaults.
    const OPEN_MAX: usize = 10;
    const TRIES: usize = 15;
    let mallory = scene.sign_up(STRANGERS[2], "mallory")?;
    let key = scene.create_key(&mallory, &["write"])?;
    let invite = "mutation ($uses: Int) { createInvitation(uses: $uses) { code } }";
    let as_key = scene.ask(STRANGERS[2], Some(&key), invite, &json!({ "uses": 1 }))?;
    as_key.require_refusal("an invitation by a key", &["FORBIDDEN"])?;
    for uses in [6, 1_000] {
        let many =
            scene.ask(STRANGERS[2], Some(&mallory.token), invite, &json!({ "uses": uses }))?;
        many.require_refusal("an invitation for many", &["BAD_REQUEST"])?;
    }
    let mut created = 0;
    for _ in 0..TRIES {
        let answer =
            scene.ask(STRANGERS[2], Some(&mallory.token), invite, &json!({ "uses": 5 }))?;
        if answer.codes().is_empty() {
            created += 1;
        } else {
            answer.require_refusal("one more invitation", &["CONFLICT"])?;
        }
    }
    ensure!(created == OPEN_MAX, "{created} invitations were created, not {OPEN_MAX}");
    Ok(format!("{created} of {TRIES} invitations, each for 5"))
}
