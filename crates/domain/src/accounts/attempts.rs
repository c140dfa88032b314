//! Tries to sign in, counted by account and by address in a table of their own (R5).
//!
//! A try is counted before its password is looked at, so that no number of tries at the same time gets
//! more guesses than the same number one after the other. Success takes the count back; the failure
//! that reaches the limit locks. What is refused is not counted: nobody prolongs anybody's lock.

use std::net::IpAddr;

use roundtable_model::entities::LoginAttempt;
use roundtable_model::table::{Delete, Error, Returning, Update};
use roundtable_model::{Answer, Email, Expiry, LoginKey, LoginName, Time};

use crate::rates::network;
use crate::{Failure, Ground};

/// How long a window is kept after it has ended, for those who look at attacks.
const KEPT_MS: u64 = 24 * 60 * 60 * 1000;
/// How often a try is counted anew when others change the same count.
const ROUNDS_MAX: u32 = 8;
/// A lock can be in the window before the newest, when both were counted at the turn of the two.
const WINDOWS_READ: usize = 2;

/// A try that is under way.
#[derive(Debug)]
pub(super) struct Attempt {
    account: Counted,
    address: Option<Counted>,
}

/// One more try in a window.
#[derive(Debug)]
struct Counted {
    kind: LoginKey,
    subject: LoginName,
    window: Time,
    is_last: bool,
}

/// Counts a try, or refuses it.
pub(super) async fn begin(
    ground: &Ground,
    email: &Email,
    address: Option<IpAddr>,
) -> Result<Attempt, Failure> {
    let settings = &ground.settings().login;
    // The address comes first: one that is locked can lock nobody's account.
    let address = match address.map(network) {
        Some(address) => {
            let max = settings.address_failures_max;
            Some(Counted::one(ground, LoginKey::Ip, address.into(), max).await?)
        }
        None => None,
    };
    let max = settings.account_failures_max;
    match Counted::one(ground, LoginKey::Email, email.into(), max).await {
        Ok(account) => Ok(Attempt { account, address }),
        Err(refused) => {
            if let Some(address) = address {
                address.take_back(ground).await?;
            }
            Err(refused)
        }
    }
}

impl Attempt {
    /// The password was right: the account begins anew, and the address has one failure less.
    pub(super) async fn succeeded(self, ground: &Ground) -> Result<(), Failure> {
        ground.logins().table().delete(Delete::new(self.account.at())).await?;
        match self.address {
            Some(address) => address.take_back(ground).await,
            None => Ok(()),
        }
    }

    /// The password was wrong: whatever has had its last try is locked.
    pub(super) async fn failed(self, ground: &Ground) -> Result<(), Failure> {
        for counted in [Some(self.account), self.address].into_iter().flatten() {
            if counted.is_last {
                counted.lock(ground).await?;
            }
        }
        Ok(())
    }
}

impl Counted {
    /// Counts one more, unless there were too many.
    async fn one(
        ground: &Ground,
        kind: LoginKey,
        subject: LoginName,
        max: u64,
    ) -> Result<Self, Failure> {
        let max = max.max(1);
        for _ in 0..ROUNDS_MAX {
            let now = ground.now();
            let listing = ground.logins().login_attempts(&kind, &subject).limit(WINDOWS_READ);
            let newest = listing.page().await?.items;
            if let Some(until) = newest.iter().filter_map(|window| window.locked_until).max()
                && until > now
            {
                return Err(Failure::RateLimited { retry_after_seconds: seconds(now, until) });
            }
            let window = window_of(ground, now);
            let counted = Self { kind, subject: subject.clone(), window, is_last: false };
            let past = newest.into_iter().find(|newest| newest.window == window);
            let past = past.and_then(|window| window.locked_until);
            match counted.raise(ground, past).await? {
                Some(count) if count > max => {
                    // Others are being looked at; how they end decides whether this is locked.
                    counted.take_back(ground).await?;
                    return Err(Failure::RateLimited { retry_after_seconds: 1 });
                }
                Some(count) => return Ok(Self { is_last: count == max, ..counted }),
                None => {}
            }
        }
        Err(Failure::Busy)
    }

    /// Raises the count, and returns it; `None` when somebody has locked or unlocked it meanwhile. A
    /// lock that is over (`past`) goes, and the count begins anew.
    async fn raise(&self, ground: &Ground, past: Option<Time>) -> Result<Option<u64>, Failure> {
        let raised = LoginAttempt::upsert(&self.kind, &self.subject, &self.window)
            .set(LoginAttempt::TTL, &self.forgotten_at(ground));
        let raised = match past {
            None => raised.add(LoginAttempt::COUNT, 1).when(LoginAttempt::LOCKED_UNTIL.absent()),
            Some(until) => raised
                .set(LoginAttempt::COUNT, &1)
                .set(LoginAttempt::LOCKED_UNTIL, &None)
                .when(LoginAttempt::LOCKED_UNTIL.is(&until)),
        };
        let update: Update = raised.returning(Returning::New).into();
        match ground.logins().table().update(update).await {
            Ok(written) => {
                let attempt = written.item.as_ref().map(LoginAttempt::from_item).transpose()?;
                Ok(attempt.map(|attempt| attempt.count))
            }
            Err(Error::ConditionFailed { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Counts one less; a count that began anew has nothing to take back.
    async fn take_back(&self, ground: &Ground) -> Result<(), Failure> {
        let counted = LoginAttempt::COUNT.at_least(&1);
        let patch = self.at().patch().add(LoginAttempt::COUNT, -1).when(counted);
        unless_refused(ground.logins().table().update(patch.into()).await.map(drop))
    }

    /// Takes no more tries for a while.
    async fn lock(&self, ground: &Ground) -> Result<(), Failure> {
        let until = ground.now().plus_ms(ground.settings().login.lock_seconds.saturating_mul(1000));
        let free = LoginAttempt::LOCKED_UNTIL.absent();
        let patch = self.at().patch().set(LoginAttempt::LOCKED_UNTIL, &Some(until)).when(free);
        unless_refused(ground.logins().table().update(patch.into()).await.map(drop))
    }

    fn at(&self) -> roundtable_model::At<LoginAttempt> {
        LoginAttempt::at(&self.kind, &self.subject, &self.window)
    }

    /// Not before the window and any lock in it are over.
    fn forgotten_at(&self, ground: &Ground) -> Expiry {
        let login = &ground.settings().login;
        let open_ms = login.window_seconds.saturating_add(login.lock_seconds).saturating_mul(1000);
        Expiry::at(self.window.plus_ms(open_ms).plus_ms(KEPT_MS))
    }
}

/// When the window of a moment began.
fn window_of(ground: &Ground, now: Time) -> Time {
    let window_ms = ground.settings().login.window_seconds.max(1).saturating_mul(1000);
    now.minus_ms(now.ms() % window_ms)
}

/// Whole seconds from one moment to a later one.
fn seconds(from: Time, to: Time) -> u64 {
    to.ms().saturating_sub(from.ms()).div_ceil(1000).max(1)
}

/// What a condition refuses here was done by somebody else already.
fn unless_refused(written: roundtable_model::table::Result<()>) -> Result<(), Failure> {
    match written {
        Ok(()) | Err(Error::ConditionFailed { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
