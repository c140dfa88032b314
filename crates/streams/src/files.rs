//! Takes the bytes of files away that nobody can see any more (R43): of uploads that were given up or
//! refused, of what became part of nothing, of deleted posts and activities, of pictures that were
//! replaced, and of whoever has gone; and of every file that has arrived, all but the copy that is shown.
//!
//! A file goes with what it belongs to: the change of that takes the upload away, and the upload's own
//! change its bytes, whoever made it. The bytes are a job, because their store may be away; and it looks
//! a second time, when the address that the file was sent to is good no more.

mod dropped;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use data_encoding::HEXLOWER;
use roundtable_domain::limits::{MUTATION_TIME_MAX, UPLOAD_GRACE};
use roundtable_domain::{Ground, MediaStore, MediaStoreError};
use roundtable_model::entities::{Activity, Holder, Job, Post, Upload, User};
use roundtable_model::{
    Entity, JobId, MediaKey, Processor as Name, Queue, Time, UploadState, UserId,
};
use serde::{Deserialize, Serialize};

use self::dropped::dropped;
use crate::jobs::{Next, Work, happened, job};
use crate::processor::{Batch, Effects, Images, Processor, entity};
use crate::reads::read_all;
use crate::{Delivery, Failure};

/// Where its jobs are.
const QUEUE: Queue = Queue::named("files");
/// Files taken away at the same time.
const FILES_AT_ONCE: usize = 10;
/// Bytes of a file's name in the name of its job: they are chance already.
const JOB_NAME_BYTES: usize = 16;
/// The cursor of a job that has looked once.
const AGAIN: &str = "again";
/// Between two looks at least: whoever was about to copy what has arrived has ended by then.
const SETTLE: Duration = MUTATION_TIME_MAX.saturating_add(Duration::from_secs(5));
/// After which time a store that is away is asked again, at first and later.
const AWAY_MIN: Duration = Duration::from_secs(10);
const AWAY_MAX: Duration = Duration::from_mins(10);

/// Notices which files nobody can see any more.
#[derive(Clone, Debug)]
pub struct Files {
    ground: Ground,
}

/// Takes their bytes away.
#[derive(Clone, Debug)]
pub struct FileRemoval {
    ground: Ground,
    store: Arc<dyn MediaStore>,
}

/// Bytes to be taken away.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Gone {
    key: String,
    /// The copy that stays, if any does.
    #[serde(default)]
    but: Option<String>,
    /// When nothing can be sent any more, in milliseconds since 1970.
    closed_ms: u64,
}

impl Files {
    /// What it is called.
    pub const NAME: Name = Name::named("files");

    /// The files of this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// The job that follows from the change of an upload: one that is gone takes all its bytes with it,
    /// and one that has arrived all but the copy that is shown.
    fn job(&self, images: Images<Upload>, due: Time) -> Result<Option<Job>, Failure> {
        let (kind, upload, but) = match images {
            Images { old: Some(old), new: None } => ("file", old, None),
            Images { old, new: Some(new) }
                if new.state == UploadState::Complete
                    && old.as_ref().is_none_or(|old| old.state != UploadState::Complete) =>
            {
                let but = new.copy.clone();
                ("sent", new, but)
            }
            Images { .. } => return Ok(None),
        };
        let lasting = Duration::from_secs(self.ground.settings().media.upload_seconds);
        let closed = u64::try_from((lasting + UPLOAD_GRACE).as_millis()).unwrap_or(u64::MAX);
        let closed_ms = upload.created_at.plus_ms(closed).ms();
        let gone = Gone { key: upload.key.to_string(), but, closed_ms };
        job(QUEUE, job_id(kind, &upload.key)?, due, &gone).map(Some)
    }
}

/// Two files have different jobs. A key can have signs in it that an id must not.
fn job_id(kind: &str, key: &MediaKey) -> Result<JobId, Failure> {
    let text = key.as_str().as_bytes();
    let end = text.get(text.len().saturating_sub(JOB_NAME_BYTES)..).unwrap_or(text);
    Ok(format!("{kind}-{}", HEXLOWER.encode(end)).parse()?)
}

#[async_trait]
impl Processor for Files {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[Upload::SHAPE.name, Post::SHAPE.name, Activity::SHAPE.name, User::SHAPE.name] }
    }

    /// What was deleted stays deleted.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects, Failure> {
        let mut effects = Effects::none();
        if batch.delivery == Delivery::PassedOver {
            return Ok(effects);
        }
        let mut let_go: BTreeMap<(UserId, MediaKey), Vec<Holder>> = BTreeMap::new();
        let mut asked: BTreeMap<JobId, Job> = BTreeMap::new();
        for change in batch.changes {
            if entity(change) != Some(Upload::SHAPE.name) {
                for file in dropped(change)? {
                    let_go.entry((file.owner, file.key)).or_default().push(file.holder);
                }
                continue;
            }
            let due = happened(change, &self.ground);
            if let Some(job) = self.job(Images::of(change)?, due)? {
                asked.entry(job.id.clone()).or_insert(job);
            }
        }
        for job in asked.values() {
            effects.write(self.ground.ops().table(), job.put());
        }
        let core = self.ground.core().table();
        let places =
            let_go.keys().map(|(user, key)| ((user.clone(), key.clone()), Upload::at(user, key)));
        let uploads: HashMap<_, Upload> = read_all(core, places).await?;
        for (place, upload) in uploads {
            let Some(holder) = &upload.holder else { continue };
            // What it belongs to may have shown a file of something else, as a share does.
            if let_go.get(&place).is_some_and(|holders| holders.contains(holder)) {
                let same = Upload::HOLDER.is(&upload.holder);
                effects.write(core, upload.key().delete().when(same));
            }
        }
        Ok(effects)
    }
}

impl FileRemoval {
    /// The files of this ground, with their bytes in this store.
    pub const fn new(ground: Ground, store: Arc<dyn MediaStore>) -> Self {
        Self { ground, store }
    }

    /// Takes bytes away.
    async fn clear(&self, key: &MediaKey, but: Option<&str>) -> Result<(), MediaStoreError> {
        match but {
            Some(copy) => self.store.tidy(key, copy).await,
            None => self.store.remove(key).await,
        }
    }
}

#[async_trait]
impl Work for FileRemoval {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        FILES_AT_ONCE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        let gone: Gone = job.payload.to()?;
        let (key, now) = (gone.key.parse()?, self.ground.now());
        if let Err(error) = self.clear(&key, gone.but.as_deref()).await {
            // Nobody waits for it, and it comes back some time: there is nothing to park. The longer it
            // takes, the less often it is asked.
            tracing::warn!(%error, "the bytes of a file stay for now");
            let waited = Duration::from_millis(now.ms().saturating_sub(job.created_at.ms()));
            let wait = (waited / 2).clamp(AWAY_MIN, AWAY_MAX);
            return Ok(Next::Later(job.cursor.clone().unwrap_or_default(), wait));
        }
        if job.cursor.as_deref() == Some(AGAIN) {
            return Ok(Next::Done);
        }
        let open = Duration::from_millis(gone.closed_ms.saturating_sub(now.ms()));
        Ok(Next::Later(AGAIN.into(), open.max(SETTLE)))
    }
}
