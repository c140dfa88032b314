//! What can be asked for: one file for each noun.

mod accounts;
mod assistance;
mod feeds;
mod goals;
mod groups;
mod moderation;
mod nodes;
mod notifications;
mod people;
mod posts;
mod quests;
mod rooms;
mod trade;

use async_graphql::MergedObject;

/// Everything that can be asked for.
// In two parts: nested in one chain, types of the library become deeper than the compiler follows by
// itself.
#[derive(Debug, Default, MergedObject)]
pub struct Query(SocialQueries, TownQueries);

/// What people do with each other.
#[derive(Debug, Default, MergedObject)]
struct SocialQueries(
    nodes::Nodes,
    people::People,
    groups::Groups,
    feeds::Feeds,
    posts::Posts,
    moderation::Moderation,
);

/// What they pursue, say and trade.
#[derive(Debug, Default, MergedObject)]
struct TownQueries(
    goals::Goals,
    quests::Quests,
    rooms::Rooms,
    assistance::Assistance,
    trade::Trade,
    notifications::Notifications,
    accounts::Accounts,
);
