//! Comments, and their likes and reports.

use roundtable_domain::NewComment;
use roundtable_model::entities::{Comment, Post};
use roundtable_model::{ModerationStatus, samples};

use crate::book::CostBook;
use crate::expression::{Count, share};
use crate::posts::RESCORED;
use crate::scene::{BO, CLEO, Scene};

/// The share of comments that reply to another one.
const REPLIES: Count = share("replies", 0.5);

pub(crate) async fn record(book: &mut CostBook) {
    book.mutation("addComment", &[REPLIES, RESCORED], async |scene| {
        let post = scene.post_with_reactions().await;
        let parent_comment_id = parent(scene, &post).await.map(|parent| parent.id);
        let content = samples::comment().content;
        let new = NewComment { post_id: post.id, content, parent_comment_id };
        let (comments, bo, request) = (scene.town.comments(), scene.bo(), scene.request());
        scene.record(comments.add(&bo, &new, request.as_ref())).await;
    })
    .await;
    book.mutation("updateComment", &[], async |scene| {
        let comment = comment(scene).await;
        let content = format!("{} Or tea.", comment.content);
        let (comments, bo, request) = (scene.town.comments(), scene.bo(), scene.request());
        scene.record(comments.update(&bo, &comment.id, &content, request.as_ref())).await;
    })
    .await;
    let counts = [REPLIES, RESCORED, share("reported", 0.0), share("audited", 0.0)];
    book.mutation("deleteComment", &counts, async |scene| {
        let comment = comment(scene).await;
        if scene.has("reported") {
            let (moderation, cleo) = (scene.town.moderation(), scene.town.caller(CLEO));
            moderation.report_comment(&cleo, &comment.id, "rude", None).await.unwrap();
        }
        // Only a deletion by a moderator is audited.
        let caller = if scene.has("audited") { scene.moderator().await } else { scene.bo() };
        let (comments, request) = (scene.town.comments(), scene.request());
        scene.record(comments.delete(&caller, &comment.id, request.as_ref())).await;
    })
    .await;
    book.mutation("likeComment", &[], async |scene| {
        let comment = comment(scene).await;
        let (comments, me, request) = (scene.town.comments(), scene.ana(), scene.request());
        scene.record(comments.like(&me, &comment.id, None, request.as_ref())).await;
    })
    .await;
    book.mutation("unlikeComment", &[], async |scene| {
        let comment = comment(scene).await;
        let (comments, me, request) = (scene.town.comments(), scene.ana(), scene.request());
        comments.like(&me, &comment.id, None, None).await.unwrap();
        scene.record(comments.unlike(&me, &comment.id, request.as_ref())).await;
    })
    .await;
    book.mutation("reportComment", &[], async |scene| {
        let comment = comment(scene).await;
        let (moderation, me, request) = (scene.town.moderation(), scene.ana(), scene.request());
        scene.record(moderation.report_comment(&me, &comment.id, "rude", request.as_ref())).await;
    })
    .await;
    book.mutation("moderateComment", &[], async |scene| {
        let comment = comment(scene).await;
        scene
            .town
            .moderation()
            .report_comment(&scene.ana(), &comment.id, "rude", None)
            .await
            .unwrap();
        let (moderation, mo) = (scene.town.moderation(), scene.moderator().await);
        let (rejected, request) = (ModerationStatus::Rejected, scene.request());
        let id = &comment.id;
        scene.record(moderation.moderate_comment(&mo, id, rejected, None, request.as_ref())).await;
    })
    .await;
}

/// Cleo's comment, if the count `replies` is one.
async fn parent(scene: &Scene, post: &Post) -> Option<Comment> {
    if scene.has("replies") { Some(scene.comment(CLEO, &post.id).await) } else { None }
}

/// Bo's comment on a post of Ana's.
async fn comment(scene: &Scene) -> Comment {
    let post = scene.post_with_reactions().await;
    let parent = parent(scene, &post).await.map(|parent| parent.id);
    let content = samples::comment().content;
    scene.town.reply(BO, &post.id, parent.as_ref(), &content).await
}
