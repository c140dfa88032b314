//! The GraphQL types: one file for each noun.

pub(crate) mod accounts;
pub(crate) mod activities;
pub(crate) mod assistance;
pub(crate) mod comments;
pub(crate) mod feeds;
pub(crate) mod follows;
pub(crate) mod goals;
pub(crate) mod groups;
pub(crate) mod media;
pub(crate) mod moderation;
pub(crate) mod notifications;
pub(crate) mod posts;
pub(crate) mod promotions;
pub(crate) mod quests;
pub(crate) mod reactions;
pub(crate) mod rooms;
pub(crate) mod trade;
pub(crate) mod unions;
pub(crate) mod uploads;
pub(crate) mod users;
pub(crate) mod webhooks;
