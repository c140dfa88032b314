//! Quests: challenges with a reward (R11), created, cancelled and, by admins, deleted. Progress,
//! completion and expiry are in `quests/progress`; after its creation only a quest's status and
//! progress change.

mod counting;
mod input;
mod links;
mod progress;
mod reads;
mod scan;
mod subjects;
mod tags;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Quest, User};
use roundtable_model::{
    Entity, InvalidValue, QuestId, QuestStatus, RequestId, Tag, Time, UserId, UserStatus,
};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::accounts::staff::StaffMember;
use crate::idempotency::{AttemptOutcome, IdempotentRequest, RemovedEntity};
use crate::limits::QUESTS_ACTIVE_MAX;
use crate::{Caller, Context, ServiceError, audit, refusals};

pub use counting::QuestSubject;
pub use input::NewQuest;
pub use reads::QuestFilter;

refusals! {
    QuestError {
        NoSuchQuest: NotFound = "there is no such quest",
        NoSuchLink: NotFound = "there is no such goal or task of yours",
        AlreadyCompleted: Conflict = "a completed quest cannot be cancelled",
        TooMany: Conflict = "too many quests are active; complete or cancel one first",
    }
}

#[derive(Clone, Debug)]
pub struct Quests {
    context: Context,
}

#[derive(Debug, Serialize, Deserialize)]
enum QuestOutcome {
    Quest { user: UserId, id: QuestId },
    Deleted(Box<RemovedEntity<Quest>>),
}

#[boxed]
impl Quests {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Creates a quest. Every linked goal and task must be the caller's.
    pub async fn create(
        &self,
        caller: &Caller,
        input: &NewQuest,
        request: Option<&RequestId>,
    ) -> Result<Quest, QuestError> {
        let me = self.context.authorize_write(caller).await?.id;
        if !allows(Permission::CreateQuest, Relations::SIGNED_IN) {
            return Err(ServiceError::Forbidden.into());
        }
        let new = input.checked(&self.context.settings().quests)?;
        let request = self.context.idempotent_request(&me, request, "createQuest", input)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: QuestOutcome| self.replayed(outcome).await,
                async || {
                    let now = self.context.now();
                    check_deadline(new.deadline, now)?;
                    // Concurrent requests may exceed the limit slightly, which is harmless.
                    if self.active(&me).await?.len() >= QUESTS_ACTIVE_MAX {
                        return Err(QuestError::TooMany);
                    }
                    let links = self.link_checks(&me, &new).await?;
                    let quest = new.quest(&me, self.context.ids().next(), now);
                    let is_active = User::at(&me).check(User::STATUS.is(&UserStatus::Active));
                    let commit = self
                        .context
                        .commit()
                        .with("user", is_active)
                        .with_all("link", links)
                        .with("quest", quest.create())
                        .with_all("tag", tags::of(&self.context, &quest))
                        .recording(request.as_ref(), &QuestOutcome::of(&quest))?;
                    let attempt = commit.finish(quest).await?;
                    if matches!(attempt, AttemptOutcome::Retry) {
                        // The account may be what changed.
                        self.context.authorize_read(caller).await?;
                    }
                    Ok(attempt)
                },
            )
            .await
    }

    /// Cancels the caller's own quest. Its progress stays as it is.
    pub async fn cancel(
        &self,
        caller: &Caller,
        quest: &QuestId,
        request: Option<&RequestId>,
    ) -> Result<Quest, QuestError> {
        let me = self.context.authorize_write(caller).await?.id;
        if !allows(Permission::CancelQuest, Relations::SIGNED_IN | Relations::OWNER) {
            return Err(ServiceError::Forbidden.into());
        }
        let request = self.context.idempotent_request(&me, request, "cancelQuest", quest)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: QuestOutcome| self.replayed(outcome).await,
                async || self.try_cancel(&me, quest, request.as_ref()).await,
            )
            .await
    }

    async fn try_cancel(
        &self,
        me: &UserId,
        id: &QuestId,
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<Quest>, QuestError> {
        let quest = self.quest(me, id).await?.ok_or(QuestError::NoSuchQuest)?;
        let outcome = QuestOutcome::of(&quest);
        match quest.status {
            QuestStatus::Completed => return Err(QuestError::AlreadyCompleted),
            QuestStatus::Cancelled => {
                return Ok(self.context.finish_unchanged(request, &outcome, quest).await?);
            }
            QuestStatus::Active => {}
        }
        let cancelled =
            Quest { status: QuestStatus::Cancelled, updated_at: self.context.now(), ..quest };
        // No progress may be made between the read and this write.
        let as_read = Quest::STATUS.is(&QuestStatus::Active);
        let as_read = as_read.and(Quest::PROGRESS_COUNT.is(&cancelled.progress_count));
        let patch = cancelled.key().patch();
        let patch = patch
            .set(Quest::STATUS, &cancelled.status)
            .set(Quest::UPDATED_AT, &cancelled.updated_at)
            .when(as_read);
        let commit = self.context.commit().with("quest", patch).recording(request, &outcome)?;
        Ok(commit.finish(cancelled).await?)
    }

    /// Deletes any user's quest and returns it as it was. For admins. The reward stays; the steps
    /// are removed in the background.
    pub async fn delete(
        &self,
        caller: &Caller,
        owner: &UserId,
        quest: &QuestId,
        request: Option<&RequestId>,
    ) -> Result<Quest, QuestError> {
        let me = self.context.authorize_write(caller).await?;
        let staff = StaffMember::new(caller, me);
        staff.require(Permission::DeleteQuest)?;
        let input = (owner, quest);
        let request =
            self.context.idempotent_request(&caller.user_id, request, "deleteQuest", &input)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: QuestOutcome| self.replayed(outcome).await,
                async || {
                    let found = self.quest(owner, quest).await?;
                    let found = found.ok_or(QuestError::NoSuchQuest)?;
                    // A replay returns which quest it was, without its content.
                    let (description, tags) = (None, Vec::<Tag>::new());
                    let removed = RemovedEntity(Quest { description, tags, ..found.clone() });
                    let entry =
                        audit::entry(&self.context, Some(caller), "deleteQuest", quest, None);
                    let commit = self
                        .context
                        .commit()
                        .with("quest", found.key().delete())
                        .with("staff", staff.role_check())
                        .with("audit", entry)
                        .recording(request.as_ref(), &QuestOutcome::Deleted(Box::new(removed)))?;
                    Ok(commit.finish(found).await?)
                },
            )
            .await
    }

    /// Returns the quest as it is now; a deleted one as it was.
    async fn replayed(&self, outcome: QuestOutcome) -> Result<Quest, QuestError> {
        match outcome {
            QuestOutcome::Deleted(removed) => Ok(removed.0),
            QuestOutcome::Quest { user, id } => {
                self.quest(&user, &id).await?.ok_or(QuestError::NoSuchQuest)
            }
        }
    }

    async fn quest(&self, user: &UserId, id: &QuestId) -> Result<Option<Quest>, ServiceError> {
        Ok(self.context.core().quest(user, id).get().await?)
    }
}

impl QuestOutcome {
    fn of(quest: &Quest) -> Self {
        Self::Quest { user: quest.user_id.clone(), id: quest.id.clone() }
    }
}

/// Refuses a deadline that has passed. Not checked for a replay: a quest created in time exists.
fn check_deadline(deadline: Option<Time>, now: Time) -> Result<(), ServiceError> {
    match deadline {
        Some(deadline) if deadline <= now => Err(ServiceError::bad_input(
            "deadline",
            InvalidValue::new("a time in the future", deadline),
        )),
        _ => Ok(()),
    }
}
