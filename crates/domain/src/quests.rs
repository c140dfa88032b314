//! Challenges with a reward (R11): setting them, giving them up, and, for admins, taking them away. What
//! counts for them, and when they are completed or expire, is `quests/progress`; after its creation only
//! a quest's status and progress change.

mod counting;
mod found;
mod input;
mod links;
mod progress;
mod reads;
mod tags;
mod walk;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Quest, User};
use roundtable_model::{
    Entity, Misfit, QuestId, QuestStatus, RequestId, Tag, Time, UserId, UserStatus,
};
use serde::{Deserialize, Serialize};

use crate::access::{Act, Standing, allows};
use crate::accounts::staff::Official;
use crate::limits::QUESTS_ACTIVE_MAX;
use crate::once::{Kept, Request, Tried};
use crate::{Caller, Failure, Ground, audit, refusals};

pub use counting::QuestSubject;
pub use input::NewQuest;
pub use reads::QuestFilter;

refusals! {
    /// Why a quest was not made, changed or shown.
    QuestError {
        NoSuchQuest: NotFound = "there is no such quest",
        NoSuchLink: NotFound = "there is no such goal or task of yours",
        IsCompleted: Conflict = "a completed quest cannot be cancelled",
        TooMany: Conflict = "too many quests are under way; complete or cancel one first",
    }
}

/// The quests of everybody.
#[derive(Clone, Debug)]
pub struct Quests {
    ground: Ground,
}

/// What a request led to: a quest, or what is left of one that was deleted.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Quest { user: UserId, id: QuestId },
    Deleted(Box<Kept<Quest>>),
}

#[boxed]
impl Quests {
    /// The quests on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Sets a quest. Every goal and task it names must be the caller's when it comes to be.
    pub async fn create(
        &self,
        caller: &Caller,
        input: &NewQuest,
        request: Option<&RequestId>,
    ) -> Result<Quest, QuestError> {
        let me = self.ground.account(caller).await?.id;
        if !allows(Act::CreateQuest, Standing::SIGNED_IN) {
            return Err(Failure::Forbidden.into());
        }
        let new = input.checked(&self.ground.settings().quests)?;
        let request = self.ground.request(&me, request, "createQuest", input)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let now = self.ground.now();
                    is_ahead(new.deadline, now)?;
                    // Several at the same time may pass here; a few more do no harm.
                    if self.active(&me).await?.len() >= QUESTS_ACTIVE_MAX {
                        return Err(QuestError::TooMany);
                    }
                    let links = self.links(&me, &new).await?;
                    let quest = new.quest(&me, self.ground.ids().next(), now);
                    let live = User::at(&me).check(User::STATUS.is(&UserStatus::Active));
                    let commit = self
                        .ground
                        .commit()
                        .with("person", live)
                        .with_any("link", links)
                        .with("quest", quest.create())
                        .with_any("tag", tags::of(&self.ground, &quest))
                        .remembering(request.as_ref(), &Outcome::of(&quest))?;
                    let tried = commit.done(quest).await?;
                    if matches!(tried, Tried::Again) {
                        // The account may be what has changed.
                        self.ground.reader(caller).await?;
                    }
                    Ok(tried)
                },
            )
            .await
    }

    /// Gives a quest of one's own up. What has counted stays as it is, and brings nothing any more.
    pub async fn cancel(
        &self,
        caller: &Caller,
        quest: &QuestId,
        request: Option<&RequestId>,
    ) -> Result<Quest, QuestError> {
        let me = self.ground.account(caller).await?.id;
        if !allows(Act::CancelQuest, Standing::SIGNED_IN | Standing::OWNER) {
            return Err(Failure::Forbidden.into());
        }
        let request = self.ground.request(&me, request, "cancelQuest", quest)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || self.try_cancel(&me, quest, request.as_ref()).await,
            )
            .await
    }

    async fn try_cancel(
        &self,
        me: &UserId,
        id: &QuestId,
        request: Option<&Request>,
    ) -> Result<Tried<Quest>, QuestError> {
        let quest = self.quest(me, id).await?.ok_or(QuestError::NoSuchQuest)?;
        let outcome = Outcome::of(&quest);
        match quest.status {
            QuestStatus::Completed => return Err(QuestError::IsCompleted),
            QuestStatus::Cancelled => {
                return Ok(self.ground.nothing_to_do(request, &outcome, quest).await?);
            }
            QuestStatus::Active => {}
        }
        let cancelled =
            Quest { status: QuestStatus::Cancelled, updated_at: self.ground.now(), ..quest };
        // Nobody counts between this and what is answered.
        let as_read = Quest::STATUS.is(&QuestStatus::Active);
        let as_read = as_read.and(Quest::PROGRESS_COUNT.is(&cancelled.progress_count));
        let patch = cancelled.key().patch();
        let patch = patch
            .set(Quest::STATUS, &cancelled.status)
            .set(Quest::UPDATED_AT, &cancelled.updated_at)
            .when(as_read);
        let commit = self.ground.commit().with("quest", patch).remembering(request, &outcome)?;
        Ok(commit.done(cancelled).await?)
    }

    /// Takes a quest away, whosever it is; answers with it as it was. For admins. What it has earned
    /// stays earned; what counted for it is taken away in the background.
    pub async fn delete(
        &self,
        caller: &Caller,
        owner: &UserId,
        quest: &QuestId,
        request: Option<&RequestId>,
    ) -> Result<Quest, QuestError> {
        let me = self.ground.account(caller).await?;
        let official = Official::new(caller, me);
        official.may(Act::DeleteQuest)?;
        let input = (owner, quest);
        let request = self.ground.request(&caller.user_id, request, "deleteQuest", &input)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let found = self.quest(owner, quest).await?;
                    let found = found.ok_or(QuestError::NoSuchQuest)?;
                    // Sent again, the request tells which it was, and no longer what it was about.
                    let (description, tags) = (None, Vec::<Tag>::new());
                    let kept = Kept(Quest { description, tags, ..found.clone() });
                    let entry =
                        audit::entry(&self.ground, Some(caller), "deleteQuest", quest, None);
                    let commit = self
                        .ground
                        .commit()
                        .with("quest", found.key().delete())
                        .with("official", official.check_office())
                        .with("audit", entry)
                        .remembering(request.as_ref(), &Outcome::Deleted(Box::new(kept)))?;
                    Ok(commit.done(found).await?)
                },
            )
            .await
    }

    /// A quest as it is now; one that was deleted, as it was.
    async fn replayed(&self, outcome: Outcome) -> Result<Quest, QuestError> {
        match outcome {
            Outcome::Deleted(kept) => Ok(kept.0),
            Outcome::Quest { user, id } => {
                self.quest(&user, &id).await?.ok_or(QuestError::NoSuchQuest)
            }
        }
    }

    async fn quest(&self, user: &UserId, id: &QuestId) -> Result<Option<Quest>, Failure> {
        Ok(self.ground.core().quest(user, id).get().await?)
    }
}

impl Outcome {
    fn of(quest: &Quest) -> Self {
        Self::Quest { user: quest.user_id.clone(), id: quest.id.clone() }
    }
}

/// Refuses a deadline that has passed. Asked when a quest is made, and not when its request is sent
/// again: what was made in time is there.
fn is_ahead(deadline: Option<Time>, now: Time) -> Result<(), Failure> {
    match deadline {
        Some(deadline) if deadline <= now => {
            Err(Failure::bad("deadline", Misfit::new("a time to come", deadline)))
        }
        _ => Ok(()),
    }
}
