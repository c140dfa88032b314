//! What admins do with endpoints that are told of events (R44).

use roundtable_domain::{Caller, Code, Webhooks};
use roundtable_model::{RequestId, Role, Time, WebhookId};
use roundtable_testkit::{Done, Town};

use crate::deeds::{Deed, told};
use crate::stage::Stage;

const URL: &str = "https://hooks.example.com/town";

#[derive(Clone, Debug)]
pub(crate) enum WebhookDeed {
    Create,
    Delete(WebhookId),
    Replay(WebhookId),
}

/// An endpoint to do it with.
pub(crate) async fn endpoint(town: &Town) -> WebhookId {
    let ada = town.staff("ada", Role::Admin);
    webhooks(town).create(&ada, URL, &[String::from("*")]).await.unwrap().webhook.id
}

/// What ada does with endpoints.
pub(crate) fn with_webhooks(stage: &Stage, town: &Town) -> Vec<Deed> {
    let id = &stage.webhook;
    let deeds =
        [WebhookDeed::Create, WebhookDeed::Delete(id.clone()), WebhookDeed::Replay(id.clone())];
    let ada = town.staff("ada", Role::Admin);
    deeds.into_iter().map(|deed| Deed::Webhooks(ada.clone(), deed)).collect()
}

fn webhooks(town: &Town) -> Webhooks {
    Webhooks::new(town.ground().clone())
}

impl WebhookDeed {
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Create => "webhooks.create",
            Self::Delete(_) => "webhooks.delete",
            Self::Replay(_) => "webhooks.replay",
        }
    }

    pub(crate) async fn be_done(
        &self,
        town: &Town,
        caller: &Caller,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        let webhooks = webhooks(town);
        match self {
            Self::Create => told(webhooks.create(caller, URL, &[String::from("*")]).await),
            Self::Delete(id) => told(webhooks.delete(caller, id, request).await),
            Self::Replay(id) => told(webhooks.replay(caller, id, Time::from_ms(0)).await),
        }
    }
}
