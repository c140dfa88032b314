//! Notifications of new posts for followers who asked for them (R54), written by a job for each post, a
//! page of followers at a time. Most authors have no such follower, and their posts enqueue no job.

use async_trait::async_trait;
use roundtable_domain::{Cause, CauseObject, Context, Notifications};
use roundtable_model::entities::{Job, Post};
use roundtable_model::{
    Entity, ModerationStatus, NotificationKind, PostId, ProcessorName, Queue, Time, Visibility,
};
use serde::{Deserialize, Serialize};

use super::many::{RECIPIENTS_AT_ONCE, notify_each};
use crate::jobs::{JobHandler, PageOutcome, job_due_at, new_job};
use crate::processor::{Batch, Effects, Images, Processor};
use crate::{Delivery, Result};

const QUEUE: Queue = Queue::from_static("new-posts");

/// The processor and job handler that notify followers of new posts.
#[derive(Clone, Debug)]
pub struct PostNotifier {
    context: Context,
    notifications: Notifications,
}

/// The payload of a job.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewPostJob {
    post_id: PostId,
}

impl PostNotifier {
    pub const NAME: ProcessorName = ProcessorName::from_static("new-posts");

    pub fn new(context: Context) -> Self {
        Self { notifications: Notifications::new(context.clone()), context }
    }

    async fn has_watchers(&self, post: &Post) -> Result<bool> {
        let watchers = self.context.core().post_watchers(&post.author_id).limit(1);
        Ok(!watchers.page().await?.items.is_empty())
    }
}

/// The time of publication of a post that followers may see; posts in groups reach their members in
/// feeds.
fn published_at(post: &Post) -> Option<Time> {
    let is_shown = !post.is_deleted
        && post.group_id.is_none()
        && post.moderation_status == ModerationStatus::Approved
        && post.visibility != Visibility::Private;
    post.published_at.filter(|_| is_shown)
}

#[async_trait]
impl Processor for PostNotifier {
    fn name(&self) -> ProcessorName {
        Self::NAME
    }

    fn entity_types(&self) -> &'static [&'static str] {
        const { &[Post::SHAPE.name] }
    }

    /// The job looks at the post as it is then.
    fn may_overtake(&self) -> bool {
        true
    }

    async fn effects(&self, batch: &Batch<'_>) -> Result<Effects> {
        let mut effects = Effects::new();
        if batch.delivery == Delivery::Skipped {
            return Ok(effects);
        }
        for change in batch.changes {
            let Images { old, new: Some(post) } = Images::<Post>::of(change)? else { continue };
            let was_published = old.as_ref().and_then(published_at).is_some();
            if was_published || published_at(&post).is_none() || !self.has_watchers(&post).await? {
                continue;
            }
            let payload = NewPostJob { post_id: post.id.clone() };
            let due_at = job_due_at(change, &self.context);
            let job = new_job(QUEUE, post.id.recast(), due_at, &payload)?;
            effects.write(self.context.ops().table(), job.put());
        }
        Ok(effects)
    }
}

#[async_trait]
impl JobHandler for PostNotifier {
    fn queue(&self) -> Queue {
        QUEUE
    }

    async fn run_page(&self, job: &Job) -> Result<PageOutcome> {
        let NewPostJob { post_id } = job.payload.decode()?;
        let core = self.context.core();
        let Some(post) = core.post(&post_id).get().await? else { return Ok(PageOutcome::Done) };
        let Some(at) = published_at(&post) else { return Ok(PageOutcome::Done) };
        let after = job.cursor.as_ref().map(|cursor| cursor.parse()).transpose()?;
        let watchers = core.post_watchers(&post.author_id).limit(RECIPIENTS_AT_ONCE).after(after);
        let page = watchers.page().await?;
        let cause = |watch: roundtable_model::entities::PostWatch| Cause {
            user: watch.follower_id,
            kind: NotificationKind::Post,
            actor: Some(post.author_id.clone()),
            about: CauseObject::Post(post.id.clone()),
            at,
        };
        let causes = page.items.into_iter().map(cause).collect();
        notify_each(&self.context, &self.notifications, causes).await?;
        Ok(page.next.map_or(PageOutcome::Done, |next| PageOutcome::Continue(next.to_string())))
    }
}
