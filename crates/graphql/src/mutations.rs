//! The mutation root: one file for each noun.

mod accounts;
mod activities;
mod assistance;
mod comments;
mod follows;
mod goals;
mod groups;
mod moderation;
mod notifications;
mod posts;
mod quests;
mod reactions;
mod rooms;
mod trade;
mod uploads;
mod webhooks;

use async_graphql::MergedObject;

/// The mutation root.
// In two parts, like the query root.
#[derive(Debug, Default, MergedObject)]
#[graphql(name = "Mutation")]
pub struct MutationRoot(SocialMutations, OtherMutations);

#[derive(Debug, Default, MergedObject)]
struct SocialMutations(
    follows::FollowMutations,
    groups::GroupMutations,
    activities::ActivityMutations,
    posts::PostMutations,
    reactions::ReactionMutations,
    comments::CommentMutations,
    moderation::ModerationMutations,
);

#[derive(Debug, Default, MergedObject)]
struct OtherMutations(
    goals::GoalMutations,
    quests::QuestMutations,
    rooms::RoomMutations,
    assistance::AssistanceMutations,
    trade::TradeMutations,
    notifications::NotificationMutations,
    accounts::AccountMutations,
    uploads::UploadMutations,
    webhooks::WebhookMutations,
);
