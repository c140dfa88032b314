//! Tests of the services, through their interface and through stored items. One binary, because
//! each would link all services again.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod accounts;
mod activities;
mod activity_verbs;
mod assistance;
mod batches;
mod blocks;
mod catching_up;
mod comments;
mod dead_letters;
mod feeds;
mod follows;
mod goals;
mod group_access;
mod group_departures;
mod group_members;
mod group_races;
mod group_views;
mod groups;
mod interaction_races;
mod likes;
mod live;
mod media;
mod messages;
mod milestones;
mod moderation;
mod mutes;
mod notifications;
mod offers;
mod posts;
mod promotions;
mod quests;
mod remote_store;
mod rooms;
mod shares;
mod tags;
mod tasks;
mod top_feeds;
mod webhooks;
