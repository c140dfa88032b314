//! Subscriptions that stay open after their right has ended.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::AttackCase;
use super::scene::{AttackScene, PASSWORD, READER, STRANGERS, TIMEOUT};
use super::sockets::{AttackSocket, SocketEvent};

pub(super) const CASES: &[AttackCase] = &[
    AttackCase {
        name: "dismissed-moderator",
        expected: "a moderator's subscription shows nothing private after the dismissal",
        run: listen_after_a_dismissal,
    },
    AttackCase {
        name: "signed-out-socket",
        expected: "WebSockets end with their session, their key, and a suspension",
        run: listen_after_a_sign_out,
    },
];

const NEW_POSTS: &str = "subscription { onCreatePost { content } }";
/// The close code of a credential that has ended.
const FORBIDDEN: Option<u16> = Some(4403);

fn listen_after_a_dismissal(scene: &AttackScene<'_>) -> Result<String> {
    let mo = scene.sign_up(READER, "mo")?;
    set_roles(scene, &mo.id, "[user, moderator]")?;
    let login = scene.login(READER, &mo.email, PASSWORD, Some(&mo.device))?;
    let token = login.text("/data/login/accessToken")?;
    let mut socket = AttackSocket::connect_as(scene, STRANGERS[0], &token)?;
    let topics = scene.metric("roundtable_live_topics")?;
    socket.subscribe("posts", NEW_POSTS)?;
    scene.until("the subscription begins", || {
        Ok(scene.metric("roundtable_live_topics")? > topics)
    })?;
    scene.post(&scene.writer.token, "a first secret", "private")?;
    ensure!(next_post(&mut socket)? == "a first secret", "a moderator sees private posts");
    set_roles(scene, &mo.id, "[user]")?;
    scene.post(&scene.writer.token, "a secret", "private")?;
    scene.post(&scene.writer.token, "for all", "public")?;
    let seen = next_post(&mut socket)?;
    ensure!(seen == "for all", "the dismissed moderator received {seen:?}");
    Ok(String::from("the next event was the public one"))
}

fn listen_after_a_sign_out(scene: &AttackScene<'_>) -> Result<String> {
    let victim = scene.sign_up(READER, "victim")?;
    let key = scene.create_key(&victim, &["read"])?;
    let mut subscribed = AttackSocket::connect_as(scene, STRANGERS[0], &victim.token)?;
    subscribed.subscribe("posts", NEW_POSTS)?;
    let mut idle = AttackSocket::connect_as(scene, STRANGERS[1], &victim.token)?;
    let mut robot = AttackSocket::connect_as(scene, STRANGERS[2], &key)?;
    robot.subscribe("posts", NEW_POSTS)?;
    let everywhere = "mutation { logout(everywhere: true) }";
    scene.ask(READER, Some(&victim.token), everywhere, &json!({}))?.require_success(everywhere)?;
    scene.post(&scene.writer.token, "after the sign-out", "public")?;
    for (what, socket) in
        [("subscribed", &mut subscribed), ("idle", &mut idle), ("of a key", &mut robot)]
    {
        require_end(socket).with_context(|| format!("a socket {what}, after the sign-out"))?;
    }
    let eve = scene.sign_up(STRANGERS[3], "eve")?;
    let mut suspended = AttackSocket::connect_as(scene, STRANGERS[3], &eve.token)?;
    let topics = scene.metric("roundtable_live_topics")?;
    suspended.subscribe("posts", NEW_POSTS)?;
    scene.until("the subscription begins", || {
        Ok(scene.metric("roundtable_live_topics")? > topics)
    })?;
    let suspend = "mutation ($id: ID!) { suspendUser(userId: $id, reason: \"spam\") { id } }";
    let id = json!({ "id": eve.id });
    scene.ask(READER, Some(&scene.admin.token), suspend, &id)?.require_success("suspending")?;
    scene.post(&scene.writer.token, "after the suspension", "public")?;
    match suspended.next(TIMEOUT)? {
        SocketEvent::Closed(_) => {}
        SocketEvent::Message(message) if content(&message).is_null() => {}
        event => bail!("a suspended user received {event:?}"),
    }
    Ok(String::from("4 sockets ended"))
}

/// Fails unless the server closes the connection for its credential, and sends no post before.
fn require_end(socket: &mut AttackSocket) -> Result<()> {
    loop {
        match socket.next(TIMEOUT)? {
            SocketEvent::Closed(FORBIDDEN) => return Ok(()),
            SocketEvent::Message(message) if content(&message).is_null() => {}
            event => bail!("it received {event:?}"),
        }
    }
}

fn set_roles(scene: &AttackScene<'_>, user: &str, roles: &str) -> Result<()> {
    let query =
        format!("mutation ($id: ID!) {{ setUserRoles(userId: $id, roles: {roles}) {{ id }} }}");
    let set = scene.ask(READER, Some(&scene.admin.token), &query, &json!({ "id": user }))?;
    set.require_success("setting roles")
}

fn content(message: &Value) -> &Value {
    message.pointer("/payload/data/onCreatePost/content").unwrap_or(&Value::Null)
}

/// Returns the text of the next post that a socket receives.
fn next_post(socket: &mut AttackSocket) -> Result<String> {
    match socket.next(TIMEOUT)? {
        SocketEvent::Message(message) if content(&message).is_string() => {
            Ok(content(&message).as_str().unwrap_or_default().to_owned())
        }
        event => bail!("no post, but {event:?}"),
    }
}
