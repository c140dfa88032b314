//! Creation of posts.

use std::sync::Arc;

use roundtable_domain::limits::{MEDIA_TYPE_CHARS_MAX, POST_CHARS_MAX, POST_MEDIA_MAX};
use roundtable_domain::{
    Code, Comments, Likes, ModerationMode, NewComment, NewMedia, NewPost, PostError, Posts,
    Refusal, Shares,
};
use roundtable_model::table::{Order, Recorder, TableOperation};
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
async fn a_post_is_written_with_its_dependent_items() {
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
    let returned = format!("verb=post objectType=Post objectId={id}");
    assert!(activities[0].contains(&returned), "{activities:?}");
    assert!(activities[0].ends_with("tags=[Running] fanout=false"), "{activities:?}");
    assert_eq!(town.rows("ACTIVITY#ana", "HEAD").await.len(), 1);
    assert!(town.rows(&format!("CASE#{id}"), "").await.is_empty());
    assert_eq!(town.stored_post(id).await, post);
}

/// R34: reviewed first, a post is hidden except from its author and moderators.
#[tokio::test]
async fn a_post_reviewed_first_is_pending() {
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

/// R34: reviewed afterwards, it is published at once and in the queue.
#[tokio::test]
async fn a_post_reviewed_afterwards_is_published() {
    let town = moderated(ModerationMode::After, ["ana"]).await;
    let post = town.post("ana", "hello").await;
    assert_eq!(post.moderation_status, ModerationStatus::Approved);
    let case = town.rows(&format!("CASE#{}", post.id), "").await;
    assert!(case[0].contains("status=PENDING"), "{case:?}");
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    let listed = town.posts().global(None, None, None, Order::Descending, &first(20)).await;
    assert_eq!(texts(listed.unwrap()), ["hello"]);
}

/// R18: invalid posts are refused.
#[tokio::test]
async fn invalid_posts_are_refused() {
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

/// R18: a picture needs no text.
#[tokio::test]
async fn a_picture_needs_no_text() {
    let town = Town::of(["ana"]).await;
    let media = vec![town.add_upload("ana", picture("dawn.jpg")).await];
    let input = NewPost { content_type: ContentType::Image, media, ..NewPost::text("") };
    let post = town.post_as("ana", input).await;
    assert_eq!(post.media[0].s3_key.as_str(), "dawn.jpg");
    let activity = town.rows("ACTIVITY#ana", "TS#").await;
    assert!(activity[0].contains("media={contentType=image/jpeg,s3Key=dawn.jpg,width=640}"));
    assert!(!activity[0].contains("previewText"));
}

/// R18: only members post into a group, and its posts are in no public list.
#[tokio::test]
async fn only_members_post_into_a_group() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let group = town.create_private_group("ana", "runners").await;
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

/// R32: a repeated request has the effect of one, and returns the current post.
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
    let deleted = posts.create(&ana, &input, Some(&once)).await;
    assert!(matches!(deleted, Err(PostError::NoSuchPost)), "its repetition does not bring it back");
}

/// R12: a hundred concurrent posts of one user are all published, with distinct times.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_posts_are_all_published() {
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

/// R12: an activity is never before an earlier one of its actor, even if the clock goes back.
#[tokio::test]
async fn activity_times_increase_when_the_clock_goes_back() {
    let town = Town::of(["ana"]).await;
    let first = town.post("ana", "first").await;
    town.clock().set_ms(town.now().ms() - 60_000);
    let second = town.post("ana", "second").await;
    assert_eq!(second.published_at.unwrap(), first.published_at.unwrap().plus_ms(1));
    assert!(second.created_at < first.created_at);
}

/// R33: an author who leaves the group, is suspended or becomes private during the creation: the
/// post matches the state when it is written, or is not written.
#[tokio::test]
async fn a_post_matches_its_author_when_it_is_written() {
    let mut posted_before = 0;
    for gap in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let group = town.create_group("ana", "runners").await;
        town.join("bo", &group).await;
        let (other, left) = (town.groups(), group.clone());
        let bo = town.caller("bo");
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.leave(&bo, &left, None).await.unwrap();
        });
        let input = NewPost { group_id: Some(group), ..NewPost::text("hello") };
        let posted = Posts::new(context).create(&town.caller("bo"), &input, None).await;
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
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.set_private("ana", true).await;
            // The processor runs at once.
            other.posts().set_author_private(&other.id("ana"), true, None).await.unwrap();
        });
        let (posts, ana, input) = (Posts::new(context), town.caller("ana"), NewPost::text("hi"));
        let post = posts.create(&ana, &input, None).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
        assert!(town.stored_post(&post.id).await.author_is_private, "{gap}");
    }
}

/// R18: each visibility has its audience.
#[tokio::test]
async fn each_visibility_has_its_audience() {
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
            let visible = town.posts().post(caller.as_ref(), &post.id).await.is_ok();
            assert_eq!(visible, expected.contains(&name), "{visibility} {name}");
        }
    }
}

/// R18: the type of a file must be a MIME type.
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
        let media = vec![town.add_upload("ana", media).await];
        posts.create(&ana, &NewPost { media, ..post(right) }, None).await.unwrap();
    }
}

/// R42: no profile is read twice for one operation.
#[tokio::test]
async fn every_profile_is_read_once() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let comment = town.comment("ana", &post.id, "hi").await;
    let reads = Arc::new(Recorder::default());
    let (context, bo) = (town.context().observed(reads.clone()), town.caller("bo"));
    let profiles = || -> usize {
        let each = reads.take().into_iter();
        let read =
            |operation: &TableOperation| matches!(operation.pattern, Some("profile" | "profiles"));
        each.filter(read).map(|operation| operation.items).sum()
    };
    Posts::new(context.clone()).create(&bo, &NewPost::text("mine"), None).await.unwrap();
    assert_eq!(profiles(), 1, "create");
    Likes::new(context.clone()).like(&bo, &post.id, None, None).await.unwrap();
    assert_eq!(profiles(), 2, "like");
    Shares::new(context.clone()).share(&bo, &post.id, None).await.unwrap();
    assert_eq!(profiles(), 2, "share");
    let comments = Comments::new(context);
    let input =
        NewComment { post_id: post.id, content: String::from("ho"), parent_comment_id: None };
    let mine = comments.add(&bo, &input, None).await.unwrap();
    assert_eq!(profiles(), 2, "comment");
    comments.like(&bo, &comment.id, None, None).await.unwrap();
    assert_eq!(profiles(), 2, "like a comment");
    comments.update(&bo, &mine.id, "hey", None).await.unwrap();
    assert_eq!(profiles(), 2, "change a comment");
}
