//! Refusals of sign-ins that are in force, for operators. They are not found by key, so each command
//! reads the whole table of failed sign-ins.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{EmailLock, LoginAttempt};
use roundtable_model::table::{Delete, Scan};
use roundtable_model::{Entity, FromItem, LoginKey, LoginName};

use super::staff::login_key;
use super::{AccountError, Accounts};
use crate::ServiceError;

/// Items read by one request to the store.
const SCAN_PAGE: usize = 500;

/// An e-mail address or network address whose failures are looked for.
struct LockFilter {
    kind: LoginKey,
    subject: LoginName,
    /// The account with the address.
    account: Option<EmailLock>,
}

#[boxed]
impl Accounts {
    /// Returns the counts because of which sign-ins are refused now; with a key, only those of an
    /// e-mail address or network address.
    pub async fn sign_in_locks(
        &self,
        key: Option<&str>,
    ) -> Result<Vec<LoginAttempt>, AccountError> {
        let filter = match key {
            Some(key) => Some(self.lock_filter(key).await?),
            None => None,
        };
        let now = self.context.now();
        let is_listed = |attempt: &LoginAttempt| {
            attempt.refused_until().is_some_and(|until| until > now)
                && filter.as_ref().is_none_or(|filter| filter.concerns(attempt))
        };
        let mut locks = self.scan_attempts(is_listed).await?;
        locks.sort_by(|one, other| {
            (one.kind, &one.subject, one.window).cmp(&(other.kind, &other.subject, other.window))
        });
        Ok(locks)
    }

    /// Forgets all failures of an e-mail address or network address, and returns how many counts that were.
    pub async fn clear_sign_in_locks(&self, key: &str) -> Result<usize, AccountError> {
        let filter = self.lock_filter(key).await?;
        let counts = self.scan_attempts(|attempt| filter.concerns(attempt)).await?;
        for count in &counts {
            let delete = Delete::new(count.key());
            self.context.logins().table().delete(delete).await.map_err(ServiceError::from)?;
        }
        Ok(counts.len())
    }

    async fn lock_filter(&self, key: &str) -> Result<LockFilter, AccountError> {
        let (kind, subject) = login_key(key)?;
        let account = match key.parse() {
            Ok(email) if kind == LoginKey::Email => {
                self.context.core().email_lock(&email).get().await?
            }
            _ => None,
        };
        Ok(LockFilter { kind, subject, account })
    }

    async fn scan_attempts(
        &self,
        is_wanted: impl Fn(&LoginAttempt) -> bool,
    ) -> Result<Vec<LoginAttempt>, ServiceError> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let scan = Scan { strong: true, ..Scan::new().limit(SCAN_PAGE).after(after) };
            let page = self.context.logins().table().scan(scan).await?;
            for item in &page.items {
                found.extend(Some(LoginAttempt::from_item(item)?).filter(&is_wanted));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(found),
            }
        }
    }
}

impl LockFilter {
    fn concerns(&self, attempt: &LoginAttempt) -> bool {
        let subject = attempt.subject.fold();
        let (account, network) = subject.rsplit_once(' ').unwrap_or((&*subject, ""));
        let wanted = self.subject.fold();
        match attempt.kind {
            LoginKey::Email | LoginKey::Ip => attempt.kind == self.kind && subject == wanted,
            LoginKey::EmailFromIp => {
                wanted == if self.kind == LoginKey::Email { account } else { network }
            }
            LoginKey::Device | LoginKey::User => self
                .account
                .as_ref()
                .is_some_and(|lock| account.eq_ignore_ascii_case(&lock.user_id.to_string())),
        }
    }
}
