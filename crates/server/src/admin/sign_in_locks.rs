//! Commands for pauses and locks after failed sign-ins.

use roundtable_domain::Accounts;
use roundtable_model::entities::LoginAttempt;
use roundtable_model::{LoginKey, Time};
use serde::{Deserialize, Serialize};

use super::{AdminReply, AdminService, message};

const LOCKS_LISTED_MAX: usize = 500;

/// A refusal of sign-ins that is in force, for people to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInLockSummary {
    /// The clients that it refuses.
    pub refused: String,
    pub failures: u64,
    pub until: String,
}

impl SignInLockSummary {
    fn of(attempt: &LoginAttempt) -> Self {
        let subject = attempt.subject.as_str();
        let (first, second) = subject.split_once(' ').unwrap_or((subject, ""));
        let refused = match attempt.kind {
            LoginKey::Email => format!("{first}, from all devices that are not known"),
            LoginKey::Ip => format!("all accounts, from {first}"),
            LoginKey::EmailFromIp => format!("{first}, from {second}"),
            LoginKey::Device => format!("user {first}, on the known device {second}"),
            LoginKey::User => format!("user {first}, who repeats the password while signed in"),
        };
        let until = attempt.refused_until().as_ref().map(Time::to_string).unwrap_or_default();
        Self { refused, failures: attempt.count, until }
    }
}

impl AdminService {
    pub(super) async fn list_locks(&self, key: Option<&str>) -> Result<AdminReply, String> {
        let accounts = Accounts::new(self.context.clone());
        let locks = accounts.sign_in_locks(key).await.map_err(message)?;
        let first = locks.iter().take(LOCKS_LISTED_MAX).map(SignInLockSummary::of);
        Ok(AdminReply::Locks { locks: first.collect(), total: locks.len() })
    }

    pub(super) async fn clear_locks(&self, key: &str) -> Result<AdminReply, String> {
        let accounts = Accounts::new(self.context.clone());
        let counts = accounts.clear_sign_in_locks(key).await.map_err(message)?;
        Ok(AdminReply::LocksCleared { counts })
    }
}
