//! Tells endpoints outside what happens (R32, R44): turns changes of facts into domain events, and lets
//! them wait for each endpoint that asked for them.
//!
//! What waits says what happened to what, and nothing that could have to be hidden: texts are looked up
//! when an event is sent, as somebody sees them who is not signed in (I9). It waits in a queue of the
//! endpoint's own, in the order it happened, and one [errand](Errand) sends it, a page at a time. How far
//! it has come is written on what waits, and not on the errand: any other can go on with it.

mod body;
mod delivery;
mod parcel;
mod replay;
mod turns;
mod waiting;
mod watch;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{Deliver, Errand, Ground, Webhooks};
use roundtable_model::entities::Job;
use roundtable_model::table::Change;
use roundtable_model::{Entity, Json, Processor as Name, Shard};

use self::body::Bodies;
use self::turns::Turns;
use self::watch::{ENTITIES, Happened};
use crate::jobs::{Next, Work, happened};
use crate::processor::{Batch, Effects, Processor};
use crate::{Delivery, Failure};

/// Endpoints that are sent to at the same time: every one there may be, so that none waits for another,
/// and a few errands beside.
const ERRANDS_AT_ONCE: usize = 24;

const _: () = assert!(ERRANDS_AT_ONCE > roundtable_domain::limits::WEBHOOKS_MAX);
// What waits, and an errand, for each of them, in one transaction.
const _: () = assert!(2 * roundtable_domain::limits::WEBHOOKS_MAX < 99);

/// Notices what endpoints want to hear of, and lets it wait for them.
#[derive(Clone, Debug)]
pub struct EventWatch {
    ground: Ground,
}

impl EventWatch {
    /// What it is called.
    pub const NAME: Name = Name::named("events");

    /// What happens on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }
}

/// Tells endpoints what happens.
#[derive(Clone)]
pub struct Events {
    ground: Ground,
    webhooks: Webhooks,
    bodies: Bodies,
    deliver: Arc<dyn Deliver>,
    turns: Turns,
}

impl Events {
    /// The events of this ground, brought by somebody.
    pub fn new(ground: Ground, deliver: Arc<dyn Deliver>) -> Self {
        Self {
            webhooks: Webhooks::new(ground.clone()),
            bodies: Bodies::new(&ground),
            turns: Turns::default(),
            ground,
            deliver,
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("ground", &self.ground).finish_non_exhaustive()
    }
}

#[async_trait]
impl Processor for EventWatch {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        ENTITIES
    }

    /// Each event stands for itself.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        let found: Vec<(&Change, Happened)> = batch
            .changes
            .iter()
            .filter_map(|change| Happened::of(change).map(|event| (change, event)))
            .collect();
        let Some((first, _)) = found.first() else { return Ok(effects) };
        let due = happened(first, &self.ground);
        let ops = self.ground.ops().table();
        for webhook in self.ground.ops().webhooks().all().await? {
            let wanted = found.iter().filter(|(_, event)| waiting::is_for(&webhook, event));
            let wanted: Vec<&(&Change, Happened)> = wanted.collect();
            if let Some((first, _)) = wanted.first() {
                let events: Vec<&Happened> = wanted.iter().map(|(_, event)| event).collect();
                let (parcel, errand) = waiting::parcel(&webhook.id, first, due, &events, None)?;
                // Nothing waits without somebody to come for it.
                effects.together([(ops, parcel.put().into()), (ops, errand.put().into())]);
            }
        }
        Ok(effects)
    }
}

#[async_trait]
impl Work for Events {
    fn queue(&self) -> roundtable_model::Queue {
        Errand::QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        ERRANDS_AT_ONCE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        match job.payload.to()? {
            Errand::Deliver { webhook } => self.send(&webhook, job).await,
            Errand::Replay { webhook, from } => self.replay(&webhook, from, job).await,
            Errand::Resend { webhook, parcel, happened, events } => {
                let waits = Job {
                    queue: waiting::queue(&webhook)?,
                    shard: Shard::ZERO,
                    due_at: happened,
                    id: parcel,
                    payload: Json::of(&events)?,
                    ..job.clone()
                };
                self.resend(&webhook, &Job { attempts: 0, ..waits }, job).await
            }
        }
    }
}
