//! s0: follows, groups, goals, feeds, quests, chat.

use roundtable_model::entities::*;
use roundtable_model::{
    Entity, Expiry, GroupRole, PromotionReason, RoomScope, Shard, UserCount, samples,
};
use roundtable_table::{Item, Value, item};

use crate::documents::S0;
use crate::ours::{self, at, id, items, later};
use crate::sides::{Sides, item_of, own};

pub(crate) const ME: &str = "user123";

/// Id, nickname, e-mail address, and time of sign-up.
pub(crate) const PEOPLE: [(&str, &str, &str, &str); 3] = [
    (ME, "john_doe", "john@example.com", "2025-01-06T10:00:00Z"),
    ("user456", "jane_doe", "jane@example.com", "2025-01-06T10:05:00Z"),
    ("userA", "ann", "ann@example.com", "2025-01-06T11:00:00Z"),
];

/// Follower, followee and time. The order of ids differs from the order of times.
pub(crate) const FOLLOWS: [(&str, &str, &str); 5] = [
    (ME, "user456", "2025-01-27T12:00:00Z"),
    (ME, "userB", "2025-01-27T11:00:00Z"),
    (ME, "userA", "2025-01-27T13:00:00Z"),
    ("userB", ME, "2025-01-27T14:00:00Z"),
    ("user456", ME, "2025-01-27T15:00:00Z"),
];

/// The followers of a popular user, with their shards.
pub(crate) const FANS: [(&str, u16); 4] = [(ME, 2), ("user456", 0), ("userA", 1), ("userB", 1)];

/// Group, user, role and time.
pub(crate) const MEMBERS: [(&str, &str, &str, &str); 5] = [
    ("group1", ME, "owner", "2025-01-10T12:00:00Z"),
    ("group1", "user456", "member", "2025-01-12T12:00:00Z"),
    ("group1", "userA", "admin", "2025-01-11T12:00:00Z"),
    ("group2", "user456", "member", "2025-01-09T12:00:00Z"),
    ("group0", "user456", "member", "2025-01-20T12:00:00Z"),
];

pub(crate) const GOALS: [(&str, &str, &str); 3] = [
    (ME, "goal1", "2025-01-09T10:00:00Z"),
    (ME, "goal2", "2025-01-08T10:00:00Z"),
    ("user456", "goal3", "2025-01-08T10:00:00Z"),
];

/// Owner, goal, task and due date.
pub(crate) const TASKS: [(&str, &str, &str, Option<&str>); 5] = [
    (ME, "goal1", "task1", Some("2025-02-03T08:00:00Z")),
    (ME, "goal1", "task2", Some("2025-02-01T08:00:00Z")),
    (ME, "goal1", "task3", None),
    (ME, "goal2", "task4", Some("2025-02-02T08:00:00Z")),
    ("user456", "goal3", "task5", Some("2025-02-02T08:00:00Z")),
];

/// Quest, time of creation, linked goals and tasks.
pub(crate) const QUESTS: [(&str, &str, &[&str], &[&str]); 4] = [
    ("quest1", "2025-01-11T08:00:00Z", &["goal1"], &[]),
    ("quest2", "2025-01-13T08:00:00Z", &[], &["task2"]),
    ("quest3", "2025-01-10T08:00:00Z", &["goal2", "goal1"], &["task2"]),
    ("quest4", "2025-01-12T08:00:00Z", &["goal2"], &[]),
];

/// Activities of the followees: more than a page, at different times.
pub(crate) fn activities() -> Vec<(&'static str, String, String)> {
    let of = |actor: &'static str, count: u64, minutes: u64, first: u64| {
        (0..count).map(move |n| {
            let time = later("2025-01-26T08:00:00Z", first + n * minutes);
            (actor, format!("{actor}-{n:02}"), time)
        })
    };
    of("user456", 40, 12, 0).chain(of("userB", 30, 8, 2)).chain(of("userA", 5, 60, 5)).collect()
}

/// Messages of a room: more than a page.
pub(crate) fn messages() -> Vec<(String, &'static str, String)> {
    let message = |n: u64| {
        let user = if n.is_multiple_of(3) { ME } else { "user456" };
        (format!("msg-{n:02}"), user, later("2025-01-27T06:00:00Z", n))
    };
    (0..55).map(message).collect()
}

pub(crate) fn list<T: AsRef<str>>(texts: &[T]) -> Value {
    Value::list(texts.iter().map(AsRef::as_ref))
}

pub(crate) fn own_message((message, user, ts): (String, &str, String)) -> Item {
    own! { S0, "Message",
        "roomId" => "room1", "messageId" => message, "userId" => user, "text" => "hi", "createdAt"
        => ts,
    }
}

pub(crate) fn own_feed_item((actor, activity, ts): (&str, String, String)) -> Item {
    let ttl = Expiry::at(at(&ts)).seconds() + 45 * 24 * 60 * 60;
    own! { S0, "FeedItem",
        "followerId" => ME, "activityId" => activity, "actorId" => actor, "verb" => "post",
        "createdAt" => ts, "ttl" => ttl,
    }
}

pub(crate) fn own_activity((actor, activity, ts): (&str, String, String)) -> Item {
    own! { S0, "Activity",
        "actorId" => actor, "activityId" => activity, "verb" => "post", "createdAt" => ts,
    }
}

pub(crate) fn own_items() -> Vec<Item> {
    let mut all: Vec<Item> = Vec::new();
    all.extend(PEOPLE.map(|(user, nickname, email, ts)| {
        own! { S0, "User",
            "id" => user, "nickname" => nickname, "email" => email, "createdAt" => ts,
        }
    }));
    all.extend(FOLLOWS.map(|(a, b, ts)| {
        own! { S0, "Follow", "followerId" => a, "followeeId" => b, "createdAt" => ts }
    }));
    all.extend(FANS.map(|(fan, shard)| {
        own! { S0, "Follow",
            "followerId" => fan, "followeeId" => "famous", "shard" => u64::from(shard),
            "createdAt" => "2025-01-20T12:00:00Z",
        }
    }));
    all.extend([("FOLLOWERS", 2), ("FOLLOWING", 4)].map(|(counter, count)| {
        own! { S0, "Counter", "userId" => ME, "counter" => counter, "count" => count }
    }));
    all.push(own! { S0, "Group", "groupId" => "group1", "ownerId" => ME });
    all.extend(MEMBERS.map(|(group, user, role, ts)| {
        own! { S0, "GroupMember",
            "groupId" => group, "userId" => user, "role" => role, "joinedAt" => ts,
        }
    }));
    all.extend(GOALS.map(|(user, goal, ts)| {
        own! { S0, "Goal", "userId" => user, "id" => goal, "createdAt" => ts }
    }));
    all.extend(TASKS.map(|(user, goal, task, due)| {
        let given = item! { "userId" => user, "goalId" => goal, "id" => task };
        item_of(&S0, "Task", &due.map_or_else(|| given.clone(), |due| given.with("dueAt", due)))
    }));
    all.extend(QUESTS.map(|(quest, ts, goals, tasks)| {
        own! { S0, "Quest",
            "userId" => ME, "id" => quest, "createdAt" => ts, "linkedGoalIds" => list(goals),
            "linkedTaskIds" => list(tasks),
        }
    }));
    all.extend(activities().into_iter().map(own_activity));
    all.extend(activities().into_iter().map(own_feed_item));
    all.push(own! { S0, "Promotion",
        "userId" => "user456", "fanoutEnabled" => true, "reason" => "followers",
    });
    all.push(own! { S0, "Room",
        "roomId" => "room1", "scope" => "dm", "members" => list(&[ME, "user456"]),
    });
    all.extend(messages().into_iter().map(own_message));
    all
}

pub(crate) fn our_items() -> Vec<Item> {
    let mut all: Vec<Item> = Vec::new();
    all.extend(items(
        PEOPLE.map(|(user, nickname, email, ts)| ours::user(user, nickname, email, ts)),
    ));
    all.extend(items(FOLLOWS.map(|(a, b, ts)| ours::follow(a, b, ts))));
    all.extend(items(FANS.map(|(fan, shard)| Follow {
        shard: Shard::new(shard).unwrap(),
        ..ours::follow(fan, "famous", "2025-01-20T12:00:00Z")
    })));
    all.extend(items(
        [(UserCount::Followers, 2), (UserCount::Following, 4)]
            .map(|(counter, count)| ours::counter(ME, counter, count, "2025-01-27T15:00:00Z")),
    ));
    all.extend(items([ours::group("group1", ME, "2025-01-10T12:00:00Z")]));
    all.extend(items(
        MEMBERS.map(|(group, user, role, ts)| ours::member(group, user, id::<GroupRole>(role), ts)),
    ));
    all.extend(items(GOALS.map(|(user, goal, ts)| ours::goal(user, goal, ts))));
    all.extend(items(TASKS.map(|(user, goal, task, due)| ours::task(user, goal, task, due))));
    all.extend(items(
        QUESTS.map(|(quest, ts, goals, tasks)| ours::quest(ME, quest, ts, goals, tasks)),
    ));
    for (actor, activity, ts) in activities() {
        all.push(ours::activity(actor, &activity, &ts).item());
        all.push(ours::feed_item(ME, actor, &activity, &ts).item());
    }
    // Items of these partitions that only our table has must not appear in any result.
    all.extend(items([ActorHead { actor_id: id("user456"), ..samples::actor_head() }]));
    all.extend(items([FeedHorizon { user_id: id(ME), ..samples::feed_horizon() }]));
    all.extend(items([RoomHead { room_id: id("room1"), ..samples::room_head() }]));
    all.extend(items([GroupCounter { group_id: id("group1"), ..samples::group_counter() }]));
    all.extend(items([Promotion {
        subject_id: id("user456"),
        user_id: Some(id("user456")),
        reason: PromotionReason::Followers,
        ..samples::promotion()
    }]));
    all.extend(items([Room { id: id("room1"), scope: RoomScope::Dm, ..samples::room() }]));
    all.extend(items([ME, "user456"].map(|user| RoomMember {
        room_id: id("room1"),
        user_id: id(user),
        ..samples::room_member()
    })));
    all.extend(messages().iter().map(|(m, user, ts)| ours::message("room1", m, user, ts).item()));
    all
}

pub(crate) async fn sides() -> Sides {
    Sides::of(&S0, own_items(), our_items()).await
}
