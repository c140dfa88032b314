//! Every list can be paged through without skipping or repeating items (R30), across shards and
//! days, with full pages even if a filter drops most items.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "shared/town.rs"]
mod shared;

use std::sync::Arc;

use roundtable_model::entities::{
    Activity, Comment, FeedItem, Follow, Goal, GroupMember, Like, Post, PostCounter, Quest, Task,
    User,
};
use roundtable_model::table::{Key, Order, Recorder, item};
use roundtable_model::{
    ActorId, Core, Cursor, Days, Entity, EntityKind, Error, Listing, PackingScope, PostId, Shard,
    Span, Time, TimelineEntry, UserId, samples,
};
use shared::{shards, town, user_id};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

async fn put(core: &Core, entity: &impl Entity) {
    core.table().put(entity.put()).await.unwrap();
}

/// Reads all pages of `size` items.
async fn paged<'a, E: Entity, const STRONG: bool>(
    size: usize,
    ask: impl Fn() -> Listing<'a, E, STRONG>,
) -> Vec<E> {
    let (mut all, mut after) = (Vec::new(), None::<Cursor>);
    let scope = PackingScope::new("list of bo", None);
    loop {
        let page = ask().limit(size).after(after.take()).page().await.unwrap();
        assert!(
            page.next.is_none() || page.items.len() == size,
            "a page that is not the last is full"
        );
        all.extend(page.items);
        match page.next {
            // Packed and unpacked, as for clients.
            Some(next) => after = Some(Cursor::unpack(&scope, &next.pack(&scope)).unwrap()),
            None => return all,
        }
    }
}

fn post(number: u64, published_ms: u64) -> Post {
    let at = Time::from_ms(published_ms);
    let id: PostId = format!("post-{number:04}").parse().unwrap();
    let shard = Shard::of(&id.to_string(), shards(3));
    Post { id, shard, created_at: at, published_at: Some(at), ..samples::post() }
}

#[tokio::test]
async fn followers_are_merged_across_shards() {
    let core = town().await;
    let bo = user_id("bo");
    let mut expected = Vec::new();
    for number in 0..25 {
        let follower_id = user_id(&format!("fan-{number:02}"));
        let shard = Shard::of(&follower_id.to_string(), shards(4));
        let follow = Follow { follower_id, followee_id: bo.clone(), shard, ..samples::follow() };
        put(&core, &follow).await;
        expected.push(follow);
    }
    assert!(expected.iter().any(|follow| follow.shard != Shard::ZERO));
    for size in [1, 4, 24, 25, 26] {
        assert_eq!(paged(size, || core.followers(&bo, shards(4))).await, expected);
    }
    expected.reverse();
    let falling = || core.followers(&bo, shards(4)).order(Order::Descending);
    assert_eq!(paged(7, falling).await, expected);
}

/// Fan-out continues after a reader of whom it has kept only the id.
#[tokio::test]
async fn a_list_continues_after_a_key() {
    let core = town().await;
    let (bo, shard) = (user_id("bo"), Shard::new(7).unwrap());
    let group = samples::group_member().group_id;
    // Some ids begin with others.
    let ids = ["fan", "fan-1", "fan-10", "fan-2"].map(user_id);
    for id in &ids {
        let (follower_id, followee_id) = (id.clone(), bo.clone());
        put(&core, &Follow { follower_id, followee_id, shard, ..samples::follow() }).await;
        put(&core, &GroupMember { user_id: id.clone(), ..samples::group_member() }).await;
    }
    let elsewhere = Follow { followee_id: bo.clone(), shard: Shard::ZERO, ..samples::follow() };
    put(&core, &elsewhere).await;
    for (at, last) in ids.iter().enumerate() {
        let rest = ids.get(at + 1..).unwrap();
        let followers = core.followers_in_shard(&bo, &shard);
        let followers = followers.after_item(Follow::at(last, &bo), last).unwrap();
        let page = followers.limit(2).stored().await.unwrap();
        assert!(page.has_more || rest.len() <= 2);
        let read = |item| Follow::FOLLOWER_ID.read(item).unwrap();
        let found: Vec<UserId> = page.items.iter().map(read).collect();
        assert_eq!(found, rest.get(..rest.len().min(2)).unwrap());
        let members = core.members(&group);
        let members = members.after_item(GroupMember::at(&group, last), last).unwrap();
        let found = members.page().await.unwrap().items;
        assert_eq!(found.into_iter().map(|each| each.user_id).collect::<Vec<_>>(), rest);
    }
    let [any, ..] = &ids;
    let merged = core.followers(&bo, shards(4)).after_item(Follow::at(any, &bo), any);
    assert!(matches!(merged, Err(Error::InvalidCursor { pattern: "followers", .. })));
}

#[test]
fn a_field_is_read_from_a_key() {
    let copy = samples::feed_item();
    let key = copy.key().into_key();
    assert_eq!(FeedItem::CREATED_AT.part_of(&key), Some(copy.created_at));
    assert_eq!(FeedItem::ACTIVITY_ID.part_of(&key), Some(copy.activity_id));
    assert_eq!(FeedItem::FOLLOWER_ID.part_of(&key), Some(copy.follower_id));
    for (partition, sort) in [
        ("FEED#ana", "TS#2025-01-27T15:30:00.000Z"),
        ("FEED#ana", "MSG#2025-01-27T15:30:00.000Z#a1"),
        ("FEED#ana", "TS#2025-01-27T15:30:00.000Z#a1#b2"),
        ("FEED#ana", "TS#yesterday#a1"),
    ] {
        let key = Key::new(partition, sort);
        assert_eq!(FeedItem::CREATED_AT.part_of(&key), None, "{sort}");
    }
}

#[tokio::test]
async fn the_timeline_walks_days_and_shards_in_both_orders() {
    let core = town().await;
    let newest = Time::from_ms(1_737_991_800_000);
    // Busy days, then a gap of four months, then some more.
    let mut posts: Vec<Post> = Vec::new();
    for number in 0..40u64 {
        let days_ago = if number < 30 { number / 10 } else { 120 + number };
        posts.push(post(number, newest.ms() - days_ago * DAY_MS - number * 1000));
    }
    // Two posts of the same millisecond are ordered by id.
    posts.push(post(41, posts[5].published_at.unwrap().ms()));
    for post in &posts {
        put(&core, post).await;
    }
    posts.sort_by_key(|post| std::cmp::Reverse((post.published_at, post.id.clone())));
    let days = Days::up_to(newest.day(), 400);
    for size in [1, 7, 20, 41] {
        let found = paged(size, || core.timeline(days, shards(3))).await;
        assert_eq!(ids(&found), ids(&posts), "by {size}");
    }
    posts.reverse();
    let oldest_first = || core.timeline(days, shards(3)).order(Order::Ascending);
    assert_eq!(ids(&paged(6, oldest_first).await), ids(&posts));
    let today = core.timeline(Days::only(newest.day()), shards(3)).page().await.unwrap();
    assert!(today.items.iter().all(|post| post.published_at.unwrap().day() == newest.day()));
}

/// R30: at midnight the requested days shift, and a client can continue its pages.
#[tokio::test]
async fn pages_continue_when_the_days_have_shifted() {
    let core = town().await;
    let newest = Time::from_ms(1_737_991_800_000);
    for number in 0..10u64 {
        put(&core, &post(number, newest.ms() - number * DAY_MS)).await;
    }
    let ask = |days_later: u64, order| {
        let last = Time::from_ms(newest.ms() + days_later * DAY_MS).day();
        core.timeline(Days::up_to(last, 8), shards(3)).order(order).limit(3)
    };
    let first = ask(0, Order::Descending).page().await.unwrap();
    let second = ask(1, Order::Descending).after(first.next).page().await.unwrap();
    assert_eq!(ids(&second.items), ["post-0003", "post-0004", "post-0005"]);
    let first = ask(0, Order::Ascending).page().await.unwrap();
    assert_eq!(ids(&first.items), ["post-0007", "post-0006", "post-0005"]);
    let second = ask(4, Order::Ascending).after(first.next).page().await.unwrap();
    assert_eq!(ids(&second.items), ["post-0003", "post-0002", "post-0001"]);
    let gone = ask(100, Order::Descending).page().await.unwrap();
    assert!(gone.items.is_empty() && gone.next.is_none());
    let ages = core.timeline(Days::up_to(newest.day(), 4000), shards(1)).page().await;
    assert!(matches!(ages, Err(Error::TooManyDays { pattern: "timeline", .. })));
}

fn ids(posts: &[Post]) -> Vec<String> {
    posts.iter().map(|post| post.id.to_string()).collect()
}

#[tokio::test]
async fn a_page_continues_while_other_users_write_and_delete() {
    let core = town().await;
    let at = |number: u64| 1_737_991_800_000 - number * 1000;
    for number in 0..20 {
        put(&core, &post(number, at(number))).await;
    }
    let author = samples::post().author_id;
    let first = core.posts_by(&author).limit(5).page().await.unwrap();
    // The last item of the page is deleted, and newer ones are written.
    let last = first.items.last().unwrap();
    core.table().delete(last.key().delete()).await.unwrap();
    put(&core, &post(99, at(0) + 5000)).await;
    let second = core.posts_by(&author).limit(5).after(first.next.clone()).page().await.unwrap();
    let expected: Vec<String> = (5..10).map(|number| format!("post-{number:04}")).collect();
    assert_eq!(ids(&second.items), expected);
    // A page can continue from any item.
    let third = core.posts_by(&author).limit(2).after(first.cursor(&first.items[1]));
    assert_eq!(ids(&third.page().await.unwrap().items), ["post-0002", "post-0003"]);
}

#[tokio::test]
async fn filtered_pages_are_full() {
    let core = town().await;
    let (user, goal) = (samples::quest().user_id, samples::goal().id);
    for number in 0..200u64 {
        let linked = (number % 10 == 0).then(|| vec![goal.clone()]);
        let quest = Quest {
            id: format!("quest-{number:03}").parse().unwrap(),
            linked_goal_ids: linked,
            created_at: Time::from_ms(1_737_991_800_000 + number * 1000),
            ..samples::quest()
        };
        put(&core, &quest).await;
    }
    let found = paged(6, || core.quests_linked_to_goal(&user, &goal)).await;
    let numbers: Vec<String> = found.iter().map(|quest| quest.id.to_string()).collect();
    let expected: Vec<String> =
        (0..20).rev().map(|number| format!("quest-{:03}", number * 10)).collect();
    assert_eq!(numbers, expected);
    let page = core.quests_linked_to_goal(&user, &goal).limit(20).page().await.unwrap();
    assert_eq!(
        (page.items.len(), page.next),
        (20, None),
        "the last full page says that it is last"
    );
}

#[tokio::test]
async fn a_filtered_merge_reads_few_extra_items() {
    let core = town().await;
    let recorder = Arc::new(Recorder::default());
    let observed = core.table().store().observed(recorder.clone());
    let core = Core::on(observed.table(Core::SHAPE.name).await.unwrap());
    let at = 1_737_991_800_000;
    for number in 0..1000 {
        let feed = if number % 50 == 0 { "wanted" } else { "other" };
        let content = feed.to_owned();
        put(&core, &Post { content, ..post(number, at + number) }).await;
    }
    recorder.take();
    let today = Days::only(Time::from_ms(at).day());
    let wanted = Post::CONTENT.is(&String::from("wanted"));
    let page = core.timeline(today, shards(3)).limit(19).filter(wanted).page().await.unwrap();
    assert_eq!((page.items.len(), page.next.is_some()), (19, true));
    let operations = recorder.take().len();
    assert!(operations <= 8, "{operations} merges for one page");
}

#[tokio::test]
async fn spans_include_their_start_but_not_their_end() {
    let core = town().await;
    let due = |hours: u64| Time::from_ms(1_737_936_000_000 + hours * 3_600_000);
    for hours in 0..6 {
        let id = format!("task-{hours}").parse().unwrap();
        put(&core, &Task { id, due_at: Some(due(hours)), ..samples::task() }).await;
    }
    let user = samples::task().user_id;
    let found = async |span| {
        let page = core.tasks_by_due(&user, span).page().await.unwrap();
        page.items.iter().map(|task| task.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found(Span::between(due(1), due(3))).await, "task-1 task-2");
    assert_eq!(found(Span::since(due(4))).await, "task-4 task-5");
    assert_eq!(found(Span::until(due(2))).await, "task-0 task-1");
    assert_eq!(found(Span::ALL).await, "task-0 task-1 task-2 task-3 task-4 task-5");
    assert_eq!(found(Span::between(due(3), due(3))).await, "");
    assert_eq!(found(Span::between(due(5), due(1))).await, "");
}

#[tokio::test]
async fn activities_of_many_actors_come_newest_first() {
    let core = town().await;
    let actors: Vec<UserId> = (0..30).map(|number| user_id(&format!("actor-{number}"))).collect();
    for (number, actor) in actors.iter().cycle().take(120).enumerate() {
        let activity = Activity {
            activity_id: format!("act-{number:03}").parse().unwrap(),
            actor_id: actor.clone(),
            group_id: None,
            created_at: Time::from_ms(1_737_991_800_000 + number as u64),
            ..samples::activity()
        };
        put(&core, &activity).await;
    }
    let homes: Vec<ActorId> = actors.iter().map(ActorId::from).collect();
    let found = paged(50, || core.activities(&homes, Span::ALL)).await;
    let expected: Vec<String> = (0..120).rev().map(|number| format!("act-{number:03}")).collect();
    let found: Vec<String> = found.iter().map(|found| found.activity_id.to_string()).collect();
    assert_eq!(found, expected);
    let twice: Vec<ActorId> = homes.iter().chain(&homes).cloned().collect();
    let page = core.activities(&twice, Span::ALL).page().await.unwrap();
    assert_eq!(page.items.len(), 50, "an actor asked for twice is read once");
    let nobody = core.activities(&[], Span::ALL).page().await.unwrap();
    assert!(nobody.items.is_empty() && nobody.next.is_none());
}

#[tokio::test]
async fn a_batch_reads_each_item_once_and_returns_them_in_order() {
    let core = town().await;
    let recorder = Arc::new(Recorder::default());
    let observed = core.table().store().observed(recorder.clone());
    let core = Core::on(observed.table(Core::SHAPE.name).await.unwrap());
    for number in 0..150 {
        put(&core, &post(number, 1_737_991_800_000)).await;
    }
    recorder.take();
    let asked: Vec<PostId> =
        (0..300).map(|number| format!("post-{:04}", number / 2 * 2).parse().unwrap()).collect();
    let found = core.posts(&asked).get().await.unwrap();
    for (id, found) in asked.iter().zip(&found) {
        let there = *id < "post-0150".parse().unwrap();
        assert_eq!(found.as_ref().map(|post| &post.id), there.then_some(id));
    }
    let operations = recorder.take();
    assert_eq!(operations.len(), 2, "150 distinct keys are two batches");
    assert!(operations.iter().all(|operation| operation.pattern == Some("posts")));
}

/// R27: statistics by projection.
#[tokio::test]
async fn post_stats_read_only_the_fields_of_the_summary() {
    let core = town().await;
    let (post, counter) = (samples::post(), samples::post_counter());
    put(&core, &post).await;
    put(&core, &PostCounter { post_id: post.id.clone(), ..counter.clone() }).await;
    let missing: PostId = "missing".parse().unwrap();
    let stats = core.post_stats(&[missing, post.id.clone()]).await.unwrap();
    assert!(stats[0].is_none());
    let stats = stats[1].clone().unwrap();
    assert_eq!((stats.post.content, stats.post.created_at), (post.content, post.created_at));
    assert_eq!(stats.counter.unwrap().likes, counter.likes);
}

/// R24: the timeline of all entities of a user, regardless of the order of parts in their keys.
#[tokio::test]
async fn the_entity_timeline_merges_kinds_by_time() {
    let core = town().await;
    let user = samples::user();
    let at = |second: u64| Time::from_ms(1_737_991_800_000 + second * 1000);
    put(&core, &User { created_at: at(0), ..user.clone() }).await;
    for second in [1, 5, 9] {
        let id = format!("goal-{second}").parse().unwrap();
        let user_id = user.id.clone();
        put(&core, &Goal { id, user_id, created_at: at(second), ..samples::goal() }).await;
    }
    for second in [2, 5, 8] {
        let post_id = format!("liked-{second}").parse().unwrap();
        let user_id = user.id.clone();
        put(&core, &Like { post_id, user_id, created_at: at(second), ..samples::like() }).await;
    }
    for second in [5, 7] {
        let author_id = user.id.clone();
        let mine = post(second, at(second).ms());
        put(&core, &Post { author_id, ..mine }).await;
    }
    let shown = |entry: &TimelineEntry| match entry {
        TimelineEntry::User(_) => String::from("joined"),
        TimelineEntry::Goal(goal) => goal.id.to_string(),
        TimelineEntry::Like(like) => like.post_id.to_string(),
        TimelineEntry::Post(post) => post.id.to_string(),
        other => format!("{:?}", other.kind()),
    };
    let mut newest_first = vec![
        "goal-9",
        "liked-8",
        "post-0007",
        "liked-5",
        "post-0005",
        "goal-5",
        "liked-2",
        "goal-1",
        "joined",
    ];
    for order in [Order::Descending, Order::Ascending] {
        for size in 1..=10 {
            let (mut all, mut after) = (Vec::new(), None);
            loop {
                let timeline = core.entity_timeline(&user.id, EntityKind::ALL).order(order);
                let page = timeline.limit(size).after(after.take()).page().await.unwrap();
                all.extend(page.entries.iter().map(|(entry, _)| shown(entry)));
                match page.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
            assert_eq!(all, newest_first, "{order:?} by {size}");
        }
        newest_first.reverse();
    }
    let goals = core.entity_timeline(&user.id, &[EntityKind::Goal]).page().await.unwrap();
    assert_eq!(goals.entries.len(), 3);
}

#[tokio::test]
async fn invalid_cursors_and_limits_are_refused_with_the_pattern() {
    let core = town().await;
    for number in 0..3 {
        put(&core, &post(number, 1_737_991_800_000 + number)).await;
    }
    let author = samples::post().author_id;
    let page = core.posts_by(&author).limit(1).page().await.unwrap();
    let cursor = page.next.unwrap();
    let refused =
        async |listing: Listing<'_, Post, false>| listing.page().await.unwrap_err().to_string();
    let other = user_id("somebody-else");
    assert_eq!(
        refused(core.posts_by(&other).after(cursor.clone())).await,
        "this cursor does not continue `posts_by`: it was made for another query"
    );
    // Cursors of merged and day-by-day queries are bound to their arguments, too.
    let follow = |name: &str| Follow {
        follower_id: user_id(name),
        followee_id: user_id("bo"),
        ..samples::follow()
    };
    put(&core, &follow("fan-1")).await;
    put(&core, &follow("fan-2")).await;
    let page = core.followers(&user_id("bo"), shards(2)).limit(1).page().await.unwrap();
    let fans = core.followers(&other, shards(2)).after(page.next);
    assert!(matches!(fans.page().await, Err(Error::InvalidCursor { pattern: "followers", .. })));
    let days = Days::only(Time::from_ms(0).day());
    let timeline = core.timeline(days, shards(1)).after(cursor.clone());
    assert!(matches!(timeline.page().await, Err(Error::InvalidCursor { pattern: "timeline", .. })));
    let reversed = core.posts_by(&author).order(Order::Ascending).after(cursor);
    assert!(matches!(reversed.page().await, Err(Error::InvalidCursor { .. })));
    for limit in [0, 1000] {
        let message = refused(core.posts_by(&author).limit(limit)).await;
        assert_eq!(message, format!("a page of `posts_by` has 1 to 999 items, not {limit}"));
    }
    assert!("not a cursor".parse::<Cursor>().is_err());
}

#[tokio::test]
async fn an_item_of_another_type_under_a_key_is_an_error() {
    let core = town().await;
    let post = samples::post();
    let stranger = post.item().with("type", "Poster");
    core.table().put(roundtable_model::table::Put::new(stranger)).await.unwrap();
    let error = core.post(&post.id).get().await.unwrap_err().to_string();
    assert_eq!(error, format!("expected Post at POST#{} / POST, found Poster", post.id));

    let key = post.key().into_key();
    let bare = item! { "PK" => key.partition.clone(), "SK" => key.sort.clone().unwrap() };
    core.table().put(roundtable_model::table::Put::new(bare)).await.unwrap();
    let error = core.post(&post.id).get().await.unwrap_err().to_string();
    assert!(error.ends_with("found an item without a type"), "{error}");

    let short = post.item().with("createdAt", "2025-01-27T15:30Z");
    core.table().put(roundtable_model::table::Put::new(short)).await.unwrap();
    let error = core.post(&post.id).get().await.unwrap_err();
    assert!(
        matches!(error, Error::InvalidItem { entity: "Post", field: "createdAt", .. }),
        "{error}"
    );
}

/// Composites read the patterns that the schema lists.
#[tokio::test]
async fn composites_read_the_patterns_of_the_schema() {
    let core = town().await;
    put(&core, &samples::user()).await;
    put(&core, &samples::handle_lock()).await;
    let recorder = Arc::new(Recorder::default());
    let observed = core.table().store().observed(recorder.clone());
    let core = Core::on(observed.table(Core::SHAPE.name).await.unwrap());
    for composite in Core::SHAPE.composites {
        let (user, post) = (samples::user().id, samples::post().id);
        match composite.name {
            "user_by_handle" => {
                core.user_by_handle(&samples::handle_lock().handle).await.unwrap();
            }
            "post_with_comments" => {
                core.post_with_comments(&post, Order::Ascending, 20).await.unwrap();
            }
            "post_stats" => {
                core.post_stats(&[post]).await.unwrap();
            }
            "entity_timeline" => {
                core.entity_timeline(&user, EntityKind::ALL).page().await.unwrap();
            }
            "activity_timeline" => {
                core.activity_timeline(&ActorId::from(&user)).page().await.unwrap();
            }
            "assists" => {
                core.assists(&user).page().await.unwrap();
            }
            other => panic!("{other} is not tested"),
        }
        let mut asked: Vec<_> =
            recorder.take().into_iter().filter_map(|operation| operation.pattern).collect();
        let mut named = composite.of.to_vec();
        asked.sort_unstable();
        named.sort_unstable();
        assert_eq!(asked, named, "{}", composite.name);
    }
}

#[tokio::test]
async fn composites_return_combined_results() {
    let core = town().await;
    let (user, lock) = (samples::user(), samples::handle_lock());
    put(&core, &user).await;
    put(&core, &lock).await;
    assert_eq!(core.user_by_handle(&lock.handle).await.unwrap(), Some(user));
    let unknown = "nobody".parse().unwrap();
    assert_eq!(core.user_by_handle(&unknown).await.unwrap(), None);

    let (post, comment) = (samples::post(), samples::comment());
    put(&core, &post).await;
    put(&core, &comment).await;
    let earlier = samples::comment();
    let earlier = Comment { id: "00000000000000000000000000".parse().unwrap(), ..earlier };
    put(&core, &earlier).await;
    let ask = async |order| core.post_with_comments(&post.id, order, 20).await.unwrap().unwrap();
    let (found, newest) = ask(Order::Descending).await;
    assert_eq!((found, newest.items), (post.clone(), vec![comment.clone(), earlier.clone()]));
    let (_, oldest) = ask(Order::Ascending).await;
    assert_eq!(oldest.items, [earlier, comment]);
    let none = core.post_with_comments(&"none".parse().unwrap(), Order::Ascending, 20).await;
    assert!(none.unwrap().is_none());
}
