//! A town with objects of all types. The oracle comparison builds it with another commit, too, so it uses
//! only what both have.

use roundtable_domain::{NewPost, NewQuest};
use roundtable_model::entities::Upload;
use roundtable_model::{ContentType, GroupRole, ModerationStatus, Role, UserStatus, Visibility};
use roundtable_testkit::Town;

use crate::value_pool::ValuePool;

/// The content of everything that strangers may not see.
pub(crate) const CANARY: &str = "canary";
/// The viewers. The first is anonymous, and the first two are strangers to all others.
pub(crate) const VIEWERS: [&str; 9] = ["", "dee", "ana", "bo", "cy", "pia", "eve", "mo", "ada"];

/// Returns the town and the ids of its objects.
pub(crate) async fn populated_town() -> (Town, ValuePool) {
    let town = Town::of(["ana", "bo", "cy", "dee", "eve", "mo", "ada"]).await;
    town.add_user("pia", |pia| pia.is_private = true).await;
    let mut value_pool = ValuePool::default();
    VIEWERS.iter().skip(1).for_each(|name| value_pool.add_id(*name));
    town.grant_role("mo", Role::Moderator).await;
    town.grant_role("ada", Role::Admin).await;
    for (one, other) in [("bo", "ana"), ("ana", "bo"), ("mo", "ana"), ("ana", "pia")] {
        town.follow(one, other).await;
    }
    add_posts(&town, &mut value_pool).await;
    add_groups_and_rooms(&town, &mut value_pool).await;
    add_goals(&town, &mut value_pool).await;
    add_hidden_people(&town, &mut value_pool).await;
    town.block("ana", "cy").await;
    town.set_status("eve", UserStatus::Suspended).await;
    town.settle().await;
    (town, value_pool)
}

async fn add_posts(town: &Town, value_pool: &mut ValuePool) {
    let post = town.post("ana", "hello @bo, a good run today #running").await;
    let other = town.post("bo", "bread #baking").await;
    let hidden = NewPost { visibility: Some(Visibility::Private), ..NewPost::text(CANARY) };
    let hidden = town.post_as("ana", hidden).await;
    let pia = town.post("pia", &format!("{CANARY} of pia")).await;
    let comment = town.comment("bo", &post.id, "well done @ana").await;
    let reply = town.reply("ana", &post.id, Some(&comment.id), "thank you").await;
    town.like("bo", &post.id).await;
    town.like("mo", &other.id).await;
    town.share("bo", &post.id).await;
    town.report("bo", &post.id, "rude").await;
    town.moderate(&other.id, ModerationStatus::Flagged).await;
    let picture = town.upload("ana").await;
    value_pool.add_id(picture.s3_key.to_string());
    for id in [&post.id, &other.id, &hidden.id, &pia.id] {
        value_pool.add_id(id.to_string());
    }
    value_pool.add_id(comment.id.to_string());
    value_pool.add_id(reply.id.to_string());
}

/// Adds groups, rooms, assist threads and companies.
async fn add_groups_and_rooms(town: &Town, value_pool: &mut ValuePool) {
    let open = town.create_group("ana", "Runners").await;
    town.join("bo", &open).await;
    town.set_group_role("ana", &open, "bo", GroupRole::Admin).await;
    town.post_into("bo", &open, "tomorrow at six?").await;
    let closed = town.create_private_group("ana", "Bakers").await;
    town.join("bo", &closed).await;
    town.post_into("ana", &closed, &format!("{CANARY} among bakers")).await;
    let room = town.room_with("ana", "bo").await;
    let message = town.send_message("ana", &room, &format!("{CANARY} between two")).await;
    let thread = town.ask_for_help("ana", &["bo"]).await;
    town.help("bo", &thread.thread_id, &format!("{CANARY} for ana")).await;
    let company = town.company("ana", "Shoes and Sons").await;
    let offer = town.offer("ana", &company, "a tenth off", &["running"]).await;
    for id in [open.to_string(), closed.to_string(), room.to_string(), message.id.to_string()] {
        value_pool.add_id(id);
    }
    for id in [thread.thread_id.to_string(), company.to_string(), offer.id.to_string()] {
        value_pool.add_id(id);
    }
}

/// Adds what is left of people whom others will not see: cy, who is blocked, and eve, who is suspended.
async fn add_hidden_people(town: &Town, value_pool: &mut ValuePool) {
    let evening = town.post("ana", "an evening run #running").await;
    for (name, text) in [("cy", "too far"), ("eve", "too late"), ("bo", "with bread"), ("dee", "?")]
    {
        let comment = town.comment(name, &evening.id, text).await;
        town.like(name, &evening.id).await;
        value_pool.add_id(comment.id.to_string());
    }
    let eve = town.post("eve", "my last one #running").await;
    town.share("bo", &eve.id).await;
    town.follow("eve", "ana").await;
    town.follow("ana", "eve").await;
    town.follow("cy", "bo").await;
    let room = town.room_with("ana", "eve").await;
    for (name, text) in [("ana", "are you there?"), ("eve", "not for long"), ("ana", "oh")] {
        value_pool.add_id(town.send_message(name, &room, text).await.id.to_string());
    }
    for id in [evening.id.to_string(), eve.id.to_string(), room.to_string()] {
        value_pool.add_id(id);
    }
    let picture = Town::as_new_media(&town.upload("ana").await);
    let gone = Town::as_new_media(&town.upload("ana").await);
    let upload = Upload::at(&town.id("ana"), &gone.s3_key);
    let media = vec![picture, gone];
    let input = NewPost { content_type: ContentType::Image, media, ..NewPost::text("look") };
    value_pool.add_id(town.post_as("ana", input).await.id.to_string());
    town.context().core().table().delete(upload.delete()).await.unwrap();
}

async fn add_goals(town: &Town, value_pool: &mut ValuePool) {
    let goal = town.set_goal("ana", "Half marathon").await;
    let task = town.add_task("ana", &goal.id, "Ten kilometres").await;
    let milestone = town.add_milestone("ana", &goal.id, 50, "Half of the half").await;
    town.mark_done(&task, true).await;
    let quest = town.set_quest("ana", NewQuest::tasks("Three this week", 3)).await;
    for id in [goal.id.to_string(), task.id.to_string(), milestone.id.to_string()] {
        value_pool.add_id(id);
    }
    value_pool.add_id(quest.id.to_string());
}
