//! s0: follows, groups, goals, feeds, quests, chat.

use roundtable_model::entities::*;
use roundtable_model::{ActorId, Entity, EntityKind, Expiry, Shards, Span, UserCount, UserId};
use roundtable_table::{Order, Put};

use crate::facts::s0::*;
use crate::ours::{self, at, id, texts};
use crate::sides::{NOW_MS, Sides, covers, each, ends, kinds_and_ids, reversed};

covers! {
    people: "profile", "by_nickname", "by_email";
    follows: "following", "followers", "follower_count", "following_count", "recent_following";
    famous_followers: "sharded_followers";
    groups: "group", "members", "my_groups";
    goals_and_tasks: "goals", "goal_timeline", "tasks", "tasks_by_due", "owned_goal", "owned_task";
    own_timeline: "timeline";
    pulled_feed: "feed_pulled", "write_activity";
    pushed_feed: "feed_pushed", "promotion";
    quests: "quests", "quest", "quests_of_goal", "quests_of_task";
    chat: "room", "history", "send_message";
}

fn me() -> UserId {
    id(ME)
}

/// R21.
async fn people(sides: &Sides) {
    let own = sides.ask("profile", &[("id", ME)]).await;
    let ours = sides.core.profile(&me()).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "nickname"), [ours.nickname.as_str()]);
    let own = sides.ask("by_nickname", &[("nickname", "jane_doe")]).await;
    let ours = sides.core.user_by_nickname(&id("jane_doe")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "id"), texts([ours.id]));
    let own = sides.ask("by_email", &[("email", "ann@example.com")]).await;
    let ours = sides.core.user_by_email(&id("ann@example.com")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "id"), texts([ours.id]));
}

/// R22.
async fn follows(sides: &Sides) {
    let own = sides.ask("following", &[("me", ME)]).await;
    let ours = sides.core.following(&me()).page().await.unwrap().items;
    assert_eq!(each(&own, "followeeId"), texts(ours.iter().map(|follow| &follow.followee_id)));
    assert_eq!(own.len(), 4);

    let own = sides.ask("followers", &[("me", ME)]).await;
    let ours = sides.core.followers(&me(), Shards::ONE).page().await.unwrap().items;
    assert_eq!(each(&own, "followerId"), texts(ours.iter().map(|follow| &follow.follower_id)));
    assert_eq!(own.len(), 2);

    let kinds = [UserCount::Followers, UserCount::Following];
    let ours = sides.core.counts(&me(), &kinds, Shards::ONE).get().await.unwrap();
    for (question, ours) in ["follower_count", "following_count"].into_iter().zip(ours) {
        let own = sides.ask(question, &[("me", ME)]).await;
        let own = own.first().unwrap().number("count").unwrap();
        assert_eq!(own, ours.unwrap().count.into(), "{question}");
    }

    // The document's copy has no key beside the mirrored item, so its table cannot answer the
    // query.
    assert!(sides.ask("recent_following", &[("me", ME)]).await.is_empty());
    let ours = sides.core.recent_following(&me()).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|follow| &follow.followee_id));
    assert_eq!(ours, ["userA", "user456", "userB", "famous"], "newest first");
}

/// R22, R39 for reads. The first shard has no suffix in our table.
async fn famous_followers(sides: &Sides) {
    let with = [("me", "famous"), ("shard", "0"), ("shard", "1"), ("shard", "2")];
    let own = sides.ask("sharded_followers", &with).await;
    let shards = Shards::new(3).unwrap();
    let ours = sides.core.followers(&id("famous"), shards).page().await.unwrap().items;
    assert_eq!(each(&own, "followerId"), texts(ours.iter().map(|follow| &follow.follower_id)));
    assert_eq!(own.len(), FANS.len());
    let first = sides.core.followers(&id("famous"), Shards::ONE).page().await.unwrap().items;
    assert_eq!(texts(first.iter().map(|follow| &follow.follower_id)), ["user456"], "one shard");
}

/// R23.
async fn groups(sides: &Sides) {
    let own = sides.ask("group", &[("group", "group1")]).await;
    let ours = sides.core.group(&id("group1")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "ownerId"), texts([ours.owner_id]));

    let own = sides.ask("members", &[("group", "group1")]).await;
    let ours = sides.core.members(&id("group1")).page().await.unwrap().items;
    assert_eq!(each(&own, "userId"), texts(ours.iter().map(|member| &member.user_id)));
    assert_eq!(each(&own, "role"), texts(ours.iter().map(|member| member.role)));
    assert_eq!(own.len(), 3);

    // Newest first in our table; callers can choose the document's order.
    let own = sides.ask("my_groups", &[("me", "user456")]).await;
    let ours = sides.core.groups_of(&id("user456")).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|member| &member.group_id));
    assert_eq!(reversed(each(&own, "groupId")), ours);
    assert_eq!(ours, ["group0", "group1", "group2"]);
}

/// R24.
async fn goals_and_tasks(sides: &Sides) {
    let (core, with) = (&sides.core, [("me", ME), ("goal", "goal1"), ("task", "task2")]);
    let own = sides.ask("goals", &with).await;
    let ours = core.goals(&me()).page().await.unwrap().items;
    assert_eq!(each(&own, "id"), texts(ours.iter().map(|goal| &goal.id)));

    let own = sides.ask("goal_timeline", &with).await;
    let ours = core.goal_timeline(&me()).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|goal| &goal.id));
    assert_eq!(reversed(each(&own, "id")), ours, "newest first");
    assert_eq!(ours, ["goal1", "goal2"]);

    let own = sides.ask("tasks", &with).await;
    let ours = core.tasks(&id("goal1")).page().await.unwrap().items;
    assert_eq!(each(&own, "id"), texts(ours.iter().map(|task| &task.id)));
    assert_eq!(own.len(), 3);

    let own = sides.ask("tasks_by_due", &with).await;
    let ours = core.tasks_by_due(&me(), Span::ALL).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|task| &task.id));
    assert_eq!(each(&own, "id"), ours);
    assert_eq!(ours, ["task2", "task4", "task1"], "only those that are due, the next first");

    let own = sides.ask("owned_goal", &with).await;
    let ours = core.goal(&me(), &id("goal1")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "userId"), texts([ours.user_id]));
    let own = sides.ask("owned_task", &with).await;
    let ours = core.task(&id("goal1"), &id("task2")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "userId"), texts([&ours.user_id]));
    // A quest names a task without its goal: our table finds it by its id alone.
    assert_eq!(core.task_by_id(&id("task2")).get().await.unwrap(), Some(ours));
}

/// R24. By time across kinds: the document's keys have the kind first, with followers in between.
async fn own_timeline(sides: &Sides) {
    let mut own = sides.ask("timeline", &[("me", ME)]).await;
    own.retain(|item| item.text("type") != Some("Follow"));
    let kinds = ["User", "Group", "Goal", "Task", "Quest"].map(id::<EntityKind>);
    let page = sides.core.entity_timeline(&me(), &kinds).page().await.unwrap();
    let ours: Vec<_> = page.entries.iter().map(|(entry, _)| ours::described(entry)).collect();
    assert_eq!(kinds_and_ids(&own), ours.iter().map(|(_, which)| which.clone()).collect());
    assert!(ours.is_sorted_by(|(one, _), (next, _)| one > next), "newest first: {ours:?}");
    assert_eq!(ours.len(), own.len());
}

/// R25, R12: all followees in one list of 50, without the other items of an actor's partition.
async fn pulled_feed(sides: &Sides) {
    let followees = ["user456", "userA", "userB"];
    let actors = followees.map(id::<ActorId>);
    let with = followees.map(|followee| ("followee", followee));
    let own = sides.ask("feed_pulled", &with).await;
    let ours = sides.core.activities(&actors, Span::ALL).page().await.unwrap();
    assert_eq!(ends(&own, "SK"), texts(ours.items.iter().map(|activity| &activity.activity_id)));
    assert_eq!(own.len(), 50);
    assert!(ours.next.is_some(), "there is more than a page");

    let written = sides.question("write_activity");
    let (new, ts) = (("user456", "new".to_owned()), "2025-01-28T09:00:00Z");
    let item = own_activity((new.0, new.1.clone(), ts.into()));
    assert_eq!(item.text("PK").unwrap(), written.partition.replace("{actor}", new.0));
    sides.own.put(Put::new(item)).await.unwrap();
    let ours = ours::activity(new.0, &new.1, ts);
    sides.core.table().put(ours.create()).await.unwrap();
    assert!(sides.core.table().put(ours.create()).await.is_err(), "it is written once");
    let found = sides.core.activity(&id(new.0), &at(ts), &id(&new.1)).get().await.unwrap();
    assert_eq!(found, Some(ours));
    let own = sides.ask("feed_pulled", &with).await;
    let ours = sides.core.activities(&actors, Span::ALL).page().await.unwrap().items;
    assert_eq!(ends(&own, "SK"), texts(ours.iter().map(|activity| &activity.activity_id)));
    assert_eq!(ours.first().unwrap().activity_id.to_string(), "new");
}

/// R25, R13: a page of 50, without expired items.
async fn pushed_feed(sides: &Sides) {
    let (expired, ts) = ("expired", "2025-01-27T20:00:00Z");
    let ttl = NOW_MS / 1000 - 1;
    let item = own_feed_item(("userA", expired.into(), ts.into())).with("ttl", ttl);
    sides.own.put(Put::new(item)).await.unwrap();
    let item =
        FeedItem { ttl: Expiry::at_seconds(ttl), ..ours::feed_item(ME, "userA", expired, ts) };
    sides.core.table().put(item.put()).await.unwrap();

    let own = sides.ask("feed_pushed", &[("me", ME)]).await;
    let ours = sides.core.feed_items(&me(), Span::ALL).page().await.unwrap();
    let ids = texts(ours.items.iter().map(|item| &item.activity_id));
    assert_eq!(each(&own, "activityId"), ids);
    assert!(ids.len() == 50 && ours.next.is_some() && !ids.contains(&expired.to_owned()));

    let own = sides.ask("promotion", &[("id", "user456")]).await;
    let ours = sides.core.promotions(&[id("user456"), id(ME)]).get().await.unwrap();
    assert_eq!(
        each(&own, "reason"),
        texts(ours.iter().flatten().map(|promotion| promotion.reason))
    );
    assert!(ours.first().unwrap().as_ref().unwrap().fanout_enabled);
    assert!(sides.ask("promotion", &[("id", ME)]).await.is_empty(), "no other user is promoted");
}

/// R24. Newest first in our table, and full pages: the document's client filters pages itself.
async fn quests(sides: &Sides) {
    let (core, with) = (&sides.core, [("me", ME), ("quest", "quest3"), ("goal", "goal1")]);
    let ids = |quests: &[Quest]| texts(quests.iter().map(|quest| &quest.id));
    let own = sides.ask("quests", &with).await;
    let ours = core.quests(&me()).page().await.unwrap().items;
    assert_eq!(reversed(each(&own, "id")), ids(&ours));
    assert_eq!(ids(&ours), ["quest2", "quest4", "quest1", "quest3"]);

    let own = sides.ask("quest", &with).await;
    let ours = core.quest(&me(), &id("quest3")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "id"), texts([ours.id]));

    let own = sides.ask("quests_of_goal", &with).await;
    let ours = core.quests_linked_to_goal(&me(), &id("goal1")).limit(2).page().await.unwrap();
    assert_eq!(reversed(each(&own, "id")), ids(&ours.items));
    assert_eq!(ids(&ours.items), ["quest1", "quest3"], "a page of two is full");

    let own = sides.ask("quests_of_task", &[("me", ME), ("task", "task2")]).await;
    let ours = core.quests_linked_to_task(&me(), &id("task2")).page().await.unwrap().items;
    assert_eq!(reversed(each(&own, "id")), ids(&ours));
    assert_eq!(ids(&ours), ["quest2", "quest3"]);
}

/// R28, R15. The document's pages contain the whole partition, and begin with the room itself.
async fn chat(sides: &Sides) {
    let (core, with) = (&sides.core, [("room", "room1")]);
    let own = sides.ask("room", &with).await;
    let ours = core.room(&id("room1")).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "scope"), texts([ours.scope]));
    let own: Vec<_> = own.first().unwrap().to_attributes().remove("members").into_iter().collect();
    let ours = core.room_members(&id("room1")).page().await.unwrap().items;
    assert_eq!(own, [list(&texts(ours.iter().map(|member| &member.user_id)))], "members are items");

    let ids = |messages: &[Message]| texts(messages.iter().map(|message| &message.id));
    let own = sides.ask("history", &with).await;
    assert_eq!(own.first().unwrap().text("type"), Some("Room"));
    let page = core.messages(&id("room1"), Span::ALL).page().await.unwrap();
    assert_eq!(ends(own.get(1..).unwrap(), "SK"), ids(page.items.get(..49).unwrap()));
    assert_eq!((own.len(), page.items.len()), (50, 50), "ours are all messages");

    let own = sides.ask_all("history", &with).await;
    let rest = core.messages(&id("room1"), Span::ALL).after(page.next).page().await.unwrap();
    let ours = [ids(&page.items), ids(&rest.items)].concat();
    assert_eq!(ends(own.get(1..).unwrap(), "SK"), ours);
    assert!(rest.next.is_none() && ours.len() == messages().len());

    let written = sides.question("send_message");
    let new = || ("new".to_owned(), ME, "2025-01-28T09:00:00Z".to_owned());
    let item = own_message(new());
    assert_eq!(item.text("PK").unwrap(), written.partition.replace("{room}", "room1"));
    sides.own.put(Put::new(item)).await.unwrap();
    let (message, user, ts) = new();
    let message = ours::message("room1", &message, user, &ts);
    core.table().put(message.create()).await.unwrap();
    let own = sides.ask("history", &with).await;
    let oldest_first = core.messages(&id("room1"), Span::ALL).order(Order::Ascending);
    let ours = oldest_first.all().await.unwrap();
    assert_eq!(ends(&own, "SK").get(1), ids(&ours).last(), "both have it at the end");
}
