//! The services that requests call: one for each noun, all on one domain context.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{
    Accounts, Activities, Assistance, Blocks, Comments, Companies, Context, DeadLetterService,
    ExternalIdentity, Feeds, Follows, Goals, Groups, Likes, LiveBus, LiveUpdates, MediaFiles,
    Messages, Milestones, Moderation, Mutes, Notifications, Offers, Page, PageInput, Posts,
    Promotions, Quests, Rooms, Search, Shares, SignedInUser, Statistics, Tags, Tasks, Timelines,
    Webhooks,
};
use roundtable_model::entities::DeadLetter;

use crate::ApiError;
use crate::cursors::CursorCipher;

#[async_trait]
pub trait TokenIssuer: std::fmt::Debug + Send + Sync {
    /// Returns an access token for the user, and its lifetime in seconds.
    async fn access_token(&self, signed_in: &SignedInUser) -> Result<(String, u32), ApiError>;
}

/// Checks the tokens of an external issuer.
#[async_trait]
pub trait IdentityVerifier: std::fmt::Debug + Send + Sync {
    /// Returns the person that a valid token identifies.
    async fn identify(&self, token: &str) -> Result<ExternalIdentity, ApiError>;
}

/// Operator access to the stream processors.
#[async_trait]
pub trait StreamControl: std::fmt::Debug + Send + Sync {
    /// Retries at most `max` dead letters; returns how many succeeded.
    async fn redrive(&self, max: usize) -> Result<usize, ApiError>;
    async fn backlog(&self) -> Result<StreamBacklog, ApiError>;
    /// Lists the dead letters, the oldest of each queue first.
    async fn dead_letters(&self, page: &PageInput) -> Result<Page<DeadLetter>, ApiError>;
}

/// The backlog of the stream processors.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamBacklog {
    /// Actors whose activities still have to be copied to followers' feeds.
    pub fanout_queue_depth: u64,
    pub dlq_depth: u64,
    /// The age of the oldest change that a processor has not handled.
    pub stream_lag_ms: u64,
}

/// The services of a process. Those with fields of their own hold caches; all others are created for each
/// call.
#[derive(Clone, Debug)]
pub struct Services {
    pub context: Context,
    /// Delivers changes to all subscriptions.
    pub bus: LiveBus,
    pub feeds: Feeds,
    pub media: MediaFiles,
    pub search: Search,
    pub issuer: Arc<dyn TokenIssuer>,
    pub identities: Arc<dyn IdentityVerifier>,
    pub streams: Arc<dyn StreamControl>,
    pub cursors: Arc<CursorCipher>,
}

impl Services {
    /// Returns the same services on another context, which limits what one request reads, and may observe it.
    #[must_use]
    pub fn with_context(&self, context: &Context) -> Self {
        Self {
            feeds: self.feeds.with_context(context.clone()),
            media: self.media.on(context.clone()),
            search: self.search.with_context(context.clone()),
            context: context.clone(),
            ..self.clone()
        }
    }

    /// Live updates of everything except chat, notifications and home feeds.
    pub fn live(&self) -> LiveUpdates {
        LiveUpdates::new(self.context.clone(), &self.bus)
    }
}

macro_rules! stateless_services {
    ($($name:ident: $service:ident,)*) => {
        impl Services {
            $(
                pub fn $name(&self) -> $service {
                    $service::new(self.context.clone())
                }
            )*
        }
    };
}

stateless_services! {
    accounts: Accounts,
    activities: Activities,
    assistance: Assistance,
    blocks: Blocks,
    statistics: Statistics,
    comments: Comments,
    companies: Companies,
    dead_letters: DeadLetterService,
    follows: Follows,
    goals: Goals,
    groups: Groups,
    likes: Likes,
    messages: Messages,
    milestones: Milestones,
    moderation: Moderation,
    mutes: Mutes,
    notifications: Notifications,
    offers: Offers,
    posts: Posts,
    promotions: Promotions,
    quests: Quests,
    rooms: Rooms,
    shares: Shares,
    tags: Tags,
    tasks: Tasks,
    timelines: Timelines,
    webhooks: Webhooks,
}
