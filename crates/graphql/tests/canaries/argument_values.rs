//! Values for the arguments of root fields: all objects of the town, visible or not.

use std::collections::BTreeMap;

use data_encoding::BASE64URL_NOPAD;
use roundtable_model::entities::AssistMsg;
use roundtable_model::{CaseId, EntityKind, ModerationStatus, Span, samples};
use roundtable_testkit::{Canary, SecretGoal, SecretTown, VIEWERS};

/// All values of each kind, as GraphQL literals.
pub(crate) type ArgumentValues = BTreeMap<&'static str, Vec<String>>;

/// Smaller than all ids.
const BEGINNING: &str = "00000000000000000000000000";

fn quoted(text: &impl ToString) -> String {
    serde_json::to_string(&text.to_string()).unwrap()
}

fn all<T: ToString>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| quoted(&value)).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// All users who have, or had, a profile.
fn users() -> impl Iterator<Item = &'static str> {
    VIEWERS.into_iter().filter(|name| *name != "nobody")
}

pub(crate) async fn argument_values(hidden: &SecretTown) -> ArgumentValues {
    let SecretTown {
        town, posts, comments, groups, trade, rooms, secret_goals, secret_quests, ..
    } = hidden;
    let nicknames = users().map(|name| match name {
        "sid" | "dan" => format!("xq{name}s-nickxq"),
        name => name.to_owned(),
    });
    let mails = users().map(|name| format!("mail-{name}")).chain(["tried".into()]);
    let kinds = EntityKind::ALL.iter().map(ToString::to_string).collect();
    let statuses = ModerationStatus::ALL.iter().map(ToString::to_string).collect();
    let actors = all(users()).into_iter().chain(all(groups));
    let mut argument_values = ArgumentValues::from([
        ("user", all(users())),
        ("secretive", all(["ana", "pia", "sid", "dan"])),
        ("nickname", all(nicknames)),
        ("handle", all(["xqdans-handlexq"])),
        ("email", all(mails.map(|mail| format!("xq{mail}xq@example.com")))),
        ("kind", kinds),
        ("searched", all(hidden.canaries.iter().map(Canary::secret))),
        ("status", statuses),
        ("questStatus", words(&["active", "completed", "cancelled"])),
        ("order", words(&["ASC", "DESC"])),
        ("date", all([town.now().day()])),
        ("begin", all(["2025-01-01T00:00:00.000Z"])),
        ("end", all(["2026-01-01T00:00:00.000Z"])),
        ("first", all([BEGINNING])),
        ("actor", actors.collect()),
        ("group", all(groups)),
        ("post", all(posts)),
        ("comment", all(comments.iter().map(|(_, id)| id))),
        ("webhook", all([samples::webhook().id])),
        ("room", all(rooms)),
        ("thread", all(&trade.threads)),
        ("company", all(&trade.companies)),
        ("offer", all(&trade.offers)),
        ("goalId", all(secret_goals.iter().map(|plan| &plan.goal))),
    ]);
    for SecretGoal { owner, goal, task, milestone, .. } in secret_goals {
        let mut put = |kind, text| argument_values.entry(kind).or_default().push(text);
        put("goal", format!("id: \"{goal}\""));
        put("goal", format!("id: \"{goal}\", userId: \"{owner}\""));
        put("goalOf", format!("goalId: \"{goal}\", userId: \"{owner}\""));
        put("task", format!("goalId: \"{goal}\", id: \"{task}\""));
        put("milestone", format!("goalId: \"{goal}\", id: \"{milestone}\""));
        put("milestone", format!("goalId: \"{goal}\", id: \"{milestone}\", userId: \"{owner}\""));
    }
    for (owner, quest) in secret_quests {
        let mut put = |text| argument_values.entry("quest").or_default().push(text);
        put(format!("questId: \"{quest}\""));
        put(format!("questId: \"{quest}\", userId: \"{owner}\""));
    }
    argument_values
}

pub(crate) fn node_id(kind: &str, parts: &[&dyn ToString]) -> String {
    let parts = parts.iter().map(|part| part.to_string());
    let text = std::iter::once(kind.to_owned()).chain(parts).collect::<Vec<_>>().join(":");
    BASE64URL_NOPAD.encode(text.as_bytes())
}

/// The global ids of all objects, with their types.
pub(crate) async fn nodes(hidden: &SecretTown) -> Vec<(&'static str, String)> {
    let SecretTown {
        town, posts, comments, groups, trade, rooms, secret_goals, secret_quests, ..
    } = hidden;
    let mut nodes: Vec<(&'static str, String)> = Vec::new();
    let mut put = |kind, parts: &[&dyn ToString]| nodes.push((kind, node_id(kind, parts)));
    for name in users() {
        put("User", &[&name]);
        put("Promotion", &[&name]);
        for other in ["ana", "pia", "sid", "dan", "tom"] {
            put("Follow", &[&name, &other]);
        }
        for group in groups {
            put("GroupMember", &[group, &name]);
        }
        let core = town.context().core();
        for note in core.notifications(&town.id(name), Span::ALL).all().await.unwrap() {
            put("Notification", &[&note.id]);
        }
    }
    for group in groups {
        put("Group", &[group]);
    }
    for post in posts {
        put("Post", &[post]);
        for name in ["ana", "bex", "dan", "sid", "tom"] {
            put("Like", &[post, &name]);
        }
        put("ModerationCase", &[&CaseId::from(post)]);
    }
    for (post, comment) in comments {
        put("Comment", &[post, comment]);
        put("ModerationCase", &[&CaseId::from(comment)]);
    }
    for SecretGoal { owner, goal, task, milestone, .. } in secret_goals {
        put("Goal", &[owner, goal]);
        put("Task", &[goal, task]);
        put("Milestone", &[owner, goal, milestone]);
    }
    for (owner, quest) in secret_quests {
        put("Quest", &[owner, quest]);
    }
    for room in rooms {
        put("Room", &[room]);
        for message in hidden.message_ids(room).await {
            put("Message", &[room, &message]);
        }
    }
    trade.threads.iter().for_each(|thread| put("AssistThread", &[thread]));
    trade.companies.iter().for_each(|company| put("Company", &[company]));
    trade.offers.iter().for_each(|offer| put("Offer", &[offer]));
    for AssistMsg { thread_id, id, .. } in &trade.said {
        put("AssistMessage", &[thread_id, id]);
    }
    for (home, at, id) in hidden.activity_keys().await {
        put("Activity", &[&home, &at.ms(), &id]);
        put("FeedEntry", &[&home, &at.ms(), &id]);
    }
    nodes
}

/// Global ids of relations between users, each with a word that stands for it: relations contain no secret
/// words themselves.
pub(crate) fn relations(hidden: &SecretTown) -> Vec<(&'static str, String)> {
    let closed = &hidden.groups[1];
    let follow = |one, other| node_id("Follow", &[&one, &other]);
    let like = |post, name| node_id("Like", &[&hidden.id_of(post), &name]);
    let member = |name| node_id("GroupMember", &[closed, &name]);
    let room = |room| node_id("Room", &[&room]);
    vec![
        ("follow-asked-for", follow("sam", "pia")),
        ("follow-of-suspended", follow("sue", "pia")),
        ("follow-of-deleted", follow("dan", "tom")),
        ("like-of-private-post", like("no-longer-public", "tom")),
        ("like-of-suspended", like("toms", "sid")),
        ("membership", member("mel")),
        ("membership-of-suspended", member("sue")),
        ("seat-of-two", room(hidden.rooms.first().unwrap())),
        ("seat-in-group", room(hidden.rooms.last().unwrap())),
    ]
}
