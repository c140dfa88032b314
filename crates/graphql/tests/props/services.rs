//! The services of a town, with what a server would put beside them: for everything that asks a town through
//! the API.

use std::sync::Arc;

use async_graphql::Response;
use async_trait::async_trait;
use roundtable_domain::{Feeds, Live, Messages, Notifications, SignedIn};
use roundtable_graphql::{Answer, Backstage, BackstageFigures, Cursors, Issuer, Refused, Services};
use roundtable_testkit::Town;
use serde_json::Value;

/// Issues tokens that say whom they are for.
#[derive(Debug)]
struct Plain;

#[async_trait]
impl Issuer for Plain {
    async fn access_token(&self, signed_in: &SignedIn) -> Result<(String, u32), Refused> {
        Ok((format!("token of {}", signed_in.user.nickname), 900))
    }
}

/// Has three dead letters, and redrives as many as it may.
#[derive(Debug)]
struct ThreeLetters;

#[async_trait]
impl Backstage for ThreeLetters {
    async fn redrive(&self, max: usize) -> Result<usize, Refused> {
        Ok(max.min(3))
    }

    async fn figures(&self) -> Result<BackstageFigures, Refused> {
        Ok(BackstageFigures { dlq_depth: 3, ..BackstageFigures::default() })
    }
}

/// The services of a process that remembers nothing of this town yet.
pub(crate) fn services(town: &Town) -> Services {
    let ground = town.ground().clone();
    Services {
        feeds: Feeds::new(ground.clone()),
        messages: Messages::new(ground.clone()),
        notifications: Notifications::new(ground.clone()),
        live: Live::new(ground.clone()),
        media: town.media(),
        issuer: Arc::new(Plain),
        backstage: Arc::new(ThreeLetters),
        cursors: Arc::new(Cursors::new(&[4; 32]).unwrap()),
        ground,
    }
}

/// An answer as clients read it.
pub(crate) fn shown(response: &Response) -> Value {
    serde_json::to_value(Answer(response)).unwrap()
}
