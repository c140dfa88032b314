//! Gives each unique name to the one live profile that carries it, and to nobody else.

use roundtable_model::entities::{EmailLock, HandleLock, NickLock, User};
use roundtable_model::table::{Check, Delete, Get, Key, Put, Transaction, Write, attribute};
use roundtable_model::{Entity, Result, UserId};

use super::Mended;
use crate::Verify;
use crate::books::Book;
use crate::subject::Subject;

impl Verify {
    /// Looks again who carries a name, and writes the lock; all in one transaction that demands the
    /// profiles as they were looked at.
    pub(super) async fn relock(&self, subject: &Subject, users: &[UserId]) -> Result<Mended> {
        let (core, key) = (&self.tables.core, subject.key(Book::Lock));
        let lock = core.table().get(Get::new(key.clone()).strong()).await?.item;
        let owner = lock.as_ref().and_then(|lock| lock.text("userId")).map(str::to_owned);
        let mut profiles = Vec::new();
        for user in users {
            profiles.push((user, core.profile(user).strong().get().await?));
        }
        let carriers: Vec<&User> = profiles
            .iter()
            .filter_map(|(_, profile)| profile.as_ref())
            .filter(|profile| carried(profile, subject).is_some_and(|lock| lock.1 == key))
            .collect();
        let write: Write = match (&*carriers, owner) {
            ([], None) => return Ok(Mended::Done),
            ([one], Some(owner)) if one.id.to_string() == owner => return Ok(Mended::Done),
            ([], Some(owner)) => Delete::new(key).when(attribute("userId").eq(owner)).into(),
            ([one], owner) => {
                let Some((new, _)) = carried(one, subject) else { return Ok(Mended::Done) };
                match owner {
                    Some(owner) => new.when(attribute("userId").eq(owner)).into(),
                    None => new.when(roundtable_model::table::not_exists("PK")).into(),
                }
            }
            _ => return Ok(Mended::left("somebody has to decide who keeps the name")),
        };
        let transaction = profiles.iter().fold(
            Transaction::new().with(core.table(), write),
            |transaction, (user, profile)| {
                transaction.with(core.table(), as_seen(user, profile.as_ref()))
            },
        );
        core.table().store().transact(transaction).await?;
        Ok(Mended::Done)
    }
}

/// A profile is still as it was looked at.
fn as_seen(user: &UserId, profile: Option<&User>) -> Check {
    match profile {
        Some(profile) => User::at(user).check(User::VERSION.is(&profile.version)),
        None => User::at(user).absent(),
    }
}

/// The lock that a profile should have of the same kind as `subject`, and its key.
fn carried(profile: &User, subject: &Subject) -> Option<(Put, Key)> {
    if !User::named(&profile.status) {
        return None;
    }
    let (user_id, created_at) = (profile.id.clone(), profile.created_at);
    Some(match subject {
        Subject::Email(_) => {
            let lock = EmailLock { email: profile.email.clone()?, user_id, created_at };
            (lock.put(), lock.key().into_key())
        }
        Subject::Nickname(_) => {
            let lock = NickLock { nickname: profile.nickname.clone(), user_id, created_at };
            (lock.put(), lock.key().into_key())
        }
        Subject::Handle(_) => {
            let lock = HandleLock { handle: profile.handle.clone()?, user_id, created_at };
            (lock.put(), lock.key().into_key())
        }
        _ => return None,
    })
}
