//! Rewrites the locks of unique names.

use roundtable_model::entities::{EmailLock, HandleLock, NickLock, User};
use roundtable_model::table::{Check, Delete, Get, Key, Put, Transaction, Write, attribute};
use roundtable_model::{Entity, Result, UserId};

use super::RepairOutcome;
use crate::Verifier;
use crate::subject::TallySubject;
use crate::tally::TallyKind;

impl Verifier {
    /// Gives a lock to the one live profile that carries the name, or deletes it, in a transaction
    /// that requires the profiles to be unchanged.
    pub(super) async fn rewrite_lock(
        &self,
        subject: &TallySubject,
        users: &[UserId],
    ) -> Result<RepairOutcome> {
        let (core, key) = (&self.tables.core, subject.key(TallyKind::Lock));
        let lock = core.table().get(Get::new(key.clone()).strong()).await?.item;
        let owner = lock.as_ref().and_then(|lock| lock.text("userId")).map(str::to_owned);
        let mut profiles = Vec::new();
        for user in users {
            profiles.push((user, core.profile(user).strong().get().await?));
        }
        let carriers: Vec<&User> = profiles
            .iter()
            .filter_map(|(_, profile)| profile.as_ref())
            .filter(|profile| expected_lock(profile, subject).is_some_and(|lock| lock.1 == key))
            .collect();
        let write: Write = match (&*carriers, owner) {
            ([], None) => return Ok(RepairOutcome::Done),
            ([one], Some(owner)) if one.id.to_string() == owner => return Ok(RepairOutcome::Done),
            ([], Some(owner)) => Delete::new(key).when(attribute("userId").eq(owner)).into(),
            ([one], owner) => {
                let Some((new, _)) = expected_lock(one, subject) else {
                    return Ok(RepairOutcome::Done);
                };
                match owner {
                    Some(owner) => new.when(attribute("userId").eq(owner)).into(),
                    None => new.when(roundtable_model::table::not_exists("PK")).into(),
                }
            }
            _ => {
                return Ok(RepairOutcome::skipped(
                    "several users carry the name: rename all but one",
                ));
            }
        };
        let transaction = profiles.iter().fold(
            Transaction::new().with(core.table(), write),
            |transaction, (user, profile)| {
                transaction.with(core.table(), unchanged_profile(user, profile.as_ref()))
            },
        );
        core.table().store().transact(transaction).await?;
        Ok(RepairOutcome::Done)
    }
}

fn unchanged_profile(user: &UserId, profile: Option<&User>) -> Check {
    match profile {
        Some(profile) => User::at(user).check(User::VERSION.is(&profile.version)),
        None => User::at(user).absent(),
    }
}

/// The lock that a profile should have, of the same type as `subject`, and its key.
fn expected_lock(profile: &User, subject: &TallySubject) -> Option<(Put, Key)> {
    if !User::holds_names(&profile.status) {
        return None;
    }
    let (user_id, created_at) = (profile.id.clone(), profile.created_at);
    Some(match subject {
        TallySubject::Email(_) => {
            let lock =
                EmailLock { email: profile.email.clone()?, user_id, created_at, proved_at: None };
            (lock.put(), lock.key().into_key())
        }
        TallySubject::Nickname(_) => {
            let lock = NickLock { nickname: profile.nickname.clone(), user_id, created_at };
            (lock.put(), lock.key().into_key())
        }
        TallySubject::Handle(_) => {
            let lock = HandleLock { handle: profile.handle.clone()?, user_id, created_at };
            (lock.put(), lock.key().into_key())
        }
        _ => return None,
    })
}
