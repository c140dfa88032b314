//! Accounts: registration, sign-in, profiles, API keys and deletion. Passwords and tokens never
//! leave this module: only their hashes are stored, and no other service sees even those.

mod attempts;
mod deletion;
mod devices;
mod identities;
mod invitations;
mod keys;
mod locks;
mod names;
mod nicknames;
mod passwords;
mod profile;
mod reads;
mod revocation;
mod sessions;
mod sign_in;
mod sign_in_name;
mod sign_up;
pub(crate) mod staff;
mod tags;
mod tokens;

use futures::future::try_join_all;
use roundtable_model::entities::User;
use roundtable_model::table::{Delete, Returning};
use roundtable_model::{Entity, Secret, SessionId, Time};

use self::tokens::RefreshToken;
use crate::access::{Permission, Relations, require};
use crate::{Caller, CallerCredential, Context, ServiceError, SignInBasis, refusals};

pub use self::devices::DeviceInput;
pub use self::identities::ExternalIdentity;
pub use self::keys::{KeysOnSignOut, NewApiKey, STAFF_SCOPE};
pub(crate) use self::passwords::PasswordHasher;
pub use self::profile::ProfileChange;
pub use self::reads::UserCounts;
pub(crate) use self::revocation::AccountWakeUps;
pub use self::sign_in_name::SignInName;
pub use self::sign_up::SignUp;

refusals! {
    AccountError {
        EmailTaken: Conflict = "an account with this e-mail address already exists",
        NicknameTaken: Conflict = "this nickname is already taken",
        HandleTaken: Conflict = "this handle is already taken",
        RegistrationClosed: Forbidden = "registration is closed",
        InvitationNeeded: Forbidden = "registration requires an invitation",
        InvitationInvalid: Forbidden = "this invitation is invalid, expired or used up",
        // One sentence for all cases, so that it does not reveal which addresses and names have an account.
        WrongCredentials: Unauthenticated = "the name, the e-mail address or the password is wrong",
        WrongPassword: Unauthenticated = "the password is wrong",
        PasswordNeeded: Unauthenticated = "send your password with this, or do it within five minutes of signing in",
        SessionEnded: Unauthenticated = "this session has ended; sign in again",
        IdentityUnlinked: Unauthenticated = "this identity is no longer linked to the account; sign in with the password, or link it again",
        InvalidApiKey: Unauthenticated = "this API key is not valid",
        EmailNotVerified: BadRequest = "your issuer has not verified your e-mail address (`email_verified`); verify it there, and get a new token",
        EmailMismatch: BadRequest = "your issuer has verified another e-mail address than this one",
        IdentityTaken: Conflict = "this identity is linked to another account; an operator can unlink it",
        TooManyIdentities: Conflict = "this account has reached the maximum number of linked identities; an operator can unlink one",
        NoSuchUser: NotFound = "there is no such user",
        NoSuchKey: NotFound = "you have no such API key",
        TooManyKeys: Conflict = "you have reached the maximum number of API keys; revoke one first",
        TooManyInvitations: Conflict = "you have reached the maximum number of open invitations; wait until one is used or expires",
        NoSuchPicture: BadRequest = "this is not a picture of yours, or it is already in use",
        NicknameMismatch: BadRequest = "this is not your nickname",
        Yourself: BadRequest = "you cannot do this to yourself",
    }
}

#[derive(Clone, Debug)]
pub struct Accounts {
    context: Context,
}

/// An authenticated user with a fresh refresh token.
#[derive(Clone, Debug)]
pub struct SignedInUser {
    /// The user's profile, as its owner sees it.
    pub user: User,
    /// The caller for the services, with the roles stored now.
    pub caller: Caller,
    /// Identifies the device; unchanged from sign-in to sign-out.
    pub session_id: SessionId,
    /// The token for the next refresh; valid once.
    pub refresh_token: Secret,
    /// The token by which the device is known at the next sign-in; `None` after a refresh.
    pub device_token: Option<Secret>,
}

impl SignedInUser {
    /// `signed_in_at` is when the session began, with a password.
    fn new(user: User, token: &RefreshToken, signed_in_at: Time) -> Self {
        let basis = Some(SignInBasis::Session(token.session.clone()));
        let credential = CallerCredential::SignIn { basis, password_at: Some(signed_in_at) };
        Self {
            caller: Caller { credential, ..Caller::with_roles(user.id.clone(), &user.roles) },
            session_id: token.session.clone(),
            refresh_token: token.text(),
            device_token: None,
            user,
        }
    }
}

impl Accounts {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }
}

/// Deletes items one by one; returns how many still existed.
async fn delete_all<'e, E: Entity + 'e>(
    context: &Context,
    items: impl IntoIterator<Item = &'e E>,
) -> Result<usize, ServiceError> {
    let table = context.core().table();
    let deletes = items
        .into_iter()
        .map(|item| table.delete(Delete::new(item.key()).returning(Returning::Old)));
    let deleted = try_join_all(deletes).await.map_err(ServiceError::of_write)?;
    Ok(deleted.into_iter().filter(|written| written.item.is_some()).count())
}

/// Returns the error of a step that follows the commit of a mutation, which cannot be taken back.
fn after_commit(error: AccountError) -> AccountError {
    match error {
        AccountError::Failed(failure) => failure.with_outcome_unknown().into(),
        refusal => refusal,
    }
}

/// Refuses callers who may not do this with their own account.
fn require_own(permission: Permission, caller: &Caller) -> Result<(), ServiceError> {
    require(permission, caller.signed_in_relations() | Relations::OWNER)
}

/// The greatest age of a caller's password for operations that a stolen access token must not allow.
const PASSWORD_AGE_MS_MAX: u64 = 5 * 60 * 1000;

impl Accounts {
    /// Requires that the caller gave the password recently: with this request, or by signing in here or
    /// at their issuer.
    fn require_recent_password(&self, caller: &Caller) -> Result<(), AccountError> {
        let now = self.context.now();
        let is_recent = |at: Time| now < at.plus_ms(PASSWORD_AGE_MS_MAX);
        if caller.password_at().is_some_and(is_recent) {
            Ok(())
        } else {
            Err(AccountError::PasswordNeeded)
        }
    }
}

/// The profile as all users see it who may see it at all.
pub(crate) fn public_profile(user: User) -> User {
    User { email: None, ..user }
}
