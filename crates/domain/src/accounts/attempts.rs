//! Sign-in attempts, counted by account and network in a table of their own (R5).
//!
//! Strangers, who present no token of a device, are counted three times: by network, by account and
//! network, and by account. So one network cannot lock an account for others, and an attacker with many
//! networks is limited all the same. A device that the user has signed in on has a count of its own, and
//! so has a user who is signed in and repeats the password: strangers cannot lock either of them.
//!
//! An attempt is counted before its password is checked, so parallel attempts get no more guesses
//! than sequential ones. Success takes the count back. The last failures before a limit are each followed
//! by a pause that doubles, and the failure that reaches the limit by a lock. Attempts during a pause or
//! lock are refused with the time that is left, without waiting and without being counted, so an attacker
//! cannot prolong them.

mod counter;

use std::net::IpAddr;

use futures::future::try_join_all;
use roundtable_model::entities::Device;
use roundtable_model::{LoginKey, LoginName, UserId};

use self::counter::{AttemptCounter, AttemptLimit};
use crate::rate_limiter::network;
use crate::{Context, ServiceError};

/// The origin of an attempt, which decides with whose failures it is counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum AttemptOrigin<'a> {
    /// A client that presents no device token; without an address it is in this process.
    Stranger { account: &'a LoginName, address: Option<IpAddr> },
    /// A device that the user has signed in on before.
    KnownDevice(&'a Device),
    /// A user who is signed in and repeats the password.
    SignedIn(&'a UserId),
}

/// A counted sign-in attempt whose password has not been checked yet.
#[derive(Debug)]
pub(super) struct PendingLogin(Vec<AttemptCounter>);

/// Counts an attempt, or refuses it during a pause or lock.
pub(super) async fn begin(
    context: &Context,
    origin: AttemptOrigin<'_>,
) -> Result<PendingLogin, ServiceError> {
    let mut counted = PendingLogin(Vec::new());
    for limit in limits(context, origin) {
        match AttemptCounter::increment(context, limit).await {
            Ok(counter) => counted.0.push(counter),
            Err(refused) => {
                counted.take_back(context).await?;
                return Err(refused);
            }
        }
    }
    Ok(counted)
}

/// The limits that apply to an attempt. The widest comes first: what a locked network tries is not
/// counted against an account.
fn limits(context: &Context, origin: AttemptOrigin<'_>) -> Vec<AttemptLimit> {
    let login = &context.settings().login;
    let own = |kind, subject| AttemptLimit {
        kind,
        subject,
        failures_max: login.account_failures_max,
        is_shared: false,
    };
    let shared =
        |kind, subject, failures_max| AttemptLimit { kind, subject, failures_max, is_shared: true };
    match origin {
        AttemptOrigin::KnownDevice(device) => {
            vec![own(LoginKey::Device, (&device.user_id, &device.id).into())]
        }
        AttemptOrigin::SignedIn(user) => vec![own(LoginKey::User, user.into())],
        AttemptOrigin::Stranger { account, address } => {
            let network = address.map(network);
            let from_network = network
                .map(|network| shared(LoginKey::Ip, network.into(), login.address_failures_max));
            let pair = own(LoginKey::EmailFromIp, (account, network).into());
            let total = shared(LoginKey::Email, account.clone(), login.account_strangers_max);
            from_network.into_iter().chain([pair, total]).collect()
        }
    }
}

impl PendingLogin {
    /// Clears the count of the client's own failures, and takes this attempt off shared counts.
    pub(super) async fn succeeded(self, context: &Context) -> Result<(), ServiceError> {
        try_join_all(self.0.iter().map(|counter| counter.succeeded(context))).await?;
        Ok(())
    }

    /// Pauses or locks where the failures are many.
    pub(super) async fn failed(self, context: &Context) -> Result<(), ServiceError> {
        try_join_all(self.0.iter().map(|counter| counter.failed(context))).await?;
        Ok(())
    }

    async fn take_back(self, context: &Context) -> Result<(), ServiceError> {
        try_join_all(self.0.iter().map(|counter| counter.decrement(context))).await?;
        Ok(())
    }
}
