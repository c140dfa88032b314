//! Mutes: a user hides another from their home feed and notifications, for good or until a time. The muted
//! user notices nothing.

mod reads;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Follow, Mute};
use roundtable_model::table::{Delete, Write};
use roundtable_model::{Entity, InvalidValue, RequestId, Time, UserId};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::account::active_account_check;
use crate::circle::raise_circle_version;
use crate::idempotency::RemovedEntity;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, Context, ServiceError, refusals};

refusals! {
    MuteError {
        Yourself: BadRequest = "you cannot mute yourself",
        NoSuchUser: NotFound = "there is no such user",
        NotMuted: NotFound = "you have not muted this user",
    }
}

/// The mute service. Circles apply mutes to feeds, and the notification service to notifications.
#[derive(Clone, Debug)]
pub struct Mutes {
    context: Context,
}

#[derive(Debug, Serialize, Deserialize)]
enum MuteOutcome {
    Muted(UserId),
    Removed(RemovedEntity<Mute>),
}

#[boxed]
impl Mutes {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Mutes a user, followed or not, until a time if there is one. Repeating it replaces the end.
    pub async fn mute(
        &self,
        caller: &Caller,
        user: &UserId,
        until: Option<Time>,
        request: Option<&RequestId>,
    ) -> Result<Mute, MuteError> {
        let mutation = self.context.mutation(caller).await?;
        if mutation.account.id == *user {
            return Err(MuteError::Yourself);
        }
        mutation
            .once("muteUser", &(user, until), request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let now = self.context.now();
                if let Some(past) = until.filter(|until| *until <= now) {
                    let invalid = InvalidValue::new("a time in the future", past);
                    return Err(ServiceError::bad_input("until", invalid).into());
                }
                let access = self.context.viewer_access_of(caller, &me, [user], []).await?;
                let relations = Relations::SIGNED_IN
                    .with_if(access.addressable(user).is_some(), Relations::CAN_SEE);
                if !allows(Permission::Mute, relations) {
                    return Err(MuteError::NoSuchUser);
                }
                let mute = Mute::new(&me.id, user, until, now);
                let earlier = access.follow_of(user).filter(|edge| edge.muted);
                attempt
                    .commit()
                    .with("mute", mute.put())
                    .with_all("edge", earlier.map(without_earlier_mute))
                    .with("user", active_account_check(user))
                    .with("circle", raise_circle_version(&me.id, 0, now))
                    .finish(MuteOutcome::Muted(user.clone()), mute)
                    .await
            })
            .await
    }

    /// Ends a mute and returns it.
    pub async fn unmute(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Mute, MuteError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("unmuteUser", user, request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let mute = self.find(&me.id, user).await?.ok_or(MuteError::NotMuted)?;
                self.remove(mute, attempt).await
            })
            .await
    }

    async fn remove(
        &self,
        mute: Mute,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Mute>, MuteError> {
        let edge = self.context.core().follows(&mute.muter_id, &mute.muted_id).get().await?;
        let earlier = edge.filter(|edge| edge.muted);
        let now = self.context.now();
        attempt
            .commit()
            .with("mute", Delete::new(mute.key()))
            .with_all("edge", earlier.as_ref().map(without_earlier_mute))
            .with("circle", raise_circle_version(&mute.muter_id, 0, now))
            .finish(MuteOutcome::Removed(RemovedEntity(mute.clone())), mute)
            .await
    }

    /// Returns a mute in force.
    async fn find(&self, muter: &UserId, muted: &UserId) -> Result<Option<Mute>, ServiceError> {
        let found = self.context.mutes_in_force(muter, std::slice::from_ref(muted)).await?;
        Ok(found.into_iter().next().flatten())
    }

    /// Returns the mute as it is now; a removed one as it was.
    async fn replayed(&self, me: &UserId, outcome: MuteOutcome) -> Result<Mute, MuteError> {
        match outcome {
            MuteOutcome::Removed(RemovedEntity(mute)) => Ok(mute),
            MuteOutcome::Muted(user) => self.find(me, &user).await?.ok_or(MuteError::NotMuted),
        }
    }
}

/// The writes that mute a followee without an end, or end every mute of the followee: what the setting of a
/// follow means.
pub(crate) fn mute_of_followee(edge: &Follow, muted: bool, now: Time) -> Write {
    let Follow { follower_id, followee_id, .. } = edge;
    if muted {
        Mute::new(follower_id, followee_id, None, now).put().into()
    } else {
        Delete::new(Mute::at(follower_id, followee_id)).into()
    }
}

/// The write that ends a mute which an earlier version stored in the follow.
fn without_earlier_mute(edge: &Follow) -> Write {
    edge.key().patch().set(Follow::MUTED, &false).into()
}
