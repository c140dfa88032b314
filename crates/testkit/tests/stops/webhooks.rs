//! Mutations of webhooks (R44).

use roundtable_domain::{Caller, Code, DeadLetterName, DeadLetterService, Webhooks};
use roundtable_model::{Entity, RequestId, Role, Time, WebhookId, samples};
use roundtable_testkit::{ActionOutcome, Town};

use crate::mutations::{Mutation, reduce};
use crate::stage::Stage;

const URL: &str = "https://hooks.example.com/town";

#[derive(Clone, Debug)]
pub(crate) enum WebhookMutation {
    Create,
    Delete(WebhookId),
    Replay(WebhookId),
    Enable(WebhookId),
    Discard(DeadLetterName),
}

pub(crate) async fn endpoint(town: &Town) -> WebhookId {
    let ada = town.staff("ada", Role::Admin);
    town.context().ops().table().put(samples::dead_letter().put()).await.unwrap();
    let disabled = webhooks(town).create(&ada, URL, &[String::from("*")]).await.unwrap();
    webhooks(town).disable(&disabled.webhook.id, "it fails").await.unwrap();
    disabled.webhook.id
}

pub(crate) fn webhook_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let id = &stage.webhook;
    let mutations = [
        WebhookMutation::Create,
        WebhookMutation::Delete(id.clone()),
        WebhookMutation::Replay(id.clone()),
        WebhookMutation::Enable(id.clone()),
        WebhookMutation::Discard((&samples::dead_letter()).into()),
    ];
    let ada = town.staff("ada", Role::Admin);
    mutations.into_iter().map(|mutation| Mutation::Webhooks(ada.clone(), mutation)).collect()
}

fn webhooks(town: &Town) -> Webhooks {
    Webhooks::new(town.context().clone())
}

impl WebhookMutation {
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Create => "webhooks.create",
            Self::Delete(_) => "webhooks.delete",
            Self::Replay(_) => "webhooks.replay",
            Self::Enable(_) => "webhooks.enable",
            Self::Discard(_) => "dead_letters.discard",
        }
    }

    pub(crate) async fn perform(
        &self,
        town: &Town,
        caller: &Caller,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        let webhooks = webhooks(town);
        match self {
            Self::Create => reduce(webhooks.create(caller, URL, &[String::from("*")]).await),
            Self::Delete(id) => reduce(webhooks.delete(caller, id, request).await),
            Self::Replay(id) => {
                reduce(webhooks.replay(caller, id, Time::from_ms(0), request).await)
            }
            Self::Enable(id) => reduce(webhooks.enable(caller, id, request).await),
            Self::Discard(name) => {
                let letters = DeadLetterService::new(town.context().clone());
                reduce(letters.discard(caller, name, request).await)
            }
        }
    }
}
