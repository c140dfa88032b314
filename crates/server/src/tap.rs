//! Tells those who listen in this process of the changes that it reads, where other processes write as
//! well, and the other processes of the installation. It writes nothing.

use std::sync::LazyLock;

use async_trait::async_trait;
use roundtable_domain::{Feeds, Live, Messages, Notifications};
use roundtable_model::entities::FeedItem;
use roundtable_model::{Core, Entity, Processor as Name};
use roundtable_streams::{Batch, Effects, Failure, Processor};
use roundtable_table::Change;

use crate::relay::Relay;

/// Everything but the copies in feeds, which are most changes, and which nobody listens to.
static WANTED: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let all = Core::SHAPE.entities.iter().map(|entity| entity.name);
    all.filter(|name| *name != FeedItem::SHAPE.name).collect()
});

/// Those in a process who want to hear of changes.
#[derive(Clone, Debug)]
pub(crate) struct Taps {
    pub(crate) feeds: Feeds,
    pub(crate) messages: Messages,
    pub(crate) notifications: Notifications,
    pub(crate) live: Live,
}

impl Taps {
    /// Something happened.
    pub(crate) fn hear(&self, changes: &[Change]) {
        self.feeds.apply(changes);
        self.messages.apply(changes);
        self.notifications.apply(changes);
        self.live.apply(changes);
    }

    /// Whether everything is heard that happens. As long as it is not, nothing is remembered, and those
    /// who listen learn that they miss something.
    pub(crate) fn hears(&self, everything: bool) {
        self.feeds.hears(everything);
        if !everything {
            self.notifications.missed();
            self.live.missed();
        }
    }
}

/// Hands changes on.
#[derive(Debug)]
pub(crate) struct Tap {
    /// Those in this process, unless they hear all workers themselves.
    pub(crate) taps: Option<Taps>,
    pub(crate) relay: Relay,
}

#[async_trait]
impl Processor for Tap {
    fn name(&self) -> Name {
        Name::named("live")
    }

    fn wants(&self) -> &'static [&'static str] {
        &WANTED
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        if let Some(taps) = &self.taps {
            taps.hear(batch.changes);
        }
        self.relay.tell(batch.changes);
        Ok(Effects::none())
    }
}
