//! The query root: one file for each noun.

mod accounts;
mod assistance;
mod feeds;
mod goals;
mod groups;
mod moderation;
mod nodes;
mod notifications;
mod posts;
mod quests;
mod rooms;
mod trade;
mod users;

use async_graphql::MergedObject;

/// The query root.
// In two parts: merging all into one chain nests async-graphql's types deeper than the compiler's limit.
#[derive(Debug, Default, MergedObject)]
#[graphql(name = "Query")]
pub struct QueryRoot(SocialQueries, OtherQueries);

#[derive(Debug, Default, MergedObject)]
struct SocialQueries(
    nodes::NodeQueries,
    users::UserQueries,
    groups::GroupQueries,
    feeds::FeedQueries,
    posts::PostQueries,
    moderation::ModerationQueries,
);

#[derive(Debug, Default, MergedObject)]
struct OtherQueries(
    goals::GoalQueries,
    quests::QuestQueries,
    rooms::RoomQueries,
    assistance::AssistanceQueries,
    trade::TradeQueries,
    notifications::NotificationQueries,
    accounts::AccountQueries,
);
