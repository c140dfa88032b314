//! All stories, from the first sign-up to the last block. They are the same in every installation.

mod listening;
mod people;
pub(crate) mod scene;
pub(crate) mod server_process;

mod blocking;
mod chatting;
mod feeding;
mod files;
mod following;
mod grouping;
pub(crate) mod interlude;
mod moderating;
mod notifying;
mod posting;
mod pursuing;
mod reacting;
mod signing_up;

use self::scene::Scene;

pub(crate) async fn first_half(scene: &Scene) {
    signing_up::an_account_is_created_used_and_deleted(scene).await;
    posting::a_post_is_created_edited_and_deleted(scene).await;
    following::a_user_is_followed_and_unfollowed(scene).await;
    following::a_private_user_approves_followers(scene).await;
    feeding::a_feed_is_read_page_by_page_and_as_it_grows(scene).await;
    reacting::a_post_is_liked_and_shared(scene).await;
    reacting::a_post_is_commented_on(scene).await;
    scene.wait_until_unsubscribed().await;
}

pub(crate) async fn second_half(scene: &Scene) {
    grouping::a_group_is_founded_joined_and_left(scene).await;
    grouping::a_private_group_approves_its_members(scene).await;
    chatting::two_people_talk(scene).await;
    pursuing::a_goal_becomes_a_quest_and_experience(scene).await;
    notifying::users_are_notified(scene).await;
    files::a_picture_is_sent_and_looked_at(scene).await;
    moderating::a_post_is_reported_hidden_and_let_back(scene).await;
    blocking::a_block_hides_both_sides(scene).await;
    scene.wait_until_unsubscribed().await;
}
