//! Subscriptions to quests.

use async_graphql::{Context, Subscription};
use roundtable_domain::{LiveEvent, Topic};

use super::{EventStream, subscribe};
use crate::ApiError;
use crate::request::RequestContext;
use crate::types::quests::Quest;

#[derive(Debug, Default)]
pub(super) struct QuestSubscriptions;

#[Subscription]
impl QuestSubscriptions {
    /// Changes of the caller's quests: created, progressed, completed or cancelled.
    async fn on_quest_change(&self, ctx: &Context<'_>) -> Result<EventStream<Quest>, ApiError> {
        let me = RequestContext::of(ctx)?.caller()?.user_id.clone();
        subscribe(ctx, Topic::Quests(me), |event| match event {
            LiveEvent::Quest(quest) => Some((*quest).into()),
            _ => None,
        })
        .await
    }
}
