//! Forwards the changes that a worker reads to the live bus of its own process and, through the relay, to
//! the installation's other processes. It writes nothing.

use async_trait::async_trait;
use roundtable_domain::LiveBus;
use roundtable_model::ProcessorName as Name;
use roundtable_streams::{Batch, Effects, ProcessingError, Processor};

use crate::relay::RelayServer;

/// A processor that passes changes on.
#[derive(Debug)]
pub(crate) struct ChangeForwarder {
    pub(crate) bus: Option<LiveBus>,
    pub(crate) relay: RelayServer,
}

impl ChangeForwarder {
    /// Without a bus, for a process that only administers the stream.
    pub(crate) fn without_bus() -> Self {
        Self { bus: None, relay: RelayServer::new() }
    }
}

#[async_trait]
impl Processor for ChangeForwarder {
    fn name(&self) -> Name {
        Name::from_static("live")
    }

    fn entity_types(&self) -> &'static [&'static str] {
        // Private entities, such as credentials and keys, never leave the process that reads them.
        LiveBus::entity_types()
    }

    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, ProcessingError> {
        if let Some(bus) = &self.bus {
            bus.apply(batch.changes);
        }
        self.relay.send(batch.changes);
        Ok(Effects::new())
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::entities::{
        ApiKey, Credential, Device, EmailLock, Identity, Invitation, Session,
    };
    use roundtable_model::{Core, FromItem as _};

    use super::*;

    #[test]
    fn no_secret_leaves_a_process() {
        let is_entity =
            |name: &&str| Core::SHAPE.entities.iter().any(|entity| entity.name == *name);
        assert!(LiveBus::entity_types().iter().all(is_entity));
        for secret in [
            Credential::ENTITY.name,
            Session::ENTITY.name,
            Device::ENTITY.name,
            Identity::ENTITY.name,
            ApiKey::ENTITY.name,
            Invitation::ENTITY.name,
            EmailLock::ENTITY.name,
        ] {
            assert!(!LiveBus::entity_types().contains(&secret), "{secret}");
        }
    }
}
