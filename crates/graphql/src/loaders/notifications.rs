//! What the viewer was told.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::Notice;
use roundtable_model::NotificationId;

use super::{Look, found, shared};
use crate::Refused;

impl Loader<NotificationId> for Look {
    type Value = Notice;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        ids: &[NotificationId],
    ) -> Result<HashMap<NotificationId, Notice>, Arc<Refused>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let notices = self.services.notifications.notices(caller, ids).await;
        Ok(found(ids, notices.map_err(shared)?))
    }
}
