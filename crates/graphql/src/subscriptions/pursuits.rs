//! Listening to what comes of quests.

use async_graphql::{Context, Subscription};
use roundtable_domain::{Event, Matter};

use super::{Told, listen};
use crate::Refused;
use crate::request::Asked;
use crate::types::quests::Quest;

/// Subscriptions of quests.
#[derive(Debug, Default)]
pub(super) struct QuestsLive;

#[Subscription]
impl QuestsLive {
    /// What comes of the caller's quests: set, further, completed, cancelled.
    async fn on_quest_change(&self, ctx: &Context<'_>) -> Result<Told<Quest>, Refused> {
        let me = Asked::of(ctx)?.caller()?.user_id.clone();
        listen(ctx, Matter::Quests(me), |event| match event {
            Event::Quest(quest) => Some((*quest).into()),
            _ => None,
        })
        .await
    }
}
