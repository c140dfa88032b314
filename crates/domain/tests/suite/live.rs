//! What happens, told to those who listen, where somebody else reads the stream.

use std::sync::Arc;

use futures::FutureExt;
use roundtable_conformance::Reference;
use roundtable_domain::{
    Code, Event, Feeds, Listener, Live, LiveError, Matter, ModerationMode, Notifications,
    PageInput, Refusal, Settings,
};
use roundtable_model::table::{Change, ManualClock, Store, StreamRead, StreamStart};
use roundtable_model::{ModerationStatus, Role};
use roundtable_testkit::{Town, Yielding, stop_at};

/// Everything that ever happened, as whoever reads the stream has it.
async fn changes(town: &Town) -> Vec<Change> {
    let table = town.ground().core().table();
    let shard = table.stream_shards().await.unwrap().remove(0).id;
    let read = StreamRead::new(shard, StreamStart::Oldest);
    table.stream_read(read).await.unwrap().changes
}

fn told(listener: &mut Listener) -> Option<Result<Event, LiveError>> {
    listener.next().now_or_never()
}

fn content(event: Option<Result<Event, LiveError>>) -> Option<String> {
    match event?.unwrap() {
        Event::Post(post) => Some(post.content.clone()),
        Event::Comment(comment) => Some(comment.content.clone()),
        other => panic!("{other:?}"),
    }
}

/// R45: listeners are told of changes that were handed in, each to those who wanted to hear of it.
#[tokio::test]
async fn changes_that_are_handed_in_are_told() {
    let town = Town::of(["ana", "bo"]).await;
    let live = Live::new(town.ground().clone());
    let first = town.post("ana", "first").await;
    let mut posts = live.listen(&town.caller("bo"), Matter::NewPosts(None)).await.unwrap();
    let on_first = Matter::Comments(first.id.clone());
    let mut comments = live.listen(&town.caller("bo"), on_first).await.unwrap();
    let before = changes(&town).await.len();
    let second = town.post("ana", "second").await;
    town.comment("ana", &first.id, "on the first").await;
    town.comment("ana", &second.id, "on the second").await;
    live.apply(changes(&town).await.get(before..).unwrap());
    assert_eq!(content(told(&mut posts)).as_deref(), Some("second"));
    assert_eq!(content(told(&mut comments)).as_deref(), Some("on the first"));
    assert!(told(&mut posts).is_none() && told(&mut comments).is_none());
}

/// R45: whoever reads pages may be ahead of whoever reads the stream: what they come back from, and what
/// was before it, is not told to them when the stream gets there.
#[tokio::test]
async fn what_was_seen_before_the_stream_told_of_it_is_not_told_again() {
    let (town, page) = (Town::of(["ana", "bo", "cleo"]).await, PageInput::first());
    let (ana, ground) = (town.caller("ana"), town.ground());
    town.follow("ana", "bo").await;
    for (text, follower) in [("one", "bo"), ("two", "cleo")] {
        town.pass_ms(10);
        town.post("bo", text).await;
        town.follow(follower, "ana").await;
    }
    town.settle().await;
    let (feeds, notifications) = (Feeds::new(ground.clone()), Notifications::new(ground.clone()));
    let newest = feeds.home(&ana, &page).await.unwrap().into_items().remove(0);
    let latest = notifications.list(&ana, &page).await.unwrap().into_items().remove(0);
    let mut feed = feeds.live(&ana, Some(&newest.activity.activity_id)).await.unwrap();
    let mut told = notifications.live(&ana, Some(&latest.notification.id)).await.unwrap();
    let late = changes(&town).await;
    feeds.apply(&late);
    notifications.apply(&late);
    assert!(feed.next().now_or_never().is_none() && told.next().now_or_never().is_none());
}

/// R45: what has become hidden between happening and being told is not told.
#[tokio::test]
async fn what_is_hidden_by_the_time_it_is_told_is_not_told() {
    let town = Town::of(["ana", "bo"]).await;
    let live = Live::new(town.ground().clone());
    let mut posts = live.listen(&town.caller("bo"), Matter::NewPosts(None)).await.unwrap();
    town.post("ana", "quick").await;
    live.apply(&changes(&town).await);
    town.block("ana", "bo").await;
    assert!(told(&mut posts).is_none());
}

/// R45: whoever took too little out in time is told so; whoever lost something through no fault of theirs
/// is told that, behind what was heard before. Both have to listen again.
#[tokio::test]
async fn who_was_too_slow_and_who_was_hung_up_on_are_told_apart() {
    let town = Town::of(["ana", "bo"]).await;
    let live = Live::new(town.ground().clone());
    let (bo, post) = (town.caller("bo"), town.post("ana", "hello").await);
    let mut slow = live.listen(&bo, Matter::Likes(post.id.clone())).await.unwrap();
    let mut posts = live.listen(&bo, Matter::NewPosts(None)).await.unwrap();
    town.like("ana", &post.id).await;
    let all = changes(&town).await;
    live.apply(&all);
    (0..64).for_each(|_| live.apply(&all));
    let mut hung_up = live.listen(&bo, Matter::NewPosts(None)).await.unwrap();
    live.missed();
    assert_eq!(content(told(&mut posts)).as_deref(), Some("hello"));
    for _ in 0..2 {
        let too_slow = told(&mut slow).unwrap().unwrap_err();
        assert!(matches!(too_slow, LiveError::TooSlow));
        assert_eq!(too_slow.code(), Code::RateLimited);
        let missed = told(&mut hung_up).unwrap().unwrap_err();
        assert!(matches!(missed, LiveError::Missed));
        assert_eq!(missed.code(), Code::Conflict);
    }
}

/// R45: nobody can listen to the quests of somebody else.
#[tokio::test]
async fn quests_are_listened_to_by_their_owner() {
    let town = Town::of(["ana", "bo"]).await;
    let live = Live::new(town.ground().clone());
    let matter = Matter::Quests(town.id("ana"));
    let refused = live.listen(&town.caller("bo"), matter.clone()).await;
    assert!(matches!(refused, Err(LiveError::NoSuchUser)));
    assert!(live.listen(&town.caller("ana"), matter).await.is_ok());
    assert_eq!(live.matters(), 0, "those who went leave nothing behind");
}

/// R45: whoever stops waiting while an event is read for them, at whatever point, hears of it the next
/// time they listen, once.
#[tokio::test]
async fn an_event_is_told_even_if_its_telling_was_cut_short() {
    let clock = Arc::new(ManualClock::at_ms(1_790_000_000_000));
    let store = Store::new(Yielding::new(Reference::new(clock.clone())));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    town.move_in("ana", |_| {}).await;
    town.move_in("bo", |_| {}).await;
    let live = Live::new(town.ground().clone());
    let mut cut = 0;
    loop {
        let mut posts = live.listen(&town.caller("bo"), Matter::NewPosts(None)).await.unwrap();
        let before = changes(&town).await.len();
        town.post("ana", "only once").await;
        live.apply(changes(&town).await.get(before..).unwrap());
        let first = stop_at(cut, posts.next()).await;
        if first.is_some() {
            break;
        }
        assert_eq!(content(Some(posts.next().await)).as_deref(), Some("only once"), "{cut}");
        assert!(told(&mut posts).is_none());
        cut += 1;
    }
    assert!(cut > 0, "reading it takes a while");
}

/// R34, R45: whoever sees a post before it is out, or a comment that is hidden, hears of it once as well.
#[tokio::test]
async fn what_waits_for_moderators_is_told_once_to_everybody() {
    let settings = Settings { moderation: ModerationMode::Before, ..Town::settings() };
    let town = Town::with(settings, ["ana", "bo", "mo"]).await;
    town.employ("mo", Role::Moderator).await;
    let live = Live::new(town.ground().clone());
    let callers = [town.caller("ana"), town.caller("bo"), town.mo()];
    let mut heard = 0;
    let mut hear = async |of: &mut [Listener]| {
        let all = changes(&town).await;
        live.apply(all.get(heard..).unwrap());
        heard = all.len();
        of.iter_mut().map(|listener| content(told(listener))).collect::<Vec<_>>()
    };
    let everybody = |text: &str| vec![Some(text.to_owned()); 3];
    let nobody = vec![None; 3];

    let mut posts = Vec::new();
    for caller in &callers {
        posts.push(live.listen(caller, Matter::NewPosts(None)).await.unwrap());
    }
    let post = town.post("ana", "patience").await;
    assert_eq!(hear(&mut posts).await, nobody, "it is out for nobody");
    town.moderate(&post.id, ModerationStatus::Approved).await;
    assert_eq!(hear(&mut posts).await, everybody("patience"));
    for status in [ModerationStatus::Flagged, ModerationStatus::Approved] {
        town.moderate(&post.id, status).await;
        assert_eq!(hear(&mut posts).await, nobody, "{status}");
    }

    let mut comments = Vec::new();
    for caller in &callers {
        let matter = Matter::Comments(post.id.clone());
        comments.push(live.listen(caller, matter).await.unwrap());
    }
    let comment = town.comment("ana", &post.id, "thanks").await;
    assert_eq!(hear(&mut comments).await, everybody("thanks"));
    for status in [ModerationStatus::Rejected, ModerationStatus::Approved] {
        let decide = town.moderation();
        decide.moderate_comment(&town.mo(), &comment.id, status, None, None).await.unwrap();
        assert_eq!(hear(&mut comments).await, nobody, "{status}");
    }
}
