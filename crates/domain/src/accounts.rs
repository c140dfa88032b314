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
mod sessions;
mod sign_in;
mod sign_up;
pub(crate) mod staff;
mod tags;
mod tokens;

use std::sync::Arc;

use roundtable_model::entities::User;
use roundtable_model::{Secret, SessionId, UserId};

use self::tokens::RefreshToken;
use crate::access::{Permission, Relations, require};
use crate::{Caller, Context, ServiceError, refusals};

pub use self::devices::DeviceInput;
pub use self::identities::ExternalIdentity;
pub use self::keys::{ApiKeyCaller, NewApiKey, STAFF_SCOPE};
pub(crate) use self::passwords::PasswordHasher;
pub use self::profile::ProfileChange;
pub use self::reads::UserCounts;
pub use self::sign_up::SignUp;

refusals! {
    AccountError {
        EmailTaken: Conflict = "an account with this e-mail address already exists",
        NicknameTaken: Conflict = "this nickname is already taken",
        HandleTaken: Conflict = "this handle is already taken",
        RegistrationClosed: Forbidden = "registration is closed",
        InvitationNeeded: Forbidden = "registration requires an invitation",
        InvitationInvalid: Forbidden = "this invitation is invalid, expired or used up",
        // One sentence for both cases, so that it does not reveal which addresses have an account.
        WrongCredentials: Unauthenticated = "the e-mail address or the password is wrong",
        WrongPassword: Unauthenticated = "the password is wrong",
        SessionEnded: Unauthenticated = "this session has ended; sign in again",
        InvalidApiKey: Unauthenticated = "this API key is not valid",
        EmailNotVerified: BadRequest = "your issuer has not verified your e-mail address (`email_verified`); verify it there, and get a new token",
        EmailMismatch: BadRequest = "your issuer has verified another e-mail address than this one",
        IdentityTaken: Conflict = "this identity is linked to another account; an operator can unlink it",
        TooManyIdentities: Conflict = "this account has reached the maximum number of linked identities; an operator can unlink one",
        NoSuchUser: NotFound = "there is no such user",
        NoSuchKey: NotFound = "you have no such API key",
        TooManyKeys: Conflict = "you have reached the maximum number of API keys; revoke one first",
        ApiKeyNotAllowed: Forbidden = "API keys cannot do this; sign in with your password",
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
    fn new(user: User, token: &RefreshToken) -> Self {
        Self {
            caller: Caller::with_roles(user.id.clone(), &user.roles),
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

fn require_own(permission: Permission) -> Result<(), ServiceError> {
    require(permission, Relations::SIGNED_IN | Relations::OWNER)
}

/// Refuses API keys for actions that outlive the key or cannot be undone. Otherwise revoking a key
/// would not stop its holder.
fn require_session(caller: &Caller) -> Result<(), AccountError> {
    if caller.scopes.is_none() { Ok(()) } else { Err(AccountError::ApiKeyNotAllowed) }
}

/// Returns the profile as `viewer` may see it: only the owner and admins see the e-mail address.
pub(crate) fn profile_for_viewer(viewer: Option<&Caller>, user: User) -> User {
    if sees_email(viewer, &user.id) { user } else { public_profile(user) }
}

/// As [`profile_for_viewer`], without a copy if nothing has to be hidden.
pub(crate) fn shared_profile(viewer: Option<&Caller>, user: &Arc<User>) -> Arc<User> {
    if user.email.is_none() || sees_email(viewer, &user.id) {
        return Arc::clone(user);
    }
    Arc::new(public_profile(User::clone(user)))
}

pub(crate) fn sees_email(viewer: Option<&Caller>, user: &UserId) -> bool {
    viewer.is_some_and(|viewer| viewer.user_id == *user || viewer.roles.admin)
}

/// The profile as all users see it who may see it at all.
pub(crate) fn public_profile(user: User) -> User {
    User { email: None, ..user }
}
