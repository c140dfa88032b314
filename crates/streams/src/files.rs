//! Takes the bytes of files away that nobody can see any more (R43): of uploads that were given up or
//! refused, of deleted posts, and of whoever has gone.
//!
//! A file goes with its post: the post's change takes the upload away, and the upload's own change its
//! bytes, whoever made it. The bytes are a job, because their store may be away; and it looks a second
//! time, when the address that the file was sent to is good no more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use data_encoding::HEXLOWER;
use roundtable_domain::limits::UPLOAD_GRACE;
use roundtable_domain::{Ground, MediaStore};
use roundtable_model::entities::{Job, Post, Upload};
use roundtable_model::table::Change;
use roundtable_model::{Entity, JobId, MediaKey, PostId, Processor as Name, Queue, Time, UserId};
use serde::{Deserialize, Serialize};

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

/// Takes files away.
#[derive(Clone, Debug)]
pub struct Files {
    ground: Ground,
    store: Arc<dyn MediaStore>,
}

/// A file to be taken away.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Gone {
    key: String,
    /// When nothing can be sent any more, in milliseconds since 1970.
    closed_ms: u64,
}

impl Files {
    /// What it is called.
    pub const NAME: Name = Name::named("files");

    /// The files of this ground, with their bytes in this store.
    pub const fn new(ground: Ground, store: Arc<dyn MediaStore>) -> Self {
        Self { ground, store }
    }

    /// The job that takes the bytes of an upload away.
    fn job(&self, upload: &Upload, due: Time) -> Result<Job, Failure> {
        let lasting = Duration::from_secs(self.ground.settings().media.upload_seconds);
        let closed = u64::try_from((lasting + UPLOAD_GRACE).as_millis()).unwrap_or(u64::MAX);
        let gone =
            Gone { key: upload.key.to_string(), closed_ms: upload.created_at.plus_ms(closed).ms() };
        job(QUEUE, job_id(&upload.key)?, due, &gone)
    }
}

/// Two files have different jobs. A key can have signs in it that an id must not.
fn job_id(key: &MediaKey) -> Result<JobId, Failure> {
    let text = key.as_str().as_bytes();
    let end = text.get(text.len().saturating_sub(JOB_NAME_BYTES)..).unwrap_or(text);
    Ok(format!("file-{}", HEXLOWER.encode(end)).parse()?)
}

#[async_trait]
impl Processor for Files {
    fn name(&self) -> Name {
        Self::NAME
    }

    fn wants(&self) -> &'static [&'static str] {
        const { &[Upload::SHAPE.name, Post::SHAPE.name] }
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
        let mut dropped: BTreeMap<(UserId, MediaKey), PostId> = BTreeMap::new();
        let mut asked: BTreeMap<MediaKey, Job> = BTreeMap::new();
        for change in batch.changes {
            if entity(change) == Some(Post::SHAPE.name) {
                dropped.extend(dropped_by(change)?);
            } else if let Images { old: Some(upload), new: None } = Images::<Upload>::of(change)? {
                let job = self.job(&upload, happened(change, &self.ground))?;
                asked.entry(upload.key).or_insert(job);
            }
        }
        for job in asked.values() {
            effects.write(self.ground.ops().table(), job.put());
        }
        let core = self.ground.core().table();
        let places =
            dropped.keys().map(|(user, key)| ((user.clone(), key.clone()), Upload::at(user, key)));
        let uploads = read_all(core, places).await?;
        for (place, upload) in uploads {
            let post = dropped.get(&place).cloned();
            if post.is_some() && upload.post_id == post {
                let same = Upload::POST_ID.is(&post);
                effects.write(core, upload.key().delete().when(same));
            }
        }
        Ok(effects)
    }
}

#[async_trait]
impl Work for Files {
    fn queue(&self) -> Queue {
        QUEUE
    }

    fn jobs_at_once(&self) -> usize {
        FILES_AT_ONCE
    }

    async fn page(&self, job: &Job) -> Result<Next, Failure> {
        let gone: Gone = job.payload.to()?;
        let key: MediaKey = gone.key.parse()?;
        self.store.remove(&key).await.map_err(Failure::broken)?;
        let left = gone.closed_ms.saturating_sub(self.ground.now().ms());
        if left == 0 {
            return Ok(Next::Done);
        }
        Ok(Next::Later("again".into(), Duration::from_millis(left)))
    }
}

/// Whose a file was, and the post that has it no longer.
type Dropped = ((UserId, MediaKey), PostId);

/// The files that a post has no longer.
fn dropped_by(change: &Change) -> Result<Vec<Dropped>, Failure> {
    let Images { old: Some(old), new } = Images::<Post>::of(change)? else {
        return Ok(Vec::new());
    };
    let still = |key: &MediaKey| {
        new.as_ref().is_some_and(|new| new.media.iter().any(|media| media.s3_key == *key))
    };
    let keys = old.media.iter().map(|media| &media.s3_key).filter(|key| !still(key));
    Ok(keys.map(|key| ((old.author_id.clone(), key.clone()), old.id.clone())).collect())
}
