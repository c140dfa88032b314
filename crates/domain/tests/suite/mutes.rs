//! Mutes of anyone, with and without an end (R49).

use roundtable_domain::{Code, Feeds, MuteError, Mutes, PageInput, Refusal};
use roundtable_model::entities::Mute;
use roundtable_model::{RequestId, Time, UserStatus};
use roundtable_testkit::Town;

const HOUR_MS: u64 = 60 * 60 * 1000;

/// The muted users, in the order of the list, read in pages of this size.
async fn listed(town: &Town, name: &str, size: usize) -> Vec<String> {
    let (mutes, caller) = (town.mutes(), town.caller(name));
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let input = PageInput { limit: Some(size), after: after.take() };
        let page = mutes.list(&caller, &input).await.unwrap();
        assert!(page.items.len() <= size);
        found.extend(page.items.into_iter().map(|(mute, _)| mute.muted_id.to_string()));
        after = page.next;
        if after.is_none() {
            return found;
        }
    }
}

async fn muted_until(town: &Town, name: &str, until: Option<Time>) -> Result<Mute, MuteError> {
    town.mutes().mute(&town.caller("ana"), &town.id(name), until, None).await
}

/// R49: anyone can be muted, and is listed until the mute ends.
#[tokio::test]
async fn a_stranger_is_muted_until_a_time() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let end = town.now().plus_ms(HOUR_MS);
    let mute = muted_until(&town, "bo", Some(end)).await.unwrap();
    assert_eq!((mute.until, mute.created_at), (Some(end), town.now()));
    town.mute("ana", "cleo").await;
    assert_eq!(listed(&town, "ana", 1).await, ["bo", "cleo"]);
    town.advance_ms(HOUR_MS - 1);
    assert_eq!(listed(&town, "ana", 20).await, ["bo", "cleo"]);
    town.advance_ms(1);
    assert_eq!(listed(&town, "ana", 20).await, ["cleo"]);
    let ended = town.mutes().unmute(&town.caller("ana"), &town.id("bo"), None).await;
    assert!(matches!(ended, Err(MuteError::NotMuted)), "it has ended");
    assert!(listed(&town, "bo", 20).await.is_empty(), "only their owner sees mutes");
}

/// R49: muting again replaces the end.
#[tokio::test]
async fn the_latest_end_counts() {
    let town = Town::of(["ana", "bo"]).await;
    let soon = town.now().plus_ms(1_500);
    muted_until(&town, "bo", None).await.unwrap();
    muted_until(&town, "bo", Some(soon)).await.unwrap();
    town.advance_ms(1_500);
    assert!(listed(&town, "ana", 20).await.is_empty());
    muted_until(&town, "bo", Some(town.now().plus_ms(10))).await.unwrap();
    muted_until(&town, "bo", None).await.unwrap();
    town.advance_ms(HOUR_MS);
    assert_eq!(listed(&town, "ana", 20).await, ["bo"]);
    town.mutes().unmute(&town.caller("ana"), &town.id("bo"), None).await.unwrap();
    assert!(listed(&town, "ana", 20).await.is_empty());
}

/// R49
#[tokio::test]
async fn what_cannot_be_muted_is_refused() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.add_user("sid", |sid| sid.status = UserStatus::Suspended).await;
    town.block("bo", "ana").await;
    for hidden in ["bo", "sid", "zoe"] {
        let refused = muted_until(&town, hidden, None).await;
        assert!(matches!(refused, Err(MuteError::NoSuchUser)), "{hidden}");
    }
    assert!(matches!(muted_until(&town, "ana", None).await, Err(MuteError::Yourself)));
    let past = muted_until(&town, "cleo", Some(town.now())).await.unwrap_err();
    assert_eq!(past.code(), Code::BadRequest);
    assert!(past.to_string().contains("until"), "{past}");
    let missing = town.mutes().unmute(&town.caller("ana"), &town.id("cleo"), None).await;
    assert!(matches!(missing, Err(MuteError::NotMuted)));
}

/// R49: the setting of a follow is the same mute.
#[tokio::test]
async fn a_mute_by_either_name_is_the_same() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let (ana, bo) = (town.caller("ana"), town.id("bo"));
    town.follows().update(&ana, &bo, Some(true), None, None, None).await.unwrap();
    assert_eq!(listed(&town, "ana", 20).await, ["bo"]);
    town.mutes().unmute(&ana, &bo, None).await.unwrap();
    assert!(listed(&town, "ana", 20).await.is_empty());
    muted_until(&town, "bo", Some(town.now().plus_ms(HOUR_MS))).await.unwrap();
    town.follows().update(&ana, &bo, Some(false), None, None, None).await.unwrap();
    assert!(listed(&town, "ana", 20).await.is_empty());
    town.mute("ana", "bo").await;
    town.follows().unfollow(&ana, &bo, None).await.unwrap();
    assert_eq!(listed(&town, "ana", 20).await, ["bo"], "it does not depend on the follow");
}

/// R49: mutes from before mutes were items of their own are in force, listed, and can be ended or replaced.
#[tokio::test]
async fn mutes_of_earlier_versions_count() {
    let town = Town::of(["ana", "bo", "cleo", "dan", "eve"]).await;
    for name in ["bo", "cleo", "dan", "eve"] {
        town.follow("ana", name).await;
    }
    for name in ["cleo", "eve"] {
        town.mute_in_follow("ana", name).await;
    }
    for name in ["bo", "dan"] {
        town.mute("ana", name).await;
    }
    for size in 1..=5 {
        assert_eq!(listed(&town, "ana", size).await, ["bo", "dan", "cleo", "eve"], "{size}");
    }
    let end = town.now().plus_ms(HOUR_MS);
    muted_until(&town, "cleo", Some(end)).await.unwrap();
    assert_eq!(listed(&town, "ana", 2).await, ["bo", "cleo", "dan", "eve"]);
    town.mutes().unmute(&town.caller("ana"), &town.id("eve"), None).await.unwrap();
    town.advance_ms(HOUR_MS);
    assert_eq!(listed(&town, "ana", 2).await, ["bo", "dan"]);
}

/// R49, R32: a repeated request has the effect of one.
#[tokio::test]
async fn a_repeated_request_mutes_once() {
    let town = Town::of(["ana", "bo"]).await;
    let (mutes, ana, bo) = (town.mutes(), town.caller("ana"), town.id("bo"));
    let [mute, unmute]: [RequestId; 2] = ["mute", "unmute"].map(|id| id.parse().unwrap());
    let first = mutes.mute(&ana, &bo, None, Some(&mute)).await.unwrap();
    town.advance_ms(1_000);
    assert_eq!(mutes.mute(&ana, &bo, None, Some(&mute)).await.unwrap(), first);
    let other = mutes.mute(&ana, &town.id("cleo"), None, Some(&mute)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    assert_eq!(mutes.unmute(&ana, &bo, Some(&unmute)).await.unwrap(), first);
    assert_eq!(mutes.unmute(&ana, &bo, Some(&unmute)).await.unwrap(), first);
    assert!(listed(&town, "ana", 20).await.is_empty());
}

/// R49: two devices that mute and unmute leave nothing that is half of either.
#[tokio::test]
async fn a_mute_survives_a_concurrent_change_of_the_follow() {
    for gap in 1.. {
        let town = std::sync::Arc::new(Town::of(["ana", "bo"]).await);
        town.follow("ana", "bo").await;
        town.mute_in_follow("ana", "bo").await;
        let (other, ana, bo) = (town.follows(), town.caller("ana"), town.id("bo"));
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.unfollow(&ana, &bo, None).await.unwrap();
        });
        let (ana, bo) = (town.caller("ana"), town.id("bo"));
        Mutes::new(context).mute(&ana, &bo, None, None).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
        assert_eq!(listed(&town, "ana", 20).await, ["bo"], "{gap}");
    }
}

/// R49: a mute of anyone hides from the home feed, in groups and in what others share, until it ends, although
/// the reader's circle is cached. The muted user sees no difference.
#[tokio::test]
async fn a_muted_user_is_in_no_feed_until_the_mute_ends() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let runners = town.create_group("cleo", "runners").await;
    for member in ["ana", "bo"] {
        town.join(member, &runners).await;
    }
    town.follow("ana", "cleo").await;
    let post = town.post("bo", "by bo").await;
    town.post_into("bo", &runners, "to the group").await;
    town.share("cleo", &post.id).await;
    let bus = town.new_bus();
    let feeds = Feeds::new(town.context().clone(), &bus);
    let home = async |name: &str| {
        let page = feeds.home(&town.caller(name), &PageInput::first()).await.unwrap();
        let ids = page.into_items().into_iter().map(|entry| entry.activity.activity_id);
        ids.collect::<Vec<_>>()
    };
    let (before, theirs) = (home("ana").await, home("bo").await);
    assert_eq!(before.len(), 2);
    let end = town.now().plus_ms(90_000);
    muted_until(&town, "bo", Some(end)).await.unwrap();
    assert!(home("ana").await.is_empty());
    assert_eq!(home("bo").await, theirs);
    town.advance_ms(89_999);
    assert!(home("ana").await.is_empty());
    town.advance_ms(1);
    assert_eq!(home("ana").await, before);

    // Of a followee, too, and also if an earlier version stored the mute in the follow.
    muted_until(&town, "cleo", Some(town.now().plus_ms(1_000))).await.unwrap();
    assert_eq!(home("ana").await.len(), 1);
    town.advance_ms(1_000);
    assert_eq!(home("ana").await, before);
    town.mute_in_follow("ana", "cleo").await;
    assert_eq!(home("ana").await.len(), 1);
    town.mutes().unmute(&town.caller("ana"), &town.id("cleo"), None).await.unwrap();
    assert_eq!(home("ana").await, before);
}
