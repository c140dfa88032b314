//! The stories: what people do with a server, told from the first sign-up to the last block. They are the
//! same wherever they are played.

pub(crate) mod house;
mod listening;
mod people;
pub(crate) mod scene;

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

/// Those before the middle of the evening.
pub(crate) async fn first_half(scene: &Scene) {
    signing_up::an_account_is_made_used_and_left(scene).await;
    posting::a_post_is_written_changed_and_taken_back(scene).await;
    following::somebody_is_followed_and_no_longer(scene).await;
    following::whoever_is_private_is_asked_first(scene).await;
    feeding::a_feed_is_read_page_by_page_and_as_it_grows(scene).await;
    reacting::a_post_is_liked_and_shared(scene).await;
    reacting::a_post_is_talked_about(scene).await;
    scene.is_quiet().await;
}

/// Those after it.
pub(crate) async fn second_half(scene: &Scene) {
    grouping::a_group_is_founded_joined_and_left(scene).await;
    grouping::a_private_group_lets_in_whom_it_wants(scene).await;
    chatting::two_people_talk(scene).await;
    pursuing::a_goal_becomes_a_quest_and_experience(scene).await;
    notifying::people_are_told_what_concerns_them(scene).await;
    files::a_picture_is_sent_and_looked_at(scene).await;
    moderating::a_post_is_reported_hidden_and_let_back(scene).await;
    blocking::whoever_is_blocked_is_gone_both_ways(scene).await;
    scene.is_quiet().await;
}
