//! Delivers domain events to webhook endpoints (R32, R44): turns changes into events and enqueues
//! them for each endpoint that subscribed to them.
//!
//! A pending event holds its type and ids, and nothing that might have to be hidden: texts are read
//! when the event is sent, as an anonymous viewer sees them (I9). Events wait in the endpoint's own
//! queue, its outbox, in stream order, and a [`WebhookJob`] sends them a page at a time. The
//! progress is saved on the batch of events and not on the job, so that any other job can continue.

mod body;
mod delivery;
mod endpoint_locks;
mod event_batch;
mod event_sources;
mod outbox;
mod replay;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{Context, WebhookJob, WebhookSender, Webhooks, outbox_queue};
use roundtable_model::entities::Job;
use roundtable_model::table::Change;
use roundtable_model::{Entity, Json, ProcessorName, Shard};

use self::body::EventBodyBuilder;
use self::endpoint_locks::EndpointLocks;
use self::event_sources::{PendingEvent, WATCHED_ENTITIES};
use crate::jobs::{JobHandler, PageOutcome, job_due_at};
use crate::processor::{Batch, Effects, Processor};
use crate::{Delivery, Result};

/// Webhook jobs that run at the same time: one for every possible endpoint, so that none waits for
/// another, and a few more.
const JOBS_AT_ONCE: usize = 24;

const _: () = assert!(JOBS_AT_ONCE > roundtable_domain::limits::WEBHOOKS_MAX);
// A batch and a webhook job for each endpoint fit into one transaction.
const _: () = assert!(2 * roundtable_domain::limits::WEBHOOKS_MAX < 99);

/// The processor that detects events and enqueues them for the endpoints that want them.
#[derive(Clone, Debug)]
pub struct EventDetector {
    context: Context,
}

impl EventDetector {
    pub const NAME: ProcessorName = ProcessorName::from_static("events");

    pub const fn new(context: Context) -> Self {
        Self { context }
    }
}

/// Sends enqueued events to webhook endpoints.
#[derive(Clone)]
pub struct EventDelivery {
    context: Context,
    webhooks: Webhooks,
    bodies: EventBodyBuilder,
    sender: Arc<dyn WebhookSender>,
    locks: EndpointLocks,
}

impl EventDelivery {
    pub fn new(context: Context, sender: Arc<dyn WebhookSender>) -> Self {
        Self {
            webhooks: Webhooks::new(context.clone()),
            bodies: EventBodyBuilder::new(&context),
            locks: EndpointLocks::default(),
            context,
            sender,
        }
    }
}

impl fmt::Debug for EventDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventDelivery").field("context", &self.context).finish_non_exhaustive()
    }
}

#[async_trait]
impl Processor for EventDetector {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        WATCHED_ENTITIES
    }

    /// Events are independent of each other.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let found: Vec<(&Change, PendingEvent)> = batch
            .changes
            .iter()
            .filter_map(|change| PendingEvent::from_change(change).map(|event| (change, event)))
            .collect();
        let Some((first, _)) = found.first() else { return Ok(effects) };
        let due = job_due_at(first, &self.context);
        let ops = self.context.ops().table();
        for webhook in self.context.ops().webhooks().all().await? {
            let wanted = found.iter().filter(|(_, event)| outbox::is_wanted_by(&webhook, event));
            let wanted: Vec<&(&Change, PendingEvent)> = wanted.collect();
            if let Some((first, _)) = wanted.first() {
                let events: Vec<&PendingEvent> = wanted.iter().map(|(_, event)| event).collect();
                let (events_job, webhook_job) =
                    outbox::new_batch(&webhook.id, first, due, &events, None)?;
                // No batch is stored without a job to send it.
                effects.write_together([
                    (ops, events_job.put().into()),
                    (ops, webhook_job.put().into()),
                ]);
            }
        }
        Ok(effects)
    }
}

#[async_trait]
impl JobHandler for EventDelivery {
    fn queue(&self) -> roundtable_model::Queue {
        WebhookJob::QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        JOBS_AT_ONCE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        match job.payload.decode()? {
            WebhookJob::Deliver { webhook } => self.send_page(&webhook, job).await,
            WebhookJob::Replay { webhook, from } => self.replay_page(&webhook, from, job).await,
            WebhookJob::Resend { webhook, batch, happened, events } => {
                let events_job = Job {
                    queue: outbox_queue(&webhook)?,
                    shard: Shard::ZERO,
                    due_at: happened,
                    id: batch,
                    payload: Json::encode(&events)?,
                    ..job.clone()
                };
                self.resend(&webhook, &Job { attempts: 0, ..events_job }, job).await
            }
        }
    }
}
