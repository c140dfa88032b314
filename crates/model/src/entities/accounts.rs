//! Credentials, sessions, keys and the outcomes of requests. Secrets are stored as hashes; no
//! password or token is ever stored.

use crate::{
    ApiKeyId, DeviceId, Expiry, Fields, InviteCode, IssuerName, IssuerSubject, Json, RequestCaller,
    RequestId, Secret, SessionId, Time, UserId,
};

/// The hash that a password is checked against. It never leaves the accounts service.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Credential {
    pub user_id: UserId,
    /// The argon2id hash, with its salt and parameters.
    pub password_hash: Secret,
    /// The time the first password was set.
    pub created_at: Time,
    /// The time the password was last set.
    pub updated_at: Time,
}

/// A refresh token of a signed-in device.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Session {
    pub user_id: UserId,
    pub id: SessionId,
    pub refresh_hash: Secret,
    /// The first session of this sign-in: reusing a token ends all of them.
    pub family: SessionId,
    /// The time the token was exchanged for the next one.
    pub used_at: Option<Time>,
    /// The time the token was issued.
    pub created_at: Time,
    /// The time the session expires.
    pub ttl: Expiry,
}

/// A device that its user has signed in on. Its token proves only that, and gives no access: failed
/// sign-ins of strangers are not counted against it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Device {
    pub user_id: UserId,
    pub id: DeviceId,
    pub secret_hash: Secret,
    /// The name that the client gave it.
    pub label: Option<String>,
    pub created_at: Time,
    /// The time at which the account was created on it; its user is not notified of that sign-in.
    pub signed_up_at: Option<Time>,
    /// The time of the last sign-in.
    pub used_at: Time,
    /// The time it is forgotten if it is not used.
    pub ttl: Expiry,
}

/// A person as an external issuer identifies them, linked to an account.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Identity {
    pub issuer: IssuerName,
    /// The issuer's id of the person.
    pub subject: IssuerSubject,
    pub user_id: UserId,
    pub created_at: Time,
}

/// A code that lets new users sign up.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Invitation {
    pub code: InviteCode,
    pub inviter_id: UserId,
    /// The inviter again, for the list of their invitations; absent from earlier versions, whose invitations are not.
    pub listed_for: Option<UserId>,
    /// The number of users who can still sign up with it.
    pub uses_left: u64,
    pub created_at: Time,
    /// The time it expires; absent if it does not.
    pub ttl: Option<Expiry>,
}

/// A key for programs. Its text carries `user_id`, `id` and the secret behind the hash.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct ApiKey {
    /// The user it acts for.
    pub user_id: UserId,
    pub id: ApiKeyId,
    /// The name its owner gave it.
    pub name: String,
    /// The beginning of its text, to recognize it by.
    pub prefix: String,
    pub secret_hash: Secret,
    /// The operations it permits.
    pub scopes: Vec<String>,
    pub created_at: Time,
    /// The time it expires; absent if it does not.
    pub ttl: Option<Expiry>,
}

/// The outcome of a request, so that repeating the request has no further effect.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Idempotency {
    pub caller: RequestCaller,
    /// The caller's id for the request.
    pub request_id: RequestId,
    /// A keyed hash of the input without its secrets. The same id with other input is refused.
    pub fingerprint: String,
    /// The ids of the results; for a removal, the removed item.
    pub outcome: Json,
    pub created_at: Time,
    /// The time from which a repetition counts as a new request.
    pub ttl: Expiry,
}
