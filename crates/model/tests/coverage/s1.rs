//! s1: profiles, goals, milestones, chat, assistance, offers, and the indexes planned for later.

use roundtable_model::entities::*;
use roundtable_model::{Day, EntityKind, Shard, Shards, Span, UserId, samples};
use roundtable_table::{Item, Order, Value, item};

use crate::documents::S1;
use crate::ours::{self, at, id, items, later, texts};
use crate::sides::{Sides, covers, each, ends, item_of, kinds_and_ids, own, reversed};

const USER: &str = "user123";

/// Owner, goal, time of creation, and tags.
const GOALS: [(&str, &str, &str, &[&str]); 3] = [
    (USER, "goal1", "2025-01-09T10:00:00Z", &["running", "health"]),
    (USER, "goal2", "2025-01-08T10:00:00Z", &["health"]),
    ("user456", "goal3", "2025-01-07T10:00:00Z", &["running"]),
];

/// Owner, goal, task, due date, and completion.
const TASKS: [(&str, &str, &str, Option<&str>, bool); 6] = [
    (USER, "goal1", "task1", Some("2025-02-01T18:00:00Z"), false),
    (USER, "goal1", "task2", Some("2025-02-01T08:00:00Z"), false),
    (USER, "goal1", "task3", None, false),
    (USER, "goal2", "task4", Some("2025-02-02T08:00:00Z"), false),
    ("user456", "goal3", "task5", Some("2025-02-01T12:00:00Z"), false),
    (USER, "goal2", "task6", Some("2025-02-01T09:00:00Z"), true),
];

const MILESTONES: [(&str, &str, &str); 3] = [
    ("goal1", "half", "2025-01-10T10:00:00Z"),
    ("goal1", "quarter", "2025-01-11T10:00:00Z"),
    ("goal2", "whole", "2025-01-12T10:00:00Z"),
];

/// Offer, company, and its tags.
const OFFERS: [(&str, &str, &[&str]); 3] = [
    ("offer2", "company1", &["health", "running"]),
    ("offer1", "company1", &["running"]),
    ("offer3", "company2", &["health"]),
];

/// Messages of a room: id, author, time.
fn messages() -> Vec<(String, &'static str, String)> {
    let who = |n: u64| if n.is_multiple_of(2) { USER } else { "user456" };
    (0..25).map(|n| (format!("msg-{n:02}"), who(n), later("2025-01-27T06:00:00Z", n))).collect()
}

fn list(texts: &[&str]) -> Value {
    Value::list(texts.iter().copied())
}

fn own_items() -> Vec<Item> {
    let (joined, email) = ("2025-01-06T10:00:00Z", "john@example.com");
    let mut all = vec![
        own! { S1, "User",
            "id" => USER, "nickname" => "john_doe", "email" => email, "createdAt" => joined,
        },
        own! { S1, "EmailUnique", "email" => email, "userId" => USER, "createdAt" => joined },
    ];
    all.extend(GOALS.map(|(user, goal, ts, tags)| {
        own! { S1, "Goal",
            "userId" => user, "id" => goal, "createdAt" => ts, "tags" => list(tags),
            "tag" => *tags.first().unwrap(),
        }
    }));
    for (user, goal, task, due, done) in TASKS {
        let given = item! { "userId" => user, "goalId" => goal, "id" => task, "done" => done };
        let Some(due) = due else {
            all.push(item_of(&S1, "Task", &given));
            continue;
        };
        let given = given.with("dueAt", due);
        let day = due.get(..10).unwrap().replace('-', "");
        all.push(item_of(&S1, "Task", &given.with("dueDay", day)));
        all.push(item_of(&S1, "TaskCopy", &given.with("type", "Task")));
    }
    all.extend(MILESTONES.map(|(goal, milestone, ts)| {
        own! { S1, "Milestone",
            "userId" => USER, "goalId" => goal, "id" => milestone, "createdAt" => ts,
        }
    }));
    for (message, user, ts) in messages() {
        let said = item! { "id" => message, "userId" => user, "text" => "hi", "createdAt" => ts };
        all.push(item_of(&S1, "Message", &said.with("roomId", "room1")));
        all.push(item_of(&S1, "AssistMsg", &said.with("threadId", "thread1")));
    }
    all.extend(OFFERS.map(|(offer, company, tags)| {
        own! { S1, "Offer",
            "id" => offer, "companyId" => company, "tags" => list(tags),
            "tag" => *tags.first().unwrap(),
        }
    }));
    all
}

fn our_items() -> Vec<Item> {
    let (joined, email) = ("2025-01-06T10:00:00Z", "john@example.com");
    let mut all = items([ours::user(USER, "john_doe", email, joined)]);
    all.extend(items([EmailLock {
        email: id(email),
        user_id: id(USER),
        created_at: at(joined),
        proved_at: None,
    }]));
    all.extend(items(GOALS.map(|(user, goal, ts, _)| ours::goal(user, goal, ts))));
    // Spread over two shards of their day, as in a busy table.
    all.extend(items(TASKS.into_iter().zip([0, 1].into_iter().cycle()).map(
        |((user, goal, task, due, done), shard)| {
            let shard = Shard::new(shard).unwrap();
            Task { done, shard, ..ours::task(user, goal, task, due) }
        },
    )));
    all.extend(items(
        MILESTONES.map(|(goal, milestone, ts)| ours::milestone(USER, goal, milestone, ts)),
    ));
    for (message, user, ts) in messages() {
        all.extend(items([ours::message("room1", &message, user, &ts)]));
        all.extend(items([AssistMsg {
            thread_id: id("thread1"),
            id: id(&message),
            user_id: id(user),
            created_at: at(&ts),
            ..samples::assist_msg()
        }]));
    }
    all.extend(items([AssistThread { thread_id: id("thread1"), ..samples::assist_thread() }]));
    all.extend(items(OFFERS.map(|(offer, company, _)| Offer {
        id: id(offer),
        company_id: id(company),
        ..samples::offer()
    })));
    let goals = GOALS.map(|(_, goal, _, tags)| (EntityKind::Goal, goal, tags));
    let offers = OFFERS.map(|(offer, _, tags)| (EntityKind::Offer, offer, tags));
    for (entity, which, tags) in goals.into_iter().chain(offers) {
        all.extend(items(tags.iter().map(|tag| TagRef {
            tag: id(tag),
            entity,
            id: id(which),
            ..samples::tag_ref()
        })));
    }
    all
}

async fn sides() -> Sides {
    Sides::of(&S1, own_items(), our_items()).await
}

covers! {
    profiles: "profile", "by_email", "by_nickname", "email_taken";
    goals_and_tasks: "goals", "tasks", "tasks_of_owner", "task_timeline";
    milestones: "milestones", "milestone", "milestone_timeline";
    timeline_of_a_user: "timeline", "messages_by";
    conversations: "chat_history", "assist_history";
    reminders: "due_on";
    discovery: "tagged", "offer", "of_company";
}

fn user() -> UserId {
    id(USER)
}

/// R21, R6: the lock answers strongly, which an index cannot.
async fn profiles(sides: &Sides) {
    let (core, email) = (&sides.core, "john@example.com");
    let own = sides.ask("profile", &[("id", USER)]).await;
    let ours = core.profile(&user()).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "email"), texts(ours.email));
    let own = sides.ask("by_email", &[("email", email)]).await;
    let ours = core.user_by_email(&id(email)).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "id"), texts([ours.id]));
    let own = sides.ask("by_nickname", &[("nickname", "john_doe")]).await;
    let ours = core.user_by_nickname(&id("john_doe")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "id"), texts([ours.id]));
    let own = sides.ask("email_taken", &[("email", email)]).await;
    let ours = core.email_lock(&id(email)).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "userId"), texts([ours.user_id]));
    let free = "free@example.com";
    assert!(sides.ask("email_taken", &[("email", free)]).await.is_empty());
    assert_eq!(core.email_lock(&id(free)).get().await.unwrap(), None);
}

/// R24: an index entry instead of the owner's copy.
async fn goals_and_tasks(sides: &Sides) {
    let (core, with) = (&sides.core, [("id", USER), ("goal", "goal1")]);
    let own = sides.ask("goals", &with).await;
    let ours = core.goals(&user()).page().await.unwrap().items;
    assert_eq!(each(&own, "id"), texts(ours.iter().map(|goal| &goal.id)));
    assert_eq!(own.len(), 2);
    let own = sides.ask("tasks", &with).await;
    let ours = core.tasks(&id("goal1")).page().await.unwrap().items;
    assert_eq!(each(&own, "id"), texts(ours.iter().map(|task| &task.id)));
    assert_eq!(own.len(), 3);
    let ours = core.tasks_by_due(&user(), Span::ALL).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|task| &task.id));
    assert_eq!(ours, ["task2", "task6", "task1", "task4"]);
    for question in ["tasks_of_owner", "task_timeline"] {
        assert_eq!(each(&sides.ask(question, &with).await, "id"), ours, "{question}");
    }
}

/// R24, R4.
async fn milestones(sides: &Sides) {
    let (core, with) = (&sides.core, [("id", USER), ("goal", "goal1"), ("milestone", "half")]);
    let ids = |found: &[Milestone]| texts(found.iter().map(|milestone| &milestone.id));
    let own = sides.ask("milestones", &with).await;
    let ours = core.milestones(&user(), &id("goal1")).page().await.unwrap().items;
    assert_eq!(each(&own, "id"), ids(&ours));
    assert_eq!(ids(&ours), ["half", "quarter"]);
    let own = sides.ask("milestone", &with).await;
    let ours = core.milestone(&user(), &id("goal1"), &id("half")).get().await.unwrap();
    assert_eq!(each(&own, "id"), texts(ours.map(|milestone| milestone.id)));
    // Newest first in our table; callers can choose the document's order.
    let own = sides.ask("milestone_timeline", &with).await;
    let ours = core.milestone_timeline(&user()).page().await.unwrap().items;
    assert_eq!(reversed(each(&own, "id")), ids(&ours));
    assert_eq!(ids(&ours), ["whole", "quarter", "half"]);
}

/// R24. By time across kinds, while the document's keys have the kind first; and page by page.
async fn timeline_of_a_user(sides: &Sides) {
    let own = sides.ask("timeline", &[("id", USER)]).await;
    let kinds = ["User", "Goal", "Task", "Milestone", "Message"].map(id::<EntityKind>);
    let (mut ours, mut next) = (Vec::new(), None);
    loop {
        let question = sides.core.entity_timeline(&user(), &kinds).limit(7);
        let page = question.after(next).page().await.unwrap();
        assert!(page.entries.len() == 7 || page.next.is_none(), "pages are full");
        ours.extend(page.entries.iter().map(|(entry, _)| ours::described(entry)));
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(kinds_and_ids(&own), ours.iter().map(|(_, which)| which.clone()).collect());
    assert!(ours.is_sorted_by(|(one, _), (next, _)| one > next), "newest first: {ours:?}");
    assert_eq!(ours.len(), own.len());

    let own = sides.ask("messages_by", &[("id", USER)]).await;
    let ours = sides.core.messages_by(&user()).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|message| &message.id));
    assert_eq!(reversed(each(&own, "id")), ours, "newest first");
    assert_eq!(ours.len(), 13);
}

/// R28, R16: newest first by default; callers can choose the document's order.
async fn conversations(sides: &Sides) {
    let core = &sides.core;
    let own = sides.ask("chat_history", &[("room", "room1")]).await;
    let question = || core.messages(&id("room1"), Span::ALL);
    let ours = question().page().await.unwrap().items;
    assert_eq!(reversed(each(&own, "id")), texts(ours.iter().map(|message| &message.id)));
    let ours = question().order(Order::Ascending).limit(10).page().await.unwrap();
    let rest = question().order(Order::Ascending).after(ours.next).page().await.unwrap().items;
    let ours = [ours.items, rest].concat();
    assert_eq!(each(&own, "id"), texts(ours.iter().map(|message| &message.id)));
    let own = sides.ask("assist_history", &[("thread", "thread1")]).await;
    let ours = core.assist_messages(&id("thread1")).order(Order::Ascending).page().await.unwrap();
    assert_eq!(ends(&own, "SK"), texts(ours.items.iter().map(|message| &message.id)));
    assert_eq!(own.len(), messages().len());
}

/// R24, R4: the planned fourth index, overlaid on ours. A done task needs no reminder.
async fn reminders(sides: &Sides) {
    let mut own = sides.ask("due_on", &[("day", "20250201")]).await;
    own.retain(|item| item.to_attributes().get("done") == Some(&Value::Bool(false)));
    let day: Day = id("2025-02-01");
    let shards = Shards::new(2).unwrap();
    let ours = sides.core.tasks_due_on(&day.into(), shards).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|task| &task.id));
    assert_eq!(each(&own, "id"), ours);
    assert_eq!(ours, ["task2", "task5", "task1"], "all users', by time");
}

/// R29, R26, R4: the planned fifth and sixth index.
async fn discovery(sides: &Sides) {
    let core = &sides.core;
    // One index key can hold one tag of an entity; our table finds it by each of its tags.
    let own = sides.ask("tagged", &[("tag", "running")]).await;
    let ours = core.tagged(&id("running"), Shards::ONE).page().await.unwrap().items;
    let ours: Vec<_> =
        ours.iter().map(|tagged| format!("{}#{}", tagged.entity, tagged.id)).collect();
    assert_eq!(each(&own, "GSI5SK"), ["Goal#goal1", "Goal#goal3", "Offer#offer1"]);
    assert_eq!(ours, ["Goal#goal1", "Goal#goal3", "Offer#offer1", "Offer#offer2"]);
    let ours = core.tagged_of(&id("running"), &EntityKind::Offer, Shards::ONE);
    assert_eq!(ours.page().await.unwrap().items.len(), 2);

    let own = sides.ask("offer", &[("offer", "offer1")]).await;
    let ours = core.offer(&id("offer1")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "companyId"), texts([ours.company_id]));
    let own = sides.ask("of_company", &[("company", "company1")]).await;
    let ours = core.offers_of(&id("company1")).page().await.unwrap().items;
    assert_eq!(each(&own, "id"), texts(ours.iter().map(|offer| &offer.id)));
    assert_eq!(own.len(), 2);
}
