//! The services, as people see them and as rows. One program, because each would hold all of the services again.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod accounts;
mod activities;
mod assistance;
mod batches;
mod blocks;
mod comments;
mod far_away;
mod feeds;
mod follows;
mod goals;
mod group_departures;
mod group_members;
mod group_races;
mod group_views;
mod groups;
mod likes;
mod live;
mod media;
mod messages;
mod milestones;
mod moderation;
mod notifications;
mod offers;
mod posts;
mod promotions;
mod quests;
mod rooms;
mod shares;
mod tags;
mod tasks;
mod ties;
mod webhooks;
