//! Writing posts.

use std::sync::Arc;

use roundtable_domain::limits::{MEDIA_TYPE_CHARS_MAX, POST_CHARS_MAX, POST_MEDIA_MAX};
use roundtable_domain::{
    Code, Comments, Likes, ModerationMode, NewComment, NewMedia, NewPost, PostError, Posts,
    Refusal, Shares,
};
use roundtable_model::table::{Operation, Order, Recorder};
use roundtable_model::{ContentType, ModerationStatus, UserStatus, Visibility};
use roundtable_testkit::Town;

use super::{first, moderated, request, texts};

fn picture(name: &str) -> NewMedia {
    NewMedia {
        s3_key: name.parse().unwrap(),
        content_type: "image/jpeg".into(),
        width: Some(640),
        height: None,
    }
}

/// R18, R33: the post, its author's count, its tags, its activity and the head are one transaction.
#[tokio::test]
async fn a_post_comes_with_everything_that_belongs_to_it() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "At last! #Running with @bo and @nobody #running").await;
    assert_eq!(post.hashtags, ["Running".parse().unwrap()]);
    assert_eq!(post.mentions, ["bo".parse().unwrap()], "a name that is nobody's is only text");
    assert_eq!(post.moderation_status, ModerationStatus::Approved);
    assert_eq!(town.rows("USER#ana", "COUNTER#POSTS").await, ["COUNTER#POSTS count=1"]);
    let id = &post.id;
    assert_eq!(
        town.rows("TAG#running", "").await,
        [format!("Post#{id} title=At last! #Running with @bo and @nobody #running")]
    );
    let published = post.published_at.unwrap();
    let activities = town.rows("ACTIVITY#ana", "TS#").await;
    assert_eq!(activities.len(), 1);
    assert!(activities[0].starts_with(&format!("TS#{published}#")), "{activities:?}");
    let told = format!("verb=post objectType=Post objectId={id}");
    assert!(activities[0].contains(&told), "{activities:?}");
    assert!(activities[0].ends_with("tags=[Running] fanout=false"), "{activities:?}");
    assert_eq!(town.rows("ACTIVITY#ana", "HEAD").await.len(), 1);
    assert!(town.rows(&format!("CASE#{id}"), "").await.is_empty());
    assert_eq!(town.stored_post(id).await, post);
}

/// R34: seen first, a post waits: for everybody but its author and moderators it is not there.
#[tokio::test]
async fn a_post_that_moderators_see_first_waits() {
    let town = moderated(ModerationMode::Before, ["ana", "bo"]).await;
    let post = town.post("ana", "#patience").await;
    assert_eq!(post.moderation_status, ModerationStatus::Pending);
    assert_eq!(post.published_at, None);
    let case = town.rows(&format!("CASE#{}", post.id), "").await;
    assert_eq!(case, [format!("CASE#{0} postId={0} reporterIds=[] status=PENDING", post.id)]);
    assert!(town.rows("ACTIVITY#ana", "").await.is_empty(), "it is in no feed yet");
    assert_eq!(town.rows("USER#ana", "COUNTER#POSTS").await, ["COUNTER#POSTS count=1"]);
    assert_eq!(town.rows("TAG#patience", "").await.len(), 1);
    let posts = town.posts();
    posts.post(Some(&town.caller("ana")), &post.id).await.unwrap();
    let stranger = posts.post(Some(&town.caller("bo")), &post.id).await;
    assert!(matches!(stranger, Err(PostError::NoSuchPost)));
    let listed = posts.global(None, None, None, Order::Descending, &first(20)).await.unwrap();
    assert!(listed.items.is_empty());
}

/// R34: seen afterwards, it is out at once, and waits in the queue nevertheless.
#[tokio::test]
async fn a_post_that_moderators_see_afterwards_is_out() {
    let town = moderated(ModerationMode::After, ["ana"]).await;
    let post = town.post("ana", "hello").await;
    assert_eq!(post.moderation_status, ModerationStatus::Approved);
    let case = town.rows(&format!("CASE#{}", post.id), "").await;
    assert!(case[0].contains("status=PENDING"), "{case:?}");
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    let listed = town.posts().global(None, None, None, Order::Descending, &first(20)).await;
    assert_eq!(texts(listed.unwrap()), ["hello"]);
}

/// R18: what is no post is refused.
#[tokio::test]
async fn what_is_no_post_is_refused() {
    let town = Town::of(["ana"]).await;
    let (posts, ana) = (town.posts(), town.caller("ana"));
    let refused = async |input: NewPost| posts.create(&ana, &input, None).await.unwrap_err();
    for empty in ["", " \n"] {
        assert_eq!(refused(NewPost::text(empty)).await.code(), Code::BadRequest);
    }
    let long = NewPost::text("x".repeat(POST_CHARS_MAX + 1));
    assert_eq!(refused(long).await.code(), Code::BadRequest);
    for content_type in [ContentType::Image, ContentType::Video] {
        let without = NewPost { content_type, ..NewPost::text("look") };
        assert!(matches!(refused(without).await, PostError::NoMedia));
    }
    let media = vec![picture("a.jpg"); POST_MEDIA_MAX + 1];
    let many = NewPost { content_type: ContentType::Image, media, ..NewPost::text("") };
    assert_eq!(refused(many).await.code(), Code::BadRequest);
    let group_id = Some("nowhere".parse().unwrap());
    let nowhere = NewPost { group_id, ..NewPost::text("hello") };
    assert!(matches!(refused(nowhere).await, PostError::NoSuchGroup));
    assert!(town.rows("USER#ana", "COUNTER#").await.is_empty(), "nothing was written");

    let stranger = posts.create(&town.caller("stranger"), &NewPost::text("hello"), None).await;
    assert_eq!(stranger.unwrap_err().code(), Code::Unauthenticated);
    town.set_status("ana", UserStatus::Suspended).await;
    assert_eq!(refused(NewPost::text("hello")).await.code(), Code::Forbidden);
}

/// R18: a picture needs no words.
#[tokio::test]
async fn a_picture_needs_no_words() {
    let town = Town::of(["ana"]).await;
    let media = vec![town.arrived("ana", picture("dawn.jpg")).await];
    let input = NewPost { content_type: ContentType::Image, media, ..NewPost::text("") };
    let post = town.post_as("ana", input).await;
    assert_eq!(post.media[0].s3_key.as_str(), "dawn.jpg");
    let activity = town.rows("ACTIVITY#ana", "TS#").await;
    assert!(activity[0].contains("media={contentType=image/jpeg,s3Key=dawn.jpg,width=640}"));
    assert!(!activity[0].contains("previewText"));
}

/// R18: posts into a group are their members' to write, and in no list for everybody.
#[tokio::test]
async fn only_members_post_into_a_group() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let group = town.found_private("ana", "runners").await;
    town.join("bo", &group).await;
    let input = NewPost { group_id: Some(group.clone()), ..NewPost::text("inside #news") };
    for outside in ["bo", "cleo"] {
        let refused = town.posts().create(&town.caller(outside), &input, None).await;
        assert!(matches!(refused, Err(PostError::NotAMember)), "{outside}");
    }
    town.groups().approve(&town.caller("ana"), &group, &town.id("bo"), None).await.unwrap();
    let post = town.post_into("bo", &group, "inside #news").await;
    assert_eq!(town.rows(&format!("ACTIVITY#{group}"), "TS#").await.len(), 1);
    assert!(town.rows("ACTIVITY#bo", "").await.is_empty(), "it lives with the group only");
    let stored = town.stored_post(&post.id).await;
    let keys = roundtable_model::Entity::index_keys(&stored);
    assert!(keys[0].is_some() && keys[1].is_none() && keys[2].is_none());
}

/// R32: the same request has the effect of one, and answers with the post as it is now.
#[tokio::test]
async fn a_repeated_request_posts_once() {
    let town = Town::of(["ana"]).await;
    let (posts, ana, once) = (town.posts(), town.caller("ana"), request("once"));
    let input = NewPost::text("hello #once");
    let post = posts.create(&ana, &input, Some(&once)).await.unwrap();
    let again = posts.create(&ana, &input, Some(&once)).await.unwrap();
    assert_eq!(post, again);
    assert_eq!(town.rows("USER#ana", "COUNTER#POSTS").await, ["COUNTER#POSTS count=1"]);
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    let other = posts.create(&ana, &NewPost::text("other"), Some(&once)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    posts.delete(&ana, &post.id, None).await.unwrap();
    let gone = posts.create(&ana, &input, Some(&once)).await;
    assert!(matches!(gone, Err(PostError::NoSuchPost)), "its repetition does not bring it back");
}

/// R12: a hundred at once by one person all come out, each with a time of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_posts_passes() {
    let town = Arc::new(Town::of(["ana"]).await);
    let each = (0..100).map(|n| {
        let town = town.clone();
        tokio::spawn(async move {
            let (posts, ana) = (town.posts(), town.caller("ana"));
            let input = NewPost::text(format!("number {n}"));
            posts.create(&ana, &input, None).await
        })
    });
    let each: Vec<_> = each.collect();
    let mut times = Vec::new();
    for post in each {
        times.push(post.await.unwrap().unwrap().published_at.unwrap());
    }
    times.sort_unstable();
    times.dedup();
    assert_eq!(times.len(), 100);
    assert_eq!(town.rows("USER#ana", "COUNTER#POSTS").await, ["COUNTER#POSTS count=100"]);
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 100);
}

/// R12: an activity is never before another one of its actor, whatever the clock says.
#[tokio::test]
async fn time_goes_on_when_the_clock_goes_back() {
    let town = Town::of(["ana"]).await;
    let first = town.post("ana", "first").await;
    town.clock().set_ms(town.now().ms() - 60_000);
    let second = town.post("ana", "second").await;
    assert_eq!(second.published_at.unwrap(), first.published_at.unwrap().plus_ms(1));
    assert!(second.created_at < first.created_at);
}

/// R33: whoever leaves the group, is suspended or turns private while posting: the post says what is
/// true when it is written, or is not written.
#[tokio::test]
async fn a_post_is_never_behind_its_author() {
    let mut posted_before = 0;
    for gap in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let group = town.found("ana", "runners").await;
        town.join("bo", &group).await;
        let (other, left) = (town.groups(), group.clone());
        let bo = town.caller("bo");
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            other.leave(&bo, &left, None).await.unwrap();
        });
        let input = NewPost { group_id: Some(group), ..NewPost::text("hello") };
        let posted = Posts::new(ground).create(&town.caller("bo"), &input, None).await;
        if !meanwhile.happened() {
            break;
        }
        let left_first = matches!(posted, Err(PostError::NotAMember));
        let counted = town.rows("USER#bo", "COUNTER#POSTS").await;
        assert_eq!(left_first, counted.is_empty(), "{gap}");
        posted_before += usize::from(posted.is_ok());
    }
    assert_eq!(posted_before, 1, "only when the post is there first");
    for gap in 1.. {
        let town = Arc::new(Town::of(["ana"]).await);
        let other = town.clone();
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            other.set_private("ana", true).await;
            // The processor is as quick as it can be.
            other.posts().set_author_private(&other.id("ana"), true, None).await.unwrap();
        });
        let (posts, ana, input) = (Posts::new(ground), town.caller("ana"), NewPost::text("hi"));
        let post = posts.create(&ana, &input, None).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
        assert!(town.stored_post(&post.id).await.author_is_private, "{gap}");
    }
}

/// R18: each visibility is for whom it says.
#[tokio::test]
async fn a_post_is_for_whom_it_says() {
    let town = Town::of(["ana", "friend", "stranger", "blocked", "mo"]).await;
    town.follow("friend", "ana").await;
    town.block("ana", "blocked").await;
    let sees = [
        (Visibility::Public, ["ana", "friend", "stranger", "nobody", "mo"].as_slice()),
        (Visibility::Followers, &["ana", "friend", "mo"]),
        (Visibility::Private, &["ana", "mo"]),
    ];
    for (visibility, expected) in sees {
        let input = NewPost { visibility: Some(visibility), ..NewPost::text("hello") };
        let post = town.post_as("ana", input).await;
        for name in ["ana", "friend", "stranger", "blocked", "nobody", "mo"] {
            let caller = match name {
                "nobody" => None,
                "mo" => Some(town.mo()),
                name => Some(town.caller(name)),
            };
            let seen = town.posts().post(caller.as_ref(), &post.id).await.is_ok();
            assert_eq!(seen, expected.contains(&name), "{visibility} {name}");
        }
    }
}

/// R18: what a file is, is said by a MIME type, and by nothing else.
#[tokio::test]
async fn a_file_is_named_by_a_mime_type() {
    let town = Town::of(["ana"]).await;
    let (posts, ana) = (town.posts(), town.caller("ana"));
    let post = |content_type: &str| NewPost {
        content_type: ContentType::Image,
        media: vec![NewMedia { content_type: content_type.to_owned(), ..picture("dawn.jpg") }],
        ..NewPost::text("")
    };
    let long = format!("image/{}", "x".repeat(MEDIA_TYPE_CHARS_MAX));
    for wrong in ["", "image", "image/", "/png", "image/p ng", "image/pn\u{e4}", &long] {
        let refused = posts.create(&ana, &post(wrong), None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest, "{wrong}");
        assert!(refused.to_string().chars().count() < 300, "{refused}");
    }
    for (name, right) in [("a", "image/png"), ("b", "image/webp"), ("c", "video/mp4;codecs=avc1")] {
        let media = NewMedia { content_type: right.to_owned(), ..picture(name) };
        let media = vec![town.arrived("ana", media).await];
        posts.create(&ana, &NewPost { media, ..post(right) }, None).await.unwrap();
    }
}

/// R42: nobody's profile is read twice for what somebody does once.
#[tokio::test]
async fn every_profile_is_read_once() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let comment = town.comment("ana", &post.id, "hi").await;
    let reads = Arc::new(Recorder::default());
    let (ground, bo) = (town.ground().observed(reads.clone()), town.caller("bo"));
    let profiles = || -> usize {
        let each = reads.take().into_iter();
        let read =
            |operation: &Operation| matches!(operation.pattern, Some("profile" | "profiles"));
        each.filter(read).map(|operation| operation.items).sum()
    };
    Posts::new(ground.clone()).create(&bo, &NewPost::text("mine"), None).await.unwrap();
    assert_eq!(profiles(), 1, "create");
    Likes::new(ground.clone()).like(&bo, &post.id, None, None).await.unwrap();
    assert_eq!(profiles(), 2, "like");
    Shares::new(ground.clone()).share(&bo, &post.id, None).await.unwrap();
    assert_eq!(profiles(), 2, "share");
    let comments = Comments::new(ground);
    let input =
        NewComment { post_id: post.id, content: String::from("ho"), parent_comment_id: None };
    let mine = comments.add(&bo, &input, None).await.unwrap();
    assert_eq!(profiles(), 2, "comment");
    comments.like(&bo, &comment.id, None).await.unwrap();
    assert_eq!(profiles(), 2, "like a comment");
    comments.update(&bo, &mine.id, "hey", None).await.unwrap();
    assert_eq!(profiles(), 2, "change a comment");
}
