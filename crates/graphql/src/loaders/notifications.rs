//! Loads the viewer's notifications.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::NotificationView;
use roundtable_model::NotificationId;

use super::{ViewerLoader, batch_error, by_key};
use crate::ApiError;

impl Loader<NotificationId> for ViewerLoader {
    type Value = NotificationView;
    type Error = Arc<ApiError>;

    async fn load(
        &self,
        ids: &[NotificationId],
    ) -> Result<HashMap<NotificationId, NotificationView>, Arc<ApiError>> {
        let Some(caller) = &self.viewer else { return Ok(HashMap::new()) };
        let notifications = self.services.notifications().by_ids(caller, ids).await;
        Ok(by_key(ids, notifications.map_err(batch_error)?))
    }
}
