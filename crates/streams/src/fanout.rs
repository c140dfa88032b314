//! Copies what the promoted do into the feeds of their readers (R35), and cuts feeds that have become
//! too long.
//!
//! An activity that is to be copied asks for a job, which is about its home: the person who did it, or
//! the group it was done in. A job copies everything that its home has not copied yet, oldest first, to
//! every reader, and then raises the home's watermark: all activities up to it are complete. Readers rely
//! on nothing else, so a job may fail, come late or again, or be done by two workers at once. What it
//! writes is the same every time, and the watermark passes nothing that is not complete.

mod copies;
mod mark;
mod pending;
mod readers;
mod tally;
mod trim;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::Ground;
use roundtable_model::entities::{Activity, Job};
use roundtable_model::{ActorId, Entity, GroupId, JobId, Processor as Name, Queue, Time, UserId};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use self::copies::PAGES_AT_ONCE;
use self::pending::Place;
use self::tally::Tally;
use crate::jobs::{Next, Work, happened, job};
use crate::processor::{Batch, Effects, Images, Processor};
use crate::{Delivery, Failure};

/// Where its jobs are.
const QUEUE: Queue = Queue::named("fan-out");
/// Homes that are copied from at the same time: one with very many readers holds up few others.
const HOMES_AT_ONCE: usize = 4;
/// Copies of one page of a job, about: so many may be written again after a crash.
const PAGE_COPIES: usize = 50_000;
/// What one look for more costs at least, in copies: a home may have no readers at all.
const PASS_COPIES: usize = 100;
/// Activities of one home within this long ask for one job, until that is under way.
const ASKED_TOGETHER_MS: u64 = 1_000;

/// Copies activities into feeds.
#[derive(Clone, Debug)]
pub struct FanOut {
    ground: Ground,
    page_copies: usize,
    tally: Arc<Tally>,
    /// Held by every page of readers that is written to.
    turns: Arc<Semaphore>,
}

/// Where an activity lives, and whose readers it is copied to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Home {
    Person(UserId),
    Group(GroupId),
}

impl Home {
    fn of(activity: &Activity) -> Self {
        match &activity.group_id {
            Some(group) => Self::Group(group.clone()),
            None => Self::Person(activity.actor_id.clone()),
        }
    }

    fn actor(&self) -> ActorId {
        match self {
            Self::Person(id) => id.into(),
            Self::Group(id) => id.into(),
        }
    }
}

impl FanOut {
    /// What it is called.
    pub const NAME: Name = Name::named("fan-out");

    /// The fan-out of this ground.
    pub fn new(ground: Ground) -> Self {
        let turns = Arc::new(Semaphore::new(PAGES_AT_ONCE));
        Self { ground, page_copies: PAGE_COPIES, tally: Arc::default(), turns }
    }

    /// The same with pages of about so many copies: for tests.
    #[must_use]
    pub fn paged(mut self, copies: usize) -> Self {
        self.page_copies = copies;
        self
    }
}

#[async_trait]
impl Processor for FanOut {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[Activity::SHAPE.name] }
    }

    /// A job copies whatever there is to be copied.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        let mut asked: BTreeMap<(JobId, Time), Home> = BTreeMap::new();
        for change in batch.changes {
            let Images { old: None, new: Some(activity) } = Images::<Activity>::of(change)? else {
                continue;
            };
            if activity.fanout {
                let home = Home::of(&activity);
                let at_ms = happened(change, &self.ground).ms();
                let due = Time::from_ms(at_ms - at_ms % ASKED_TOGETHER_MS);
                asked.insert((home.actor().recast(), due), home);
            }
        }
        for ((id, due), home) in asked {
            effects.write(self.ground.ops().table(), job(QUEUE, id, due, &home)?.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl Work for FanOut {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        HOMES_AT_ONCE
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.tally.counts()
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        let home: Home = job.payload.to()?;
        self.tally.begun(&home);
        let mut place = job.cursor.as_deref().map(Place::read).transpose()?.flatten();
        let mut left = self.page_copies;
        // What came after this looked has a job of its own.
        while let Some(pass) = self.pass(&home, job.created_at, place.take()).await? {
            if let Some(next) = self.copy(&home, &pass, &mut left).await? {
                return Ok(Next::Page(pass.at(next).write()?));
            }
            self.raise(&home, &pass).await?;
            if pass.is_last {
                break;
            }
            left = left.saturating_sub(PASS_COPIES);
            if left == 0 {
                return Ok(Next::Page(Place::BEGIN.to_owned()));
            }
        }
        self.tally.finished(&home);
        Ok(Next::Done)
    }
}
