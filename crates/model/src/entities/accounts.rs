//! What the accounts service keeps about signing in, and the outcomes of requests. Secrets are here
//! as hashes; no password or token is ever stored.

use crate::{
    ApiKeyId, Caller, Expiry, Fields, InviteCode, Json, RequestId, Secret, SessionId, Time, UserId,
};

/// What a password is checked against. It never leaves the accounts service.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Credential {
    /// Whose password.
    pub user_id: UserId,
    /// The argon2id hash, with its salt and parameters.
    pub password_hash: Secret,
    /// When the first password was set.
    pub created_at: Time,
    /// When the password was last set.
    pub updated_at: Time,
}

/// A refresh token of a signed-in device.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Session {
    /// Who is signed in.
    pub user_id: UserId,
    /// Which token.
    pub id: SessionId,
    /// The hash of the refresh token.
    pub refresh_hash: Secret,
    /// The first session of this sign-in: a token used twice ends all of them.
    pub family: SessionId,
    /// When the token was exchanged for the next one.
    pub used_at: Option<Time>,
    /// When it was given out.
    pub created_at: Time,
    /// When it ends.
    pub ttl: Expiry,
}

/// Lets somebody sign up.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Invitation {
    /// What to enter.
    pub code: InviteCode,
    /// Who invites.
    pub inviter_id: UserId,
    /// How many more can sign up with it.
    pub uses_left: u64,
    /// When it was made.
    pub created_at: Time,
    /// When it ends, if it does.
    pub ttl: Option<Expiry>,
}

/// A key for programs. Its text carries `user_id` and `id`, and the secret behind the hash.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct ApiKey {
    /// Whom it acts for.
    pub user_id: UserId,
    /// Which key.
    pub id: ApiKeyId,
    /// What its owner calls it.
    pub name: String,
    /// How its text begins, to recognise it by.
    pub prefix: String,
    /// The hash of its secret.
    pub secret_hash: Secret,
    /// What it may be used for.
    pub scopes: Vec<String>,
    /// When it was made.
    pub created_at: Time,
    /// When it ends, if it does.
    pub ttl: Option<Expiry>,
}

/// The outcome of a request, so that its repetition has no further effect.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Idempotency {
    /// Who asked.
    pub caller: Caller,
    /// The caller's name for the request.
    pub request_id: RequestId,
    /// A keyed hash of the input without its secrets: other input is refused.
    pub fingerprint: String,
    /// The ids of what came of it; for a removal, the removed item.
    pub outcome: Json,
    /// When it happened.
    pub created_at: Time,
    /// When the repetition would count as a new request.
    pub ttl: Expiry,
}
