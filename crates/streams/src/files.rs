//! Removes the bytes of files that are no longer visible to any user (R43): of abandoned or
//! rejected uploads, of files attached to nothing, of deleted posts and activities, of replaced
//! pictures and of deleted accounts; and of every completed upload, all but the copy that is shown.
//!
//! A file goes with its holder: the change of the holder removes the upload, and the change of the
//! upload, by any writer, removes the bytes. The bytes are removed by a job, because the media
//! store may be unavailable; the job runs a second time once the upload address has expired.

mod detached;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use data_encoding::HEXLOWER;
use roundtable_domain::limits::{MUTATION_TIME_MAX, UPLOAD_GRACE};
use roundtable_domain::{Context, MediaStore, MediaStoreError};
use roundtable_model::entities::{Activity, Holder, Job, Post, ProfileActivity, Upload, User};
use roundtable_model::{Entity, JobId, MediaKey, ProcessorName, Queue, Time, UploadState, UserId};
use serde::{Deserialize, Serialize};

use self::detached::detached_files;
use crate::jobs::{JobHandler, PageOutcome, job_due_at, new_job};
use crate::processor::{Batch, Effects, Images, Processor, entity_type};
use crate::reads::read_all;
use crate::{Delivery, Result};

const QUEUE: Queue = Queue::from_static("files");
const FILES_AT_ONCE: usize = 10;
/// Bytes of a file's key in the id of its job. They are random already.
const JOB_ID_BYTES: usize = 16;
/// The cursor of a job that has removed the bytes once.
const SECOND_PASS: &str = "again";
/// The minimum time between both passes. A request that was about to copy the upload has ended by
/// then.
const SETTLE: Duration = MUTATION_TIME_MAX.saturating_add(Duration::from_secs(5));
/// The delays before an unavailable media store is tried again.
const RETRY_MIN: Duration = Duration::from_secs(10);
const RETRY_MAX: Duration = Duration::from_mins(10);

/// The processor that detects files no longer visible to any user.
#[derive(Clone, Debug)]
pub struct UnusedFileDetector {
    context: Context,
}

/// Removes the bytes of files.
#[derive(Clone, Debug)]
pub struct FileRemover {
    context: Context,
    store: Arc<dyn MediaStore>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct FileRemovalJob {
    key: String,
    /// The copy to keep, if any.
    #[serde(rename = "but", default)]
    kept_copy: Option<String>,
    /// The time after which no bytes can be uploaded, in milliseconds since 1970.
    closed_ms: u64,
}

impl UnusedFileDetector {
    pub const NAME: ProcessorName = ProcessorName::from_static("files");

    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Returns the job for a changed upload: a removed upload loses all its bytes, a completed one
    /// all but the copy that is shown.
    fn job(&self, images: Images<Upload>, due: Time) -> Result<Option<Job>> {
        let (kind, upload, kept_copy) = match images {
            Images { old: Some(old), new: None } => ("file", old, None),
            Images { old, new: Some(new) }
                if new.state == UploadState::Complete
                    && old.as_ref().is_none_or(|old| old.state != UploadState::Complete) =>
            {
                let kept_copy = new.copy.clone();
                ("sent", new, kept_copy)
            }
            Images { .. } => return Ok(None),
        };
        let upload_time = Duration::from_secs(self.context.settings().media.upload_seconds);
        let closed = u64::try_from((upload_time + UPLOAD_GRACE).as_millis()).unwrap_or(u64::MAX);
        let closed_ms = upload.created_at.plus_ms(closed).ms();
        let removal = FileRemovalJob { key: upload.key.to_string(), kept_copy, closed_ms };
        new_job(QUEUE, job_id(kind, &upload.key)?, due, &removal).map(Some)
    }
}

/// Returns a distinct id for each file. A key can contain characters that an id must not.
fn job_id(kind: &str, key: &MediaKey) -> Result<JobId> {
    let text = key.as_str().as_bytes();
    let end = text.get(text.len().saturating_sub(JOB_ID_BYTES)..).unwrap_or(text);
    Ok(format!("{kind}-{}", HEXLOWER.encode(end)).parse()?)
}

#[async_trait]
impl Processor for UnusedFileDetector {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const {
            &[
                Upload::SHAPE.name,
                Post::SHAPE.name,
                Activity::SHAPE.name,
                ProfileActivity::SHAPE.name,
                User::SHAPE.name,
            ]
        }
    }

    /// Deleted entities stay deleted.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        let mut released: BTreeMap<(UserId, MediaKey), Vec<Holder>> = BTreeMap::new();
        let mut jobs: BTreeMap<JobId, Job> = BTreeMap::new();
        for change in batch.changes {
            if entity_type(change) != Some(Upload::SHAPE.name) {
                for file in detached_files(change)? {
                    released.entry((file.owner, file.key)).or_default().push(file.holder);
                }
                continue;
            }
            let due = job_due_at(change, &self.context);
            if let Some(job) = self.job(Images::of(change)?, due)? {
                jobs.entry(job.id.clone()).or_insert(job);
            }
        }
        for job in jobs.values() {
            effects.write(self.context.ops().table(), job.put());
        }
        let core = self.context.core().table();
        let keys =
            released.keys().map(|(user, key)| ((user.clone(), key.clone()), Upload::at(user, key)));
        let uploads: HashMap<_, Upload> = read_all(core, keys).await?;
        for (key, upload) in uploads {
            let Some(holder) = &upload.holder else { continue };
            // A holder may have shown another holder's file, as a share does.
            if released.get(&key).is_some_and(|holders| holders.contains(holder)) {
                let same = Upload::HOLDER.is(&upload.holder);
                effects.write(core, upload.key().delete().when(same));
            }
        }
        Ok(effects)
    }
}

impl FileRemover {
    pub const fn new(context: Context, store: Arc<dyn MediaStore>) -> Self {
        Self { context, store }
    }

    async fn remove_bytes(
        &self,
        key: &MediaKey,
        kept_copy: Option<&str>,
    ) -> Result<(), MediaStoreError> {
        match kept_copy {
            Some(copy) => self.store.remove_others(key, copy).await,
            None => self.store.remove(key).await,
        }
    }
}

#[async_trait]
impl JobHandler for FileRemover {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        FILES_AT_ONCE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let removal: FileRemovalJob = job.payload.decode()?;
        let (key, now) = (removal.key.parse()?, self.context.now());
        if let Err(error) = self.remove_bytes(&key, removal.kept_copy.as_deref()).await {
            // No user waits for the removal, and the store will return, so there is nothing to
            // park. The longer it takes, the less often it is tried.
            tracing::warn!(%error, "cannot remove the bytes of a file; retrying later");
            let waited = Duration::from_millis(now.ms().saturating_sub(job.created_at.ms()));
            let wait = (waited / 2).clamp(RETRY_MIN, RETRY_MAX);
            return Ok(PageOutcome::ContinueLater(job.cursor.clone().unwrap_or_default(), wait));
        }
        if job.cursor.as_deref() == Some(SECOND_PASS) {
            return Ok(PageOutcome::Done);
        }
        let open = Duration::from_millis(removal.closed_ms.saturating_sub(now.ms()));
        Ok(PageOutcome::ContinueLater(SECOND_PASS.into(), open.max(SETTLE)))
    }
}
