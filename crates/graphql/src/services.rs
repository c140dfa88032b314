//! Everything a request can be answered with: one service for each noun, on one ground.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{
    Accounts, Activities, Assistance, Blocks, Census, Comments, Companies, Feeds, Follows, Goals,
    Ground, Groups, Likes, Live, MediaFiles, Messages, Milestones, Moderation, Notifications,
    Offers, Posts, Promotions, Quests, Rooms, Shares, SignedIn, Tags, Tasks, Timelines, Webhooks,
};

use crate::Refused;
use crate::cursors::Cursors;

/// Issues what proves who somebody is.
#[async_trait]
pub trait Issuer: std::fmt::Debug + Send + Sync {
    /// A token for who has signed in, and for how many seconds it is good.
    async fn access_token(&self, signed_in: &SignedIn) -> Result<(String, u32), Refused>;
}

/// What is behind the streams, for those who look after them.
#[async_trait]
pub trait Backstage: std::fmt::Debug + Send + Sync {
    /// Tries dead letters again, so many at most; how many were.
    async fn redrive(&self, max: usize) -> Result<usize, Refused>;
    /// How far behind everything is.
    async fn figures(&self) -> Result<BackstageFigures, Refused>;
}

/// How far behind everything is.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackstageFigures {
    /// Homes whose activities are not copied everywhere yet.
    pub fanout_queue_depth: u64,
    /// Dead letters.
    pub dlq_depth: u64,
    /// How old the oldest change is that some processor has not dealt with.
    pub stream_lag_ms: u64,
}

/// What the services of a process share.
#[derive(Clone, Debug)]
pub struct Services {
    /// What everything stands on.
    pub ground: Ground,
    /// Home feeds, with what they keep in memory.
    pub feeds: Feeds,
    /// Chat, with who listens to which room.
    pub messages: Messages,
    /// Notifications, with who listens.
    pub notifications: Notifications,
    /// Those who listen to anything else.
    pub live: Live,
    /// Files.
    pub media: MediaFiles,
    /// Proofs of identity.
    pub issuer: Arc<dyn Issuer>,
    /// The streams.
    pub backstage: Arc<dyn Backstage>,
    /// Cursors.
    pub cursors: Arc<Cursors>,
}

impl Services {
    /// The same services, on this ground: for one request's cost.
    #[must_use]
    pub fn on(&self, ground: &Ground) -> Self {
        Self {
            feeds: self.feeds.on(ground.clone()),
            messages: self.messages.on(ground.clone()),
            notifications: self.notifications.on(ground.clone()),
            live: self.live.on(ground.clone()),
            media: self.media.on(ground.clone()),
            ground: ground.clone(),
            ..self.clone()
        }
    }
}

macro_rules! on_ground {
    ($($name:ident: $service:ident,)*) => {
        impl Services {
            $(
                pub(crate) fn $name(&self) -> $service {
                    $service::new(self.ground.clone())
                }
            )*
        }
    };
}

on_ground! {
    accounts: Accounts,
    activities: Activities,
    assistance: Assistance,
    blocks: Blocks,
    census: Census,
    comments: Comments,
    companies: Companies,
    follows: Follows,
    goals: Goals,
    groups: Groups,
    likes: Likes,
    milestones: Milestones,
    moderation: Moderation,
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
