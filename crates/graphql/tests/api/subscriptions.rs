//! Subscriptions send events only to users who may see them.

use roundtable_domain::{ModerationMode, Settings};
use roundtable_model::{ModerationStatus, Role, UserStatus};
use roundtable_testkit::Town;
use serde_json::json;

use crate::api_town::ApiTown;

/// R45: activities of one user, or of all.
#[tokio::test]
async fn activities_are_sent_to_users_who_may_see_them() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    api.town.block("ana", "cleo").await;
    let (all, of_ana) = (
        "subscription { onPostActivity { actorId } }",
        "subscription { onPostActivity(actorId: \"ana\") { actorId } }",
    );
    let mut subscribers = [api.subscribe("bo", all).await, api.subscribe("bo", of_ana).await];
    let mut blocked = api.subscribe("cleo", all).await;
    let mut of_cleo =
        api.subscribe("bo", "subscription { onPostActivity(actorId: \"cleo\") { actorId } }").await;
    api.town.post("ana", "hello").await;
    api.settle().await;
    for subscriber in &mut subscribers {
        assert_eq!(subscriber.next_field("actorId").await, json!("ana"));
        assert!(subscriber.has_no_event().await);
    }
    assert!(blocked.has_no_event().await);
    assert!(of_cleo.has_no_event().await);
}

/// R45: only followers get new entries.
#[tokio::test]
async fn new_home_feed_entries_are_sent() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    api.town.follow("bo", "ana").await;
    api.settle().await;
    let document = "subscription { onFeedEntry { actorId post { content } } }";
    let (mut bo, mut cleo) =
        (api.subscribe("bo", document).await, api.subscribe("cleo", document).await);
    api.town.post("ana", "hello").await;
    api.settle().await;
    assert_eq!(bo.next_field("post").await, json!({ "content": "hello" }));
    assert!(cleo.has_no_event().await);
}

/// R45: new posts in one feed, or in any.
#[tokio::test]
async fn new_posts_are_sent_unless_hidden() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let mut any = api.subscribe("bo", "subscription { onCreatePost { content } }").await;
    let global = "subscription { onCreatePost(feedId: \"GLOBAL\") { content } }";
    let mut global = api.subscribe("bo", global).await;
    let mut other =
        api.subscribe("bo", "subscription { onCreatePost(feedId: \"news\") { content } }").await;
    let private = "mutation { createPost(input: { content: \"mine\", contentType: text,
        visibility: private }) { id } }";
    api.run("ana", private).await;
    api.town.post("ana", "for all").await;
    api.settle().await;
    assert_eq!(any.next_field("content").await, json!("for all"));
    assert_eq!(global.next_field("content").await, json!("for all"));
    assert!(any.has_no_event().await);
    assert!(other.has_no_event().await);
}

/// R34, R45: posts that are reviewed before publication.
#[tokio::test]
async fn a_pending_post_is_sent_when_it_is_approved() {
    let settings = Settings { moderation: ModerationMode::Before, ..Town::settings() };
    let api = ApiTown::over(Town::with(settings, ["ana", "bo"]).await);
    api.town.add_user("mo", |user| user.roles = vec![Role::User, Role::Moderator]).await;
    let mut created = api.subscribe("bo", "subscription { onCreatePost { content } }").await;
    let post = api.town.post("ana", "patience").await;
    api.settle().await;
    assert!(created.has_no_event().await);
    let all = "subscription { onModeratePost { moderationStatus } }";
    let one = format!("subscription {{ onModeratePost(postId: \"{}\") {{ content }} }}", post.id);
    let mut mo = api.subscribe_as(api.staff("mo", Role::Moderator), all).await;
    let mut author = api.subscribe("ana", &one).await;
    assert_eq!(api.subscribe("bo", all).await.next_error_code().await, "FORBIDDEN");
    assert_eq!(api.subscribe("bo", &one).await.next_error_code().await, "NOT_FOUND");
    api.town.moderate(&post.id, ModerationStatus::Approved).await;
    api.settle().await;
    assert_eq!(created.next_field("content").await, json!("patience"));
    assert_eq!(mo.next_field("moderationStatus").await, json!("APPROVED"));
    assert_eq!(author.next_field("content").await, json!("patience"));
}

/// R45: updates, likes and comments.
#[tokio::test]
async fn changes_of_a_post_are_sent_while_it_is_visible() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    let post = api.town.post("ana", "hello").await;
    let id = &post.id;
    let mut updates = api
        .subscribe(
            "bo",
            &format!("subscription {{ onUpdatePost(postId: \"{id}\") {{ content }} }}"),
        )
        .await;
    let likes = format!("subscription {{ onToggleLike(postId: \"{id}\") {{ liked likeCount }} }}");
    let mut likes = api.subscribe("bo", &likes).await;
    let liked = format!("subscription {{ onToggleLike(postId: \"{id}\") {{ liked }} }}");
    let mut liked = api.subscribe("bo", &liked).await;
    let comments = format!("subscription {{ onAddComment(postId: \"{id}\") {{ content }} }}");
    let mut comments = api.subscribe("bo", &comments).await;
    api.run("cleo", &format!("mutation {{ toggleLike(postId: \"{id}\") {{ liked }} }}")).await;
    api.town.comment("cleo", id, "well said").await;
    let update = |change: &str| {
        format!("mutation {{ updatePost(input: {{ postId: \"{id}\", {change} }}) {{ id }} }}")
    };
    api.run("ana", &update("content: \"hello again\"")).await;
    api.settle().await;
    assert_eq!(updates.next_field("content").await, json!("hello again"));
    assert_eq!(
        likes.next_response().await["data"]["onToggleLike"],
        json!({ "liked": true, "likeCount": 1 })
    );
    assert_eq!(liked.next_field("liked").await, json!(true));
    assert_eq!(comments.next_field("content").await, json!("well said"));
    api.run("ana", &update("visibility: private")).await;
    api.run("ana", &format!("mutation {{ toggleLike(postId: \"{id}\") {{ liked }} }}")).await;
    api.settle().await;
    assert!(updates.has_no_event().await, "it is hidden");
    assert!(liked.has_no_event().await);
    let missing = "subscription { onUpdatePost(postId: \"none\") { id } }";
    assert_eq!(api.subscribe("bo", missing).await.next_error_code().await, "NOT_FOUND");
}

/// R45: follows and follow requests.
#[tokio::test]
async fn follows_are_sent_and_requests_only_to_both_users_involved() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    let document = "subscription { onFollowUser(followeeId: \"ana\") { followerId status } }";
    let (mut ana, mut cleo) =
        (api.subscribe("ana", document).await, api.subscribe("cleo", document).await);
    api.town.follow("bo", "ana").await;
    api.settle().await;
    assert_eq!(ana.next_field("followerId").await, json!("bo"));
    assert_eq!(cleo.next_field("followerId").await, json!("bo"));
    api.town.set_private("ana", true).await;
    api.town.add_user("dan", |_| {}).await;
    api.town.follow("dan", "ana").await;
    api.settle().await;
    assert_eq!(ana.next_field("status").await, json!("pending"));
    assert!(cleo.has_no_event().await);
}

/// R45: joining and leaving.
#[tokio::test]
async fn memberships_of_a_private_group_are_sent_to_members_only() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    let group = api.town.create_private_group("ana", "Runners").await;
    let document =
        format!("subscription {{ onGroupMembership(groupId: \"{group}\") {{ userId status }} }}");
    let (mut ana, mut cleo) =
        (api.subscribe("ana", &document).await, api.subscribe("cleo", &document).await);
    api.town.join("bo", &group).await;
    api.settle().await;
    assert_eq!(ana.next_field("status").await, json!("pending"));
    let approve =
        format!("mutation {{ approveMember(groupId: \"{group}\", userId: \"bo\") {{ role }} }}");
    api.run("ana", &approve).await;
    api.settle().await;
    assert_eq!(ana.next_field("status").await, json!("active"));
    api.run("bo", &format!("mutation {{ leaveGroup(groupId: \"{group}\") {{ role }} }}")).await;
    api.settle().await;
    assert_eq!(ana.next_field("userId").await, json!("bo"), "as it was");
    assert!(cleo.has_no_event().await);
}

/// R45: every user gets only their own quests.
#[tokio::test]
async fn quest_changes_are_sent_to_their_owner_only() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let document = "subscription { onQuestChange { title status } }";
    let (mut ana, mut bo) =
        (api.subscribe("ana", document).await, api.subscribe("bo", document).await);
    let create = "mutation { createQuest(input: { title: \"Three\", difficulty: easy, rewardXp: 10,
        kind: quantitative, targetCount: 3 }) { id } }";
    let quest = api.run("ana", create).await["createQuest"]["id"].take();
    api.settle().await;
    assert_eq!(ana.next_field("status").await, json!("active"));
    api.run("ana", &format!("mutation {{ cancelQuest(questId: {quest}) {{ status }} }}")).await;
    api.settle().await;
    assert_eq!(ana.next_field("status").await, json!("cancelled"));
    assert!(bo.has_no_event().await);
}

/// R45: a suspended user gets an error as the last item.
#[tokio::test]
async fn suspension_ends_a_subscription() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let mut bo = api.subscribe("bo", "subscription { onCreatePost { content } }").await;
    api.town.set_status("bo", UserStatus::Suspended).await;
    api.town.post("ana", "hello").await;
    api.settle().await;
    assert_eq!(bo.next_error_code().await, "FORBIDDEN");
    assert!(bo.has_ended().await);
}

#[tokio::test]
async fn anonymous_clients_cannot_subscribe() {
    let api = ApiTown::of(["ana"]).await;
    for document in [
        "subscription { onCreatePost { id } }",
        "subscription { onQuestChange { id } }",
        "subscription { onNotification { id } }",
    ] {
        let mut subscriber =
            api.subscribe_as(roundtable_interface::ClientInfo::default(), document).await;
        assert_eq!(subscriber.next_error_code().await, "UNAUTHENTICATED", "{document}");
    }
}

/// R45: no state is kept for a closed subscription.
#[tokio::test]
async fn a_dropped_subscription_is_forgotten() {
    let api = ApiTown::of(["ana"]).await;
    let subscriber = api.subscribe("ana", "subscription { onCreatePost { id } }").await;
    assert_eq!(api.services.bus.topic_count(), 1);
    drop(subscriber);
    assert_eq!(api.services.bus.topic_count(), 0);
}
