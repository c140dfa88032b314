//! Live updates where another task reads the stream.

use std::sync::Arc;

use futures::FutureExt;
use roundtable_conformance::Reference;
use roundtable_domain::{
    Code, Feeds, LiveBus, LiveError, LiveEvent, LiveSource as _, LiveUpdates, ModerationMode,
    Notifications, PageInput, Refusal, Settings, Topic, TopicSubscription,
};
use roundtable_model::table::{Change, ManualClock, Store, StreamRead, StreamStart};
use roundtable_model::{ModerationStatus, Role};
use roundtable_testkit::{Town, YieldingBackend, stop_at};

/// All changes so far, as the stream delivers them.
async fn changes(town: &Town) -> Vec<Change> {
    let table = town.context().core().table();
    let shard = table.stream_shards().await.unwrap().remove(0).id;
    let read = StreamRead::new(shard, StreamStart::Oldest);
    table.stream_read(read).await.unwrap().changes
}

fn live_updates(town: &Town) -> (LiveBus, LiveUpdates) {
    let bus = town.new_bus();
    let live = LiveUpdates::new(town.context().clone(), &bus);
    (bus, live)
}

fn next_event(subscription: &mut TopicSubscription) -> Option<Result<LiveEvent, LiveError>> {
    subscription.next().now_or_never()
}

fn content(event: Option<Result<LiveEvent, LiveError>>) -> Option<String> {
    match event?.unwrap() {
        LiveEvent::Post(post) => Some(post.content.clone()),
        LiveEvent::Comment(comment) => Some(comment.content.clone()),
        other => panic!("{other:?}"),
    }
}

/// R45: applied changes are delivered to the subscribers of their topics.
#[tokio::test]
async fn applied_changes_are_delivered() {
    let town = Town::of(["ana", "bo"]).await;
    let (bus, live) = live_updates(&town);
    let first = town.post("ana", "first").await;
    let mut posts = live.subscribe(&town.caller("bo"), Topic::NewPosts(None)).await.unwrap();
    let on_first = Topic::Comments(first.id.clone());
    let mut comments = live.subscribe(&town.caller("bo"), on_first).await.unwrap();
    let before = changes(&town).await.len();
    let second = town.post("ana", "second").await;
    town.comment("ana", &first.id, "on the first").await;
    town.comment("ana", &second.id, "on the second").await;
    bus.apply(changes(&town).await.get(before..).unwrap());
    assert_eq!(content(next_event(&mut posts)).as_deref(), Some("second"));
    assert_eq!(content(next_event(&mut comments)).as_deref(), Some("on the first"));
    assert!(next_event(&mut posts).is_none() && next_event(&mut comments).is_none());
}

/// R45: pages may be ahead of the stream: a reader who returns from an entry does not get it, or
/// earlier ones, when the stream reaches them.
#[tokio::test]
async fn entries_seen_on_pages_are_not_delivered_again() {
    let (town, page) = (Town::of(["ana", "bo", "cleo"]).await, PageInput::first());
    let (ana, context) = (town.caller("ana"), town.context());
    town.follow("ana", "bo").await;
    for (text, follower) in [("one", "bo"), ("two", "cleo")] {
        // Longer than one may arrive after the other.
        town.advance_ms(11 * 60 * 1000);
        town.post("bo", text).await;
        town.follow(follower, "ana").await;
    }
    town.settle().await;
    let bus = town.new_bus();
    let feeds = Feeds::new(context.clone(), &bus);
    let notifications = Notifications::new(context.clone());
    let newest = feeds.home(&ana, &page).await.unwrap().into_items().remove(0);
    let latest = notifications.list(&ana, &page).await.unwrap().into_items().remove(0);
    let mut feed = feeds.live(&ana, Some(&newest.activity.activity_id.into())).await.unwrap();
    let after = latest.notification.id.into();
    let mut notification = notifications.live(&bus, &ana, Some(&after)).await.unwrap();
    bus.apply(&changes(&town).await);
    assert!(feed.next().now_or_never().is_none() && notification.next().now_or_never().is_none());
}

/// R45: an object hidden between its event and the delivery is not delivered.
#[tokio::test]
async fn objects_hidden_before_delivery_are_not_delivered() {
    let town = Town::of(["ana", "bo"]).await;
    let (bus, live) = live_updates(&town);
    let mut posts = live.subscribe(&town.caller("bo"), Topic::NewPosts(None)).await.unwrap();
    town.post("ana", "quick").await;
    bus.apply(&changes(&town).await);
    town.block("ana", "bo").await;
    assert!(next_event(&mut posts).is_none());
}

/// R45: a slow subscriber and one disconnected by a gap get different errors, after what was
/// received before. Both have to subscribe again.
#[tokio::test]
async fn slow_subscribers_and_gaps_get_different_errors() {
    let town = Town::of(["ana", "bo"]).await;
    let (bus, live) = live_updates(&town);
    let (bo, post) = (town.caller("bo"), town.post("ana", "hello").await);
    let mut slow = live.subscribe(&bo, Topic::Likes(post.id.clone())).await.unwrap();
    let mut posts = live.subscribe(&bo, Topic::NewPosts(None)).await.unwrap();
    town.like("ana", &post.id).await;
    let all = changes(&town).await;
    bus.apply(&all);
    for number in 0..64 {
        // Later changes of the same items.
        let later =
            |change: &Change| Change { sequence: (1_000 + number).into(), ..change.clone() };
        bus.apply(&all.iter().map(later).collect::<Vec<_>>());
    }
    let mut disconnected = live.subscribe(&bo, Topic::NewPosts(None)).await.unwrap();
    bus.set_complete(true);
    assert_eq!(content(next_event(&mut posts)).as_deref(), Some("hello"));
    for _ in 0..2 {
        let too_slow = next_event(&mut slow).unwrap().unwrap_err();
        assert!(matches!(too_slow, LiveError::TooSlow));
        assert_eq!(too_slow.code(), Code::RateLimited);
        let missed = next_event(&mut disconnected).unwrap().unwrap_err();
        assert!(matches!(missed, LiveError::Missed));
        assert_eq!(missed.code(), Code::Conflict);
    }
}

/// R45: users cannot subscribe to the quests of others.
#[tokio::test]
async fn only_the_owner_can_subscribe_to_quests() {
    let town = Town::of(["ana", "bo"]).await;
    let (bus, live) = live_updates(&town);
    let topic = Topic::Quests(town.id("ana"));
    let refused = live.subscribe(&town.caller("bo"), topic.clone()).await;
    assert!(matches!(refused, Err(LiveError::NoSuchUser)));
    assert!(live.subscribe(&town.caller("ana"), topic).await.is_ok());
    assert_eq!(bus.topic_count(), 0, "those who went leave nothing behind");
}

/// R45: an event whose delivery is cancelled at any point is delivered once by the next call.
#[tokio::test]
async fn an_event_survives_a_cancelled_delivery() {
    let clock = Arc::new(ManualClock::at_ms(1_790_000_000_000));
    let store = Store::new(YieldingBackend::new(Reference::new(clock.clone())));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    town.add_user("ana", |_| {}).await;
    town.add_user("bo", |_| {}).await;
    let (bus, live) = live_updates(&town);
    let mut cut = 0;
    loop {
        let mut posts = live.subscribe(&town.caller("bo"), Topic::NewPosts(None)).await.unwrap();
        let before = changes(&town).await.len();
        town.post("ana", "only once").await;
        bus.apply(changes(&town).await.get(before..).unwrap());
        let first = stop_at(cut, posts.next()).await;
        if first.is_some() {
            break;
        }
        assert_eq!(content(Some(posts.next().await)).as_deref(), Some("only once"), "{cut}");
        assert!(next_event(&mut posts).is_none());
        cut += 1;
    }
    assert!(cut > 0, "reading it takes a while");
}

/// R34, R45: users who can see an unpublished post or a hidden comment are notified once as well.
#[tokio::test]
async fn moderated_content_is_delivered_once() {
    let settings = Settings { moderation: ModerationMode::Before, ..Town::settings() };
    let town = Town::with(settings, ["ana", "bo", "mo"]).await;
    town.grant_role("mo", Role::Moderator).await;
    let (bus, live) = live_updates(&town);
    let callers = [town.caller("ana"), town.caller("bo"), town.mo()];
    let mut applied = 0;
    let mut deliver = async |of: &mut [TopicSubscription]| {
        let all = changes(&town).await;
        bus.apply(all.get(applied..).unwrap());
        applied = all.len();
        of.iter_mut().map(|subscription| content(next_event(subscription))).collect::<Vec<_>>()
    };
    let for_all = |text: &str| vec![Some(text.to_owned()); 3];
    let no_events = vec![None; 3];

    let mut posts = Vec::new();
    for caller in &callers {
        posts.push(live.subscribe(caller, Topic::NewPosts(None)).await.unwrap());
    }
    let post = town.post("ana", "patience").await;
    assert_eq!(deliver(&mut posts).await, no_events, "it is not published");
    town.moderate(&post.id, ModerationStatus::Approved).await;
    assert_eq!(deliver(&mut posts).await, for_all("patience"));
    for status in [ModerationStatus::Flagged, ModerationStatus::Approved] {
        town.moderate(&post.id, status).await;
        assert_eq!(deliver(&mut posts).await, no_events, "{status}");
    }

    let mut comments = Vec::new();
    for caller in &callers {
        let topic = Topic::Comments(post.id.clone());
        comments.push(live.subscribe(caller, topic).await.unwrap());
    }
    let comment = town.comment("ana", &post.id, "thanks").await;
    assert_eq!(deliver(&mut comments).await, for_all("thanks"));
    for status in [ModerationStatus::Rejected, ModerationStatus::Approved] {
        let decide = town.moderation();
        decide.moderate_comment(&town.mo(), &comment.id, status, None, None).await.unwrap();
        assert_eq!(deliver(&mut comments).await, no_events, "{status}");
    }
}
