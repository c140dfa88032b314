//! What is put into the arguments of questions: everything there is in the town, whether anybody may see
//! it or not.

use std::collections::BTreeMap;

use data_encoding::BASE64URL_NOPAD;
use roundtable_model::entities::AssistMsg;
use roundtable_model::{CaseId, EntityKind, ModerationStatus, Span};
use roundtable_testkit::{Hidden, Plan, VIEWERS};

/// For each kind of thing, all of them as they are written in a document.
pub(crate) type Things = BTreeMap<&'static str, Vec<String>>;

/// What every id comes after.
const BEGINNING: &str = "00000000000000000000000000";

fn quoted(text: &impl ToString) -> String {
    serde_json::to_string(&text.to_string()).unwrap()
}

fn all<T: ToString>(things: impl IntoIterator<Item = T>) -> Vec<String> {
    things.into_iter().map(|thing| quoted(&thing)).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// Everybody who has, or had, a profile.
fn people() -> impl Iterator<Item = &'static str> {
    VIEWERS.into_iter().filter(|name| *name != "nobody")
}

pub(crate) async fn things(hidden: &Hidden) -> Things {
    let Hidden { town, posts, comments, groups, wares, rooms, plans, challenges, .. } = hidden;
    let nicknames = people().map(|name| match name {
        "sid" | "dan" => format!("xq{name}s-nickxq"),
        name => name.to_owned(),
    });
    let mails = people().map(|name| format!("mail-{name}")).chain(["tried".into()]);
    let kinds = EntityKind::ALL.iter().map(ToString::to_string).collect();
    let statuses = ModerationStatus::ALL.iter().map(ToString::to_string).collect();
    let actors = all(people()).into_iter().chain(all(groups));
    let mut things = Things::from([
        ("user", all(people())),
        ("secretive", all(["ana", "pia", "sid", "dan"])),
        ("nickname", all(nicknames)),
        ("handle", all(["xqdans-handlexq"])),
        ("email", all(mails.map(|mail| format!("xq{mail}xq@example.com")))),
        ("kind", kinds),
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
        ("room", all(rooms)),
        ("thread", all(&wares.threads)),
        ("company", all(&wares.companies)),
        ("offer", all(&wares.offers)),
        ("goalId", all(plans.iter().map(|plan| &plan.goal))),
    ]);
    for Plan { owner, goal, task, milestone, .. } in plans {
        let mut put = |kind, text| things.entry(kind).or_default().push(text);
        put("goal", format!("id: \"{goal}\""));
        put("goal", format!("id: \"{goal}\", userId: \"{owner}\""));
        put("goalOf", format!("goalId: \"{goal}\", userId: \"{owner}\""));
        put("task", format!("goalId: \"{goal}\", id: \"{task}\""));
        put("milestone", format!("goalId: \"{goal}\", id: \"{milestone}\""));
        put("milestone", format!("goalId: \"{goal}\", id: \"{milestone}\", userId: \"{owner}\""));
    }
    for (owner, quest) in challenges {
        let mut put = |text| things.entry("quest").or_default().push(text);
        put(format!("questId: \"{quest}\""));
        put(format!("questId: \"{quest}\", userId: \"{owner}\""));
    }
    things
}

/// The global id of something.
pub(crate) fn node_id(kind: &str, parts: &[&dyn ToString]) -> String {
    let parts = parts.iter().map(|part| part.to_string());
    let text = std::iter::once(kind.to_owned()).chain(parts).collect::<Vec<_>>().join(":");
    BASE64URL_NOPAD.encode(text.as_bytes())
}

/// The global ids of everything, by what it is.
pub(crate) async fn nodes(hidden: &Hidden) -> Vec<(&'static str, String)> {
    let Hidden { town, posts, comments, groups, wares, rooms, plans, challenges, .. } = hidden;
    let mut nodes: Vec<(&'static str, String)> = Vec::new();
    let mut put = |kind, parts: &[&dyn ToString]| nodes.push((kind, node_id(kind, parts)));
    for name in people() {
        put("User", &[&name]);
        put("Promotion", &[&name]);
        for other in ["ana", "pia", "sid", "dan", "tom"] {
            put("Follow", &[&name, &other]);
        }
        for group in groups {
            put("GroupMember", &[group, &name]);
        }
        let core = town.ground().core();
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
    for Plan { owner, goal, task, milestone, .. } in plans {
        put("Goal", &[owner, goal]);
        put("Task", &[goal, task]);
        put("Milestone", &[owner, goal, milestone]);
    }
    for (owner, quest) in challenges {
        put("Quest", &[owner, quest]);
    }
    for room in rooms {
        put("Room", &[room]);
        for message in hidden.said(room).await {
            put("Message", &[room, &message]);
        }
    }
    wares.threads.iter().for_each(|thread| put("AssistThread", &[thread]));
    wares.companies.iter().for_each(|company| put("Company", &[company]));
    wares.offers.iter().for_each(|offer| put("Offer", &[offer]));
    for AssistMsg { thread_id, id, .. } in &wares.said {
        put("AssistMessage", &[thread_id, id]);
    }
    for (home, at, id) in hidden.places().await {
        put("Activity", &[&home, &at.ms(), &id]);
        put("FeedEntry", &[&home, &at.ms(), &id]);
    }
    nodes
}

/// Who follows, belongs and talks to whom has no words of its own to look for: whoever finds one of
/// these is told the word that stands for it.
pub(crate) fn ties(hidden: &Hidden) -> Vec<(&'static str, String)> {
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
