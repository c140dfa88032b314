//! What can be done: one file for each noun.

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

/// Everything that can be done.
// In two parts, as what can be asked for.
#[derive(Debug, Default, MergedObject)]
pub struct Mutation(SocialMutations, TownMutations);

/// What people do with each other.
#[derive(Debug, Default, MergedObject)]
struct SocialMutations(
    follows::Following,
    groups::Grouping,
    activities::Telling,
    posts::Posting,
    reactions::Reacting,
    comments::Commenting,
    moderation::Moderating,
);

/// What they pursue, say and trade, and how they come and go.
#[derive(Debug, Default, MergedObject)]
struct TownMutations(
    goals::Pursuing,
    quests::Questing,
    rooms::Talking,
    assistance::Assisting,
    trade::Trading,
    notifications::Noticing,
    accounts::Entering,
    uploads::Uploading,
    webhooks::Hooking,
);
