//! Calls for help, and what was said in them.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_model::{MessageId, ThreadId, entities};

use super::{Look, found, shared};
use crate::Refused;

impl Loader<ThreadId> for Look {
    type Value = entities::AssistThread;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        ids: &[ThreadId],
    ) -> Result<HashMap<ThreadId, entities::AssistThread>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let threads = self.services.assistance().threads(caller, ids).await;
        Ok(found(ids, threads.map_err(shared)?))
    }
}

/// What was said in a call for help.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SaidIn(pub(crate) ThreadId, pub(crate) MessageId);

impl Loader<SaidIn> for Look {
    type Value = entities::AssistMsg;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[SaidIn],
    ) -> Result<HashMap<SaidIn, entities::AssistMsg>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let places: Vec<_> = of.iter().map(|of| (of.0.clone(), of.1.clone())).collect();
        let said = self.services.assistance().said(caller, &places).await;
        Ok(found(of, said.map_err(shared)?))
    }
}
