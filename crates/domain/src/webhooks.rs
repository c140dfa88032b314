//! Endpoints outside that are told of what happens (R44): admins make, list and take them away. What
//! they are told is in [`EVENTS`](crate::EVENTS); telling them is the work of a processor, which leaves
//! [errands](Errand) behind.
//!
//! An endpoint's secret is shown once, when it is made: everything else here answers without it.

mod address;
mod events;
mod reach;
mod replay;

use async_trait::async_trait;
use data_encoding::BASE64;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Webhook;
use roundtable_model::{Entity, JobId, Json, Misfit, Queue, RequestId, Secret, Time, WebhookId};
use serde::{Deserialize, Serialize};

pub use self::events::{ALL_EVENTS, EVENTS, EventType, Happening};
pub use self::reach::is_public;
use crate::access::Act;
use crate::accounts::staff::Official;
use crate::limits::{WEBHOOK_EVENT_TYPES_MAX, WEBHOOKS_MAX, check_count};
use crate::once::{Kept, Tried};
use crate::pages::fill;
use crate::{Caller, Failure, Ground, Page, PageInput, audit, refusals};

/// Bytes of a secret, as the Standard Webhooks specification recommends.
const SECRET_BYTES: usize = 32;
/// What secrets begin with, there, too.
const SECRET_PREFIX: &str = "whsec_";

refusals! {
    /// Why an endpoint is not told, or not any more.
    WebhookError {
        NoSuchWebhook: NotFound = "there is no such webhook",
        TooMany: Conflict = "there are as many webhooks as there may be; take one away first",
        Forgotten: BadRequest = "the stream does not reach back that far; ask for a later time",
    }
}

/// The endpoints of an installation.
#[derive(Clone, Debug)]
pub struct Webhooks {
    ground: Ground,
}

/// An endpoint that was just made.
#[derive(Clone, Debug)]
pub struct NewWebhook {
    /// The endpoint, without its secret.
    pub webhook: Webhook,
    /// What messages to it are signed with: nobody can read it again.
    pub secret: Secret,
}

/// What is to be done about an endpoint, as jobs of [`Errand::QUEUE`] say it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "errand")]
pub enum Errand {
    /// Send it what waits for it.
    Deliver {
        /// Whom.
        webhook: WebhookId,
    },
    /// Let everything wait for it again that has happened since then.
    Replay {
        /// For whom.
        webhook: WebhookId,
        /// The first moment.
        from: Time,
    },
    /// Let events wait for it again that were given up.
    Resend {
        /// For whom.
        webhook: WebhookId,
        /// What they are known by together.
        parcel: JobId,
        /// When the first of them happened.
        happened: Time,
        /// The events, as they waited.
        events: serde_json::Value,
    },
}

impl Errand {
    /// Where the jobs are.
    pub const QUEUE: Queue = Queue::named("events");
}

/// A message to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The same however often it is sent.
    pub id: String,
    /// A `CloudEvent` as JSON.
    pub body: Vec<u8>,
}

/// Brings messages to endpoints.
#[async_trait]
pub trait Deliver: Send + Sync {
    /// Brings one message, once.
    async fn deliver(&self, to: &Webhook, message: &Outgoing) -> Result<(), Undelivered>;
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undelivered {
    /// The endpoint wants no more, ever.
    #[error("the endpoint answered that it is gone")]
    Gone,
    /// Anything else; trying again may help.
    #[error("{0}")]
    Failed(String),
}

#[boxed]
impl Webhooks {
    /// The endpoints on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Makes an endpoint, which is told of these events from now on. [`ALL_EVENTS`] stands for all.
    pub async fn create(
        &self,
        caller: &Caller,
        url: &str,
        event_types: &[String],
    ) -> Result<NewWebhook, WebhookError> {
        let me = self.ground.account(caller).await?;
        let official = Official::new(caller, me);
        official.may(Act::ManageWebhooks)?;
        address::check(url, self.ground.settings().webhooks.local)?;
        let event_types = checked(event_types)?;
        // Several at the same time may pass here; a few more do no harm.
        if self.ground.ops().webhooks().all().await?.len() >= WEBHOOKS_MAX {
            return Err(WebhookError::TooMany);
        }
        let key = self.ground.chance().bytes::<SECRET_BYTES>();
        let secret = Secret::new(format!("{SECRET_PREFIX}{}", BASE64.encode(&key)));
        let webhook = Webhook {
            id: self.ground.ids().next(),
            url: url.to_owned(),
            event_types,
            secret: secret.clone(),
            enabled: true,
            generation: 0,
            owner_id: caller.user_id.clone(),
            created_at: self.ground.now(),
        };
        let commit = self.ground.commit().to(self.ops(), "webhook", webhook.create());
        let commit = commit.with("official", official.check_office());
        let entry =
            audit::entry(&self.ground, Some(caller), "createWebhook", subject(&webhook.id), None);
        match commit.with("audit", entry).done(shown(webhook)).await? {
            Tried::Done(webhook) => Ok(NewWebhook { webhook, secret }),
            Tried::Again => Err(Failure::Forbidden.into()),
        }
    }

    /// All endpoints, the oldest first.
    pub async fn list(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<Webhook>, WebhookError> {
        let me = self.ground.reader(caller).await?;
        Official::new(caller, me).may(Act::ManageWebhooks)?;
        fill(
            page,
            async |limit, after| {
                self.ground.ops().webhooks().limit(limit).after(after).page().await
            },
            async |found: Vec<Webhook>| {
                Ok(found.into_iter().map(|each| Some(shown(each))).collect())
            },
        )
        .await
    }

    /// Takes an endpoint away: it is told nothing more. Answers with it as it was.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &WebhookId,
        request: Option<&RequestId>,
    ) -> Result<Webhook, WebhookError> {
        let me = self.ground.account(caller).await?;
        let official = Official::new(caller, me);
        official.may(Act::ManageWebhooks)?;
        let request = self.ground.request(&caller.user_id, request, "deleteWebhook", id)?;
        self.ground
            .once(
                request.as_ref(),
                async |Kept(webhook): Kept<Webhook>| Ok(webhook),
                async || {
                    let webhook = shown(self.webhook(id).await?);
                    let what = subject(id);
                    let entry =
                        audit::entry(&self.ground, Some(caller), "deleteWebhook", what, None);
                    let gone = webhook.key().delete();
                    // What waits for it is taken away by whoever would have sent it.
                    let errand = self.errand(&Errand::Deliver { webhook: id.clone() })?;
                    let commit = self.ground.commit().to(self.ops(), "webhook", gone);
                    let commit = commit.to(self.ops(), "errand", errand.put());
                    let commit = commit.with("official", official.check_office());
                    let commit = commit.with("audit", entry);
                    let commit = commit.remembering(request.as_ref(), &Kept(webhook.clone()))?;
                    Ok::<Tried<_>, WebhookError>(commit.done(webhook).await?)
                },
            )
            .await
    }

    /// Gives an endpoint up as it is now.
    pub async fn give_up(&self, id: &WebhookId, why: &str) -> Result<bool, WebhookError> {
        let webhook = self.webhook(id).await?;
        self.give_up_as_read(&webhook, why).await
    }

    /// Tells an endpoint nothing more, because it has not listened for long; whether it was told until
    /// now. Somebody who asks for a replay turns it on again: if they have done so since the endpoint
    /// was read, it stays on.
    pub async fn give_up_as_read(&self, read: &Webhook, why: &str) -> Result<bool, WebhookError> {
        let id = &read.id;
        let detail = Json::of(&serde_json::json!({ "reason": why }));
        let detail = detail.map_err(|misfit| Failure::Internal(misfit.to_string()))?;
        let entry = audit::entry(&self.ground, None, "disableWebhook", subject(id), Some(detail));
        let off = Webhook::at(id).patch().set(Webhook::ENABLED, &false);
        let as_read = Webhook::ENABLED.is(&true).and(Webhook::GENERATION.is(&read.generation));
        let off = off.when(as_read);
        let commit = self.ground.commit().to(self.ops(), "webhook", off).with("audit", entry);
        Ok(matches!(commit.done(()).await?, Tried::Done(())))
    }

    async fn webhook(&self, id: &WebhookId) -> Result<Webhook, WebhookError> {
        let found = self.ground.ops().webhook(id).get().await?;
        found.ok_or(WebhookError::NoSuchWebhook)
    }

    fn ops(&self) -> &roundtable_model::table::Table {
        self.ground.ops().table()
    }
}

/// An endpoint as everybody may see it who may see it at all.
fn shown(webhook: Webhook) -> Webhook {
    Webhook { secret: Secret::new(""), ..webhook }
}

fn subject(id: &WebhookId) -> roundtable_model::SubjectId {
    id.recast()
}

/// The types of events, each once; refused when one is unknown, so that nobody waits in vain.
fn checked(types: &[String]) -> Result<Vec<String>, Failure> {
    const FIELD: &str = "eventTypes";
    check_count(FIELD, types.len(), WEBHOOK_EVENT_TYPES_MAX)?;
    let mut known = types.to_vec();
    known.sort_unstable();
    known.dedup();
    if known.is_empty() {
        return Err(Failure::bad(FIELD, Misfit::new("some types of events, or *", "none")));
    }
    let is_known = |name: &str| name == ALL_EVENTS || EventType::named(name).is_some();
    match known.iter().find(|name| !is_known(name)) {
        None => Ok(known),
        Some(other) => {
            let found = format!("{:?}", other.chars().take(100).collect::<String>());
            Err(Failure::bad(FIELD, Misfit::new("types of docs/EVENTS.md, or *", found)))
        }
    }
}
