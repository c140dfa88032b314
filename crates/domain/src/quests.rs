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
use roundtable_model::entities::Quest;
use roundtable_model::{Entity, InvalidValue, QuestId, QuestStatus, RequestId, Tag, Time, UserId};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, require};
use crate::account::active_account_check;
use crate::idempotency::RemovedEntity;
use crate::limits::QUESTS_ACTIVE_MAX;
use crate::mutation::{Attempt, AttemptOutcome};
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
        let mutation = self.context.mutation(caller).await?;
        require(Permission::CreateQuest, Relations::SIGNED_IN)?;
        let new = input.checked(&self.context.settings().quests)?;
        mutation
            .once("createQuest", input, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let now = self.context.now();
                check_deadline(new.deadline, now)?;
                // Concurrent requests may exceed the limit slightly, which is harmless.
                if self.active(&me.id).await?.len() >= QUESTS_ACTIVE_MAX {
                    return Err(QuestError::TooMany);
                }
                let links = self.link_checks(&me.id, &new).await?;
                let quest = new.quest(&me.id, self.context.ids().next(), now);
                attempt
                    .commit()
                    .with("user", active_account_check(&me.id))
                    .with_all("link", links)
                    .with("quest", quest.create())
                    .with_all("tag", tags::of(&self.context, &quest))
                    .finish(QuestOutcome::of(&quest), quest)
                    .await
            })
            .await
    }

    /// Cancels the caller's own quest. Its progress stays as it is.
    pub async fn cancel(
        &self,
        caller: &Caller,
        quest: &QuestId,
        request: Option<&RequestId>,
    ) -> Result<Quest, QuestError> {
        let mutation = self.context.mutation(caller).await?;
        require(Permission::CancelQuest, Relations::SIGNED_IN | Relations::OWNER)?;
        mutation
            .once("cancelQuest", quest, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| self.try_cancel(&me.id, quest, attempt).await)
            .await
    }

    async fn try_cancel(
        &self,
        me: &UserId,
        id: &QuestId,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Quest>, QuestError> {
        let quest = self.quest(me, id).await?.ok_or(QuestError::NoSuchQuest)?;
        let outcome = QuestOutcome::of(&quest);
        match quest.status {
            QuestStatus::Completed => return Err(QuestError::AlreadyCompleted),
            QuestStatus::Cancelled => return attempt.unchanged(outcome, quest).await,
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
        attempt.commit().with("quest", patch).finish(outcome, cancelled).await
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
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::DeleteQuest)?;
        mutation
            .once("deleteQuest", &(owner, quest), request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |_, attempt| {
                let found = self.quest(owner, quest).await?;
                let found = found.ok_or(QuestError::NoSuchQuest)?;
                // A replay returns which quest it was, without its content.
                let (description, tags) = (None, Vec::<Tag>::new());
                let removed = RemovedEntity(Quest { description, tags, ..found.clone() });
                let entry = audit::entry(&self.context, Some(caller), "deleteQuest", quest, None);
                attempt
                    .commit()
                    .with("quest", found.key().delete())
                    .with("staff", staff.role_check())
                    .with("audit", entry)
                    .finish(QuestOutcome::Deleted(Box::new(removed)), found)
                    .await
            })
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
