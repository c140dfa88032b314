//! Comments, through the service and as rows (R19, R27, R30 to R33).

use roundtable_domain::limits::{COMMENT_CHARS_MAX, COMMENT_DEPTH_MAX};
use roundtable_domain::{
    Code, CommentError, Comments, LikeMode, NewComment, NewPost, Page, PageInput, Refusal, Settings,
};
use roundtable_model::entities::{Comment, CommentCounter};
use roundtable_model::table::Order::{Ascending, Descending};
use roundtable_model::{
    CommentId, Entity, ModerationStatus, PostId, RequestId, UserStatus, Visibility,
};
use roundtable_testkit::Town;

fn on(post: &PostId, parent: Option<&CommentId>, content: &str) -> NewComment {
    NewComment {
        post_id: post.clone(),
        content: content.to_owned(),
        parent_comment_id: parent.cloned(),
    }
}

fn page(limit: usize) -> PageInput {
    PageInput { limit: Some(limit), after: None }
}

fn texts(page: Page<Comment>) -> Vec<String> {
    page.into_items().into_iter().map(|comment| comment.content).collect()
}

/// R19, R37: a comment stores what counters need, and a reply names its parent.
#[tokio::test]
async fn comments_are_nested() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let first = town.comment("bo", &post.id, "hi").await;
    let second = town.reply("ana", &post.id, Some(&first.id), "hi yourself").await;
    let third = town.reply("bo", &post.id, Some(&second.id), "ha").await;
    let common = "postUserId=ana postSK=POST moderationStatus=APPROVED isDeleted=false";
    assert_eq!(
        town.rows(&format!("POST#{}", post.id), "COMMENT#").await,
        [
            format!("COMMENT#{} userId=bo content=hi {common}", first.id),
            format!(
                "COMMENT#{} userId=ana content=hi yourself parentCommentId={} {common}",
                second.id, first.id
            ),
            format!(
                "COMMENT#{} userId=bo content=ha parentCommentId={} {common}",
                third.id, second.id
            ),
        ]
    );
    let comments = town.comments();
    let all = comments.on(None, &post.id, Ascending, &page(9)).await.unwrap();
    assert_eq!(texts(all), ["hi", "hi yourself", "ha"]);
    let all = comments.on(None, &post.id, Descending, &page(9)).await.unwrap();
    assert_eq!(texts(all), ["ha", "hi yourself", "hi"]);
    let replies = comments.replies(None, &first.id, &page(9)).await.unwrap();
    assert_eq!(texts(replies), ["hi yourself"]);
    assert_eq!(comments.comment(None, &third.id).await.unwrap(), third);
    assert!(town.rows(&format!("POST#{}", post.id), "COUNTER#").await.is_empty(), "not ours");
}

/// R19: nesting has a maximum depth.
#[tokio::test]
async fn nesting_is_limited() {
    let town = Town::of(["ana"]).await;
    let post = town.post("ana", "hello").await;
    let mut deepest = town.comment("ana", &post.id, "1").await;
    for level in 2..=COMMENT_DEPTH_MAX {
        let content = format!("{level}");
        deepest = town.reply("ana", &post.id, Some(&deepest.id), &content).await;
    }
    let deeper = on(&post.id, Some(&deepest.id), "too deep");
    let refused = town.comments().add(&town.caller("ana"), &deeper, None).await.unwrap_err();
    assert!(matches!(refused, CommentError::TooDeep));
    assert_eq!(refused.code(), Code::BadRequest);
}

/// R19: refusals reveal nothing about hidden posts.
#[tokio::test]
async fn hidden_posts_cannot_be_commented_on() {
    let town = Town::of(["ana", "bo", "stranger"]).await;
    let post = town.post("ana", "hello").await;
    let other = town.post("ana", "other").await;
    let comment = town.comment("bo", &post.id, "hi").await;
    let comments = town.comments();
    let refused = async |name: &str, input: NewComment| {
        comments.add(&town.caller(name), &input, None).await.unwrap_err()
    };
    for content in ["", " ", &"x".repeat(COMMENT_CHARS_MAX + 1)] {
        assert_eq!(refused("ana", on(&post.id, None, content)).await.code(), Code::BadRequest);
    }
    let nowhere = on(&"none".parse().unwrap(), None, "hi");
    assert!(matches!(refused("ana", nowhere).await, CommentError::NoSuchPost));
    let no_parent = on(&post.id, Some(&"none".parse().unwrap()), "hi");
    assert!(matches!(refused("ana", no_parent).await, CommentError::NoSuchComment));
    let elsewhere = on(&other.id, Some(&comment.id), "hi");
    assert!(matches!(refused("ana", elsewhere).await, CommentError::NoSuchComment));
    let input = NewPost { visibility: Some(Visibility::Private), ..NewPost::text("diary") };
    let private = town.post_as("ana", input).await;
    let hidden = on(&private.id, None, "hi");
    assert!(matches!(refused("bo", hidden).await, CommentError::NoSuchPost));
    // The post is public, but the two commenters have blocked each other.
    town.block("stranger", "bo").await;
    let answer = on(&post.id, Some(&comment.id), "hi");
    assert!(matches!(refused("stranger", answer.clone()).await, CommentError::NoSuchComment));
    comments.add(&town.caller("stranger"), &on(&post.id, None, "hi"), None).await.unwrap();
    comments.delete(&town.caller("bo"), &comment.id, None).await.unwrap();
    assert!(matches!(refused("ana", answer).await, CommentError::NoSuchComment), "it is deleted");
    town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    let deleted = on(&post.id, None, "hi");
    assert!(matches!(refused("ana", deleted.clone()).await, CommentError::NoSuchPost));
    town.set_status("ana", UserStatus::Suspended).await;
    assert_eq!(refused("ana", deleted.clone()).await.code(), Code::Forbidden);
    assert_eq!(refused("nobody", deleted).await.code(), Code::Unauthenticated);
}

/// R19: only the author can edit a comment.
#[tokio::test]
async fn authors_edit_their_comments() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let post = town.post("ana", "hello").await;
    let comment = town.comment("bo", &post.id, "hi").await;
    let comments = town.comments();
    let changed = comments.update(&town.caller("bo"), &comment.id, "hey", None).await.unwrap();
    assert_eq!(changed.content, "hey");
    assert!(changed.updated_at > comment.updated_at);
    assert_eq!(comments.comment(None, &comment.id).await.unwrap(), changed);
    for other in [town.caller("ana"), town.mo()] {
        let refused = comments.update(&other, &comment.id, "mine", None).await;
        assert!(matches!(refused, Err(CommentError::NotAuthor)));
    }
    let empty = comments.update(&town.caller("bo"), &comment.id, "", None).await;
    assert_eq!(empty.unwrap_err().code(), Code::BadRequest);
    town.block("ana", "bo").await;
    let hidden = comments.update(&town.caller("bo"), &comment.id, "still?", None).await;
    assert!(matches!(hidden, Err(CommentError::NoSuchComment)), "no longer seen");
    let other = comments.update(&town.caller("ana"), &comment.id, "mine", None).await;
    assert!(matches!(other, Err(CommentError::NoSuchComment)), "no hint");
}

/// R19: a tombstone has no text; replies stay.
#[tokio::test]
async fn a_tombstone_has_no_text() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let post = town.post("ana", "hello").await;
    let comment = town.comment("bo", &post.id, "regret").await;
    let answer = town.reply("ana", &post.id, Some(&comment.id), "answer").await;
    let comments = town.comments();
    let refused = comments.delete(&town.caller("ana"), &comment.id, None).await;
    assert!(matches!(refused, Err(CommentError::NotAuthor)), "also not the author of the post");
    let removed = comments.delete(&town.caller("bo"), &comment.id, None).await.unwrap();
    assert!(removed.is_deleted);
    assert_eq!(removed.content, "regret", "it answers with what was removed");
    let stored = town.rows(&format!("POST#{}", post.id), "COMMENT#").await;
    assert!(stored[0].contains("content= ") && stored[0].contains("isDeleted=true"), "{stored:?}");
    assert!(town.audit_trail().await.is_empty());
    for viewer in [None, Some(town.caller("bo")), Some(town.mo())] {
        let deleted = comments.comment(viewer.as_ref(), &comment.id).await;
        assert!(matches!(deleted, Err(CommentError::NoSuchComment)));
        let all = comments.on(viewer.as_ref(), &post.id, Ascending, &page(9)).await.unwrap();
        assert_eq!(texts(all), ["answer"]);
    }
    let twice = comments.delete(&town.caller("bo"), &comment.id, None).await;
    assert!(matches!(twice, Err(CommentError::NoSuchComment)));
    comments.delete(&town.mo(), &answer.id, None).await.unwrap();
    assert_eq!(town.audit_trail().await, ["mo deleteComment "]);
}

/// R19: authors can delete their comment even if they no longer see the post.
#[tokio::test]
async fn authors_can_always_delete_their_comments() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let post = town.post("ana", "hello").await;
    let comment = town.comment("bo", &post.id, "hi").await;
    town.block("ana", "bo").await;
    let comments = town.comments();
    comments.delete(&town.caller("bo"), &comment.id, None).await.unwrap();
    let other = town.comment("cleo", &post.id, "hi").await;
    let hidden = comments.delete(&town.caller("bo"), &other.id, None).await;
    assert!(matches!(hidden, Err(CommentError::NoSuchComment)), "no hint");
}

/// R27, R30: pages are full although much is hidden, in both orders.
#[tokio::test]
async fn pages_are_full_although_much_is_hidden() {
    let town = Town::of(["ana", "bo", "cleo", "viewer"]).await;
    let post = town.post("ana", "hello").await;
    for n in 0..30 {
        let name = ["ana", "bo", "cleo"][n % 3];
        let comment = town.comment(name, &post.id, &format!("{n}")).await;
        if n % 2 == 0 && name == "ana" {
            town.set_comment_status(&comment, ModerationStatus::Flagged).await;
        }
    }
    town.block("bo", "viewer").await;
    town.set_status("cleo", UserStatus::Suspended).await;
    let (comments, viewer) = (town.comments(), town.caller("viewer"));
    let mut input = page(2);
    let mut visible = Vec::new();
    loop {
        let found = comments.on(Some(&viewer), &post.id, Ascending, &input).await.unwrap();
        input.after = found.next.clone();
        assert!(found.items.len() == 2 || found.next.is_none());
        visible.extend(texts(found));
        if input.after.is_none() {
            break;
        }
    }
    assert_eq!(visible, ["3", "9", "15", "21", "27"]);
    let newest = comments.on(Some(&viewer), &post.id, Descending, &page(3)).await.unwrap();
    assert_eq!(texts(newest), ["27", "21", "15"]);
    let own = comments.on(Some(&town.caller("ana")), &post.id, Ascending, &page(3)).await.unwrap();
    assert_eq!(texts(own), ["0", "1", "3"], "its author sees what moderators hide");
    town.block("ana", "viewer").await;
    let hidden = comments.on(Some(&viewer), &post.id, Ascending, &page(2)).await;
    assert!(matches!(hidden, Err(CommentError::NoSuchPost)));
}

/// R27: a user's comments, for viewers who may see the user, the post and the comment.
#[tokio::test]
async fn a_users_comments_are_filtered_by_visibility() {
    let town = Town::of(["ana", "bo", "cleo", "viewer"]).await;
    let (one, two) = (town.post("ana", "one").await, town.post("bo", "two").await);
    for n in 0..4 {
        let post = if n % 2 == 0 { &one.id } else { &two.id };
        town.comment("cleo", post, &format!("{n}")).await;
    }
    let comments = town.comments();
    let (viewer, cleo) = (town.caller("viewer"), town.id("cleo"));
    let visible = async || texts(comments.by(Some(&viewer), &cleo, &page(2)).await.unwrap());
    assert_eq!(visible().await, ["3", "2"]);
    town.block("bo", "viewer").await;
    assert_eq!(visible().await, ["2", "0"]);
    town.posts().delete(&town.caller("ana"), &one.id, None).await.unwrap();
    assert!(visible().await.is_empty());
    town.set_private("cleo", true).await;
    let hidden = comments.by(Some(&viewer), &cleo, &page(2)).await;
    assert!(matches!(hidden, Err(CommentError::NoSuchUser)));
}

/// R19: comments can be liked once and unliked.
#[tokio::test]
async fn comments_can_be_liked_and_unliked() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let (one, two) =
        (town.comment("ana", &post.id, "1").await, town.comment("ana", &post.id, "2").await);
    let (comments, bo) = (town.comments(), town.caller("bo"));
    for _ in 0..2 {
        assert_eq!(comments.like(&bo, &one.id, None, None).await.unwrap(), one);
    }
    let likes = async || town.rows(&format!("POST#{}", post.id), "CLIKE#").await;
    assert_eq!(likes().await, [format!("CLIKE#{}#bo", one.id)]);
    let zero = CommentCounter::zero(post.id.clone(), one.id.clone());
    let counter = CommentCounter { likes: 1, ..zero };
    town.context().core().table().put(counter.create()).await.unwrap();
    let requested = [(post.id.clone(), two.id.clone()), (post.id.clone(), one.id.clone())];
    let marks = comments.engagement(Some(&bo), &requested).await.unwrap();
    assert_eq!((marks[0].liked, marks[0].counter.likes), (false, 0));
    assert_eq!((marks[1].liked, marks[1].counter.clone()), (true, counter));
    let marks = comments.engagement(None, &requested).await.unwrap();
    assert!(!marks[1].liked);
    for _ in 0..2 {
        comments.unlike(&bo, &one.id, None).await.unwrap();
        assert!(likes().await.is_empty());
    }
    town.set_comment_status(&one, ModerationStatus::Rejected).await;
    comments.delete(&town.caller("ana"), &two.id, None).await.unwrap();
    for hidden in [&one.id, &two.id, &"none".parse().unwrap()] {
        let refused = comments.like(&bo, hidden, None, None).await;
        assert!(matches!(refused, Err(CommentError::NoSuchComment)));
        let refused = comments.unlike(&bo, hidden, None).await;
        assert!(matches!(refused, Err(CommentError::NoSuchComment)));
    }
}

/// R20: permanent likes apply to comments, too.
#[tokio::test]
async fn a_permanent_like_stays() {
    let settings = Settings { likes: LikeMode::Permanent, ..Town::settings() };
    let town = Town::with(settings, ["ana"]).await;
    let post = town.post("ana", "hello").await;
    let comment = town.comment("ana", &post.id, "hi").await;
    let (comments, ana) = (town.comments(), town.caller("ana"));
    comments.unlike(&ana, &comment.id, None).await.unwrap();
    comments.like(&ana, &comment.id, None, None).await.unwrap();
    let refused = comments.unlike(&ana, &comment.id, None).await;
    assert!(matches!(refused, Err(CommentError::LikesPermanent)));
}

/// R32: requests are idempotent.
#[tokio::test]
async fn a_repeated_request_has_the_effect_of_one() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let (comments, bo) = (town.comments(), town.caller("bo"));
    let id = |id: &str| -> RequestId { id.parse().unwrap() };
    let (add, change, like, delete) = (id("add"), id("change"), id("like"), id("delete"));
    let input = on(&post.id, None, "hi");
    let comment = comments.add(&bo, &input, Some(&add)).await.unwrap();
    assert_eq!(comments.add(&bo, &input, Some(&add)).await.unwrap(), comment);
    assert_eq!(town.rows(&format!("POST#{}", post.id), "COMMENT#").await.len(), 1);
    comments.update(&bo, &comment.id, "hey", Some(&change)).await.unwrap();
    comments.update(&bo, &comment.id, "ho", None).await.unwrap();
    let replay = comments.update(&bo, &comment.id, "hey", Some(&change)).await.unwrap();
    assert_eq!(replay.content, "ho", "as it is now");
    comments.like(&bo, &comment.id, None, Some(&like)).await.unwrap();
    comments.unlike(&bo, &comment.id, None).await.unwrap();
    comments.like(&bo, &comment.id, None, Some(&like)).await.unwrap();
    assert!(town.rows(&format!("POST#{}", post.id), "CLIKE#").await.is_empty(), "not again");
    let removed = comments.delete(&bo, &comment.id, Some(&delete)).await.unwrap();
    assert_eq!(removed.content, "ho", "it answers with what was removed");
    let again = comments.delete(&bo, &comment.id, Some(&delete)).await.unwrap();
    let removed = (&removed.id, removed.is_deleted, "");
    assert_eq!((&again.id, again.is_deleted, again.content.as_str()), removed, "not kept anywhere");
    let deleted = comments.add(&bo, &input, Some(&add)).await;
    assert!(matches!(deleted, Err(CommentError::NoSuchComment)));
    let other = comments.add(&bo, &on(&post.id, None, "other"), Some(&add)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
}

/// R33: a reply and the deletion of its parent, in every interleaving.
#[tokio::test]
async fn deleted_comments_get_no_replies() {
    for delete_post in [false, true] {
        let mut answers = 0;
        for gap in 1.. {
            let town = Town::of(["ana", "bo"]).await;
            let post = town.post("ana", "hello").await;
            let parent = town.comment("ana", &post.id, "hi").await;
            let (posts, comments, ana) = (town.posts(), town.comments(), town.caller("ana"));
            let (id, above) = (post.id.clone(), parent.id.clone());
            let (context, meanwhile) = town.interleave(gap, async move || {
                if delete_post {
                    posts.delete(&ana, &id, None).await.unwrap();
                } else {
                    comments.delete(&ana, &above, None).await.unwrap();
                }
            });
            let answer = on(&post.id, Some(&parent.id), "answer");
            let answered = Comments::new(context).add(&town.caller("bo"), &answer, None).await;
            if !meanwhile.happened() {
                break;
            }
            let stored = town.rows(&format!("POST#{}", post.id), "COMMENT#").await.len();
            assert_eq!(answered.is_ok(), stored == 2, "{gap}");
            answers += usize::from(answered.is_ok());
        }
        assert_eq!(answers, 1, "only when the answer is there first");
    }
}
