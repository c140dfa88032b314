//! Everything that can be listened to is told to who may see it, and to nobody else.

use roundtable_domain::{ModerationMode, Settings};
use roundtable_model::{ModerationStatus, Role, UserStatus};
use roundtable_testkit::Town;
use serde_json::json;

use crate::stage::Stage;

/// R45: what people do is told to those who may see it, of one of them or of all.
#[tokio::test]
async fn activities_are_told_to_those_who_may_see_them() {
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    stage.town.block("ana", "cleo").await;
    let (all, of_ana) = (
        "subscription { onPostActivity { actorId } }",
        "subscription { onPostActivity(actorId: \"ana\") { actorId } }",
    );
    let mut ears = [stage.listen("bo", all).await, stage.listen("bo", of_ana).await];
    let mut blocked = stage.listen("cleo", all).await;
    let mut of_cleo =
        stage.listen("bo", "subscription { onPostActivity(actorId: \"cleo\") { actorId } }").await;
    stage.town.post("ana", "hello").await;
    stage.settle().await;
    for ear in &mut ears {
        assert_eq!(ear.hears("actorId").await, json!("ana"));
        assert!(ear.is_silent().await);
    }
    assert!(blocked.is_silent().await);
    assert!(of_cleo.is_silent().await);
}

/// R45: a home feed tells what came, and only to those who follow.
#[tokio::test]
async fn a_home_feed_is_told_as_it_grows() {
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    stage.town.follow("bo", "ana").await;
    stage.settle().await;
    let listen = "subscription { onFeedEntry { actorId post { content } } }";
    let (mut bo, mut cleo) = (stage.listen("bo", listen).await, stage.listen("cleo", listen).await);
    stage.town.post("ana", "hello").await;
    stage.settle().await;
    assert_eq!(bo.hears("post").await, json!({ "content": "hello" }));
    assert!(cleo.is_silent().await);
}

/// R45: new posts are told, in a feed or in any, but not those that are for others.
#[tokio::test]
async fn new_posts_are_told_unless_they_are_for_others() {
    let stage = Stage::of(["ana", "bo"]).await;
    let mut any = stage.listen("bo", "subscription { onCreatePost { content } }").await;
    let global = "subscription { onCreatePost(feedId: \"GLOBAL\") { content } }";
    let mut global = stage.listen("bo", global).await;
    let mut other =
        stage.listen("bo", "subscription { onCreatePost(feedId: \"news\") { content } }").await;
    let private = "mutation { createPost(input: { content: \"mine\", contentType: text,
        visibility: private }) { id } }";
    stage.ask("ana", private).await;
    stage.town.post("ana", "for all").await;
    stage.settle().await;
    assert_eq!(any.hears("content").await, json!("for all"));
    assert_eq!(global.hears("content").await, json!("for all"));
    assert!(any.is_silent().await);
    assert!(other.is_silent().await);
}

/// R34, R45: a post that moderators see first is told when they let it.
#[tokio::test]
async fn a_post_that_waits_for_moderators_is_told_when_it_comes_out() {
    let settings = Settings { moderation: ModerationMode::Before, ..Town::settings() };
    let stage = Stage::over(Town::with(settings, ["ana", "bo"]).await);
    stage.town.move_in("mo", |user| user.roles = vec![Role::User, Role::Moderator]).await;
    let mut created = stage.listen("bo", "subscription { onCreatePost { content } }").await;
    let post = stage.town.post("ana", "patience").await;
    stage.settle().await;
    assert!(created.is_silent().await);
    let all = "subscription { onModeratePost { moderationStatus } }";
    let one = format!("subscription {{ onModeratePost(postId: \"{}\") {{ content }} }}", post.id);
    let mut mo = stage.listen_as(stage.staff("mo", Role::Moderator), all).await;
    let mut author = stage.listen("ana", &one).await;
    assert_eq!(stage.listen("bo", all).await.refused().await, "FORBIDDEN");
    assert_eq!(stage.listen("bo", &one).await.refused().await, "NOT_FOUND");
    stage.town.moderate(&post.id, ModerationStatus::Approved).await;
    stage.settle().await;
    assert_eq!(created.hears("content").await, json!("patience"));
    assert_eq!(mo.hears("moderationStatus").await, json!("APPROVED"));
    assert_eq!(author.hears("content").await, json!("patience"));
}

/// R45: changes of a post, its likes and its comments are told while the listener may see it.
#[tokio::test]
async fn what_becomes_of_a_post_is_told_while_it_is_seen() {
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    let post = stage.town.post("ana", "hello").await;
    let id = &post.id;
    let mut updates = stage
        .listen("bo", &format!("subscription {{ onUpdatePost(postId: \"{id}\") {{ content }} }}"))
        .await;
    let likes = format!("subscription {{ onToggleLike(postId: \"{id}\") {{ liked likeCount }} }}");
    let mut likes = stage.listen("bo", &likes).await;
    let liked = format!("subscription {{ onToggleLike(postId: \"{id}\") {{ liked }} }}");
    let mut liked = stage.listen("bo", &liked).await;
    let comments = format!("subscription {{ onAddComment(postId: \"{id}\") {{ content }} }}");
    let mut comments = stage.listen("bo", &comments).await;
    stage.ask("cleo", &format!("mutation {{ toggleLike(postId: \"{id}\") {{ liked }} }}")).await;
    stage.town.comment("cleo", id, "well said").await;
    let update = |change: &str| {
        format!("mutation {{ updatePost(input: {{ postId: \"{id}\", {change} }}) {{ id }} }}")
    };
    stage.ask("ana", &update("content: \"hello again\"")).await;
    stage.settle().await;
    assert_eq!(updates.hears("content").await, json!("hello again"));
    assert_eq!(
        likes.told().await["data"]["onToggleLike"],
        json!({ "liked": true, "likeCount": 1 })
    );
    assert_eq!(liked.hears("liked").await, json!(true));
    assert_eq!(comments.hears("content").await, json!("well said"));
    stage.ask("ana", &update("visibility: private")).await;
    stage.ask("ana", &format!("mutation {{ toggleLike(postId: \"{id}\") {{ liked }} }}")).await;
    stage.settle().await;
    assert!(updates.is_silent().await, "it is hidden");
    assert!(liked.is_silent().await);
    let missing = "subscription { onUpdatePost(postId: \"none\") { id } }";
    assert_eq!(stage.listen("bo", missing).await.refused().await, "NOT_FOUND");
}

/// R45: who follows is told to those who may see it; a request only to those at its ends.
#[tokio::test]
async fn follows_are_told_and_requests_only_to_their_ends() {
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    let listen = "subscription { onFollowUser(followeeId: \"ana\") { followerId status } }";
    let (mut ana, mut cleo) =
        (stage.listen("ana", listen).await, stage.listen("cleo", listen).await);
    stage.town.follow("bo", "ana").await;
    stage.settle().await;
    assert_eq!(ana.hears("followerId").await, json!("bo"));
    assert_eq!(cleo.hears("followerId").await, json!("bo"));
    stage.town.set_private("ana", true).await;
    stage.town.move_in("dan", |_| {}).await;
    stage.town.follow("dan", "ana").await;
    stage.settle().await;
    assert_eq!(ana.hears("status").await, json!("pending"));
    assert!(cleo.is_silent().await);
}

/// R45: who comes to a private group and leaves it is told to its members alone.
#[tokio::test]
async fn memberships_are_told_to_those_inside() {
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    let group = stage.town.found_private("ana", "Runners").await;
    let listen =
        format!("subscription {{ onGroupMembership(groupId: \"{group}\") {{ userId status }} }}");
    let (mut ana, mut cleo) =
        (stage.listen("ana", &listen).await, stage.listen("cleo", &listen).await);
    stage.town.join("bo", &group).await;
    stage.settle().await;
    assert_eq!(ana.hears("status").await, json!("pending"));
    let approve =
        format!("mutation {{ approveMember(groupId: \"{group}\", userId: \"bo\") {{ role }} }}");
    stage.ask("ana", &approve).await;
    stage.settle().await;
    assert_eq!(ana.hears("status").await, json!("active"));
    stage.ask("bo", &format!("mutation {{ leaveGroup(groupId: \"{group}\") {{ role }} }}")).await;
    stage.settle().await;
    assert_eq!(ana.hears("userId").await, json!("bo"), "as it was");
    assert!(cleo.is_silent().await);
}

/// R45: everybody hears of their own quests.
#[tokio::test]
async fn quests_are_told_to_their_owner() {
    let stage = Stage::of(["ana", "bo"]).await;
    let listen = "subscription { onQuestChange { title status } }";
    let (mut ana, mut bo) = (stage.listen("ana", listen).await, stage.listen("bo", listen).await);
    let create = "mutation { createQuest(input: { title: \"Three\", difficulty: easy, rewardXp: 10,
        kind: quantitative, targetCount: 3 }) { id } }";
    let quest = stage.ask("ana", create).await["createQuest"]["id"].take();
    stage.settle().await;
    assert_eq!(ana.hears("status").await, json!("active"));
    stage.ask("ana", &format!("mutation {{ cancelQuest(questId: {quest}) {{ status }} }}")).await;
    stage.settle().await;
    assert_eq!(ana.hears("status").await, json!("cancelled"));
    assert!(bo.is_silent().await);
}

/// R45: whoever is suspended is told that, and nothing more.
#[tokio::test]
async fn whoever_is_suspended_listens_no_longer() {
    let stage = Stage::of(["ana", "bo"]).await;
    let mut bo = stage.listen("bo", "subscription { onCreatePost { content } }").await;
    stage.town.set_status("bo", UserStatus::Suspended).await;
    stage.town.post("ana", "hello").await;
    stage.settle().await;
    assert_eq!(bo.refused().await, "FORBIDDEN");
    assert!(bo.is_over().await);
}

#[tokio::test]
async fn nobody_listens_without_signing_in() {
    let stage = Stage::of(["ana"]).await;
    for document in [
        "subscription { onCreatePost { id } }",
        "subscription { onQuestChange { id } }",
        "subscription { onNotification { id } }",
    ] {
        let mut ear = stage.listen_as(roundtable_graphql::Client::default(), document).await;
        assert_eq!(ear.refused().await, "UNAUTHENTICATED", "{document}");
    }
}

/// R45: what nobody listens to any more is not kept.
#[tokio::test]
async fn what_nobody_listens_to_is_forgotten() {
    let stage = Stage::of(["ana"]).await;
    let ear = stage.listen("ana", "subscription { onCreatePost { id } }").await;
    assert_eq!(stage.services.live.matters(), 1);
    drop(ear);
    assert_eq!(stage.services.live.matters(), 0);
}
