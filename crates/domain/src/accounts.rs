//! Who has an account: signing up, signing in, profiles, keys, and leaving again. Passwords and tokens
//! end here: what is stored of them are hashes, and no other service sees even those.

mod attempts;
mod closing;
mod invitations;
mod keys;
mod names;
mod passwords;
mod profile;
mod reads;
mod sessions;
mod sign_in;
mod sign_up;
pub(crate) mod staff;
mod tags;
mod tokens;

use roundtable_model::entities::User;
use roundtable_model::{Secret, SessionId, UserStatus};

use self::tokens::RefreshToken;
use crate::access::{Act, Standing, allows};
use crate::{Caller, Failure, Ground, refusals};

pub use self::keys::{KeyHolder, NewKey, STAFF_SCOPE};
pub(crate) use self::passwords::Passwords;
pub use self::profile::ProfileChange;
pub use self::reads::Counts;
pub use self::sign_up::SignUp;

refusals! {
    /// Why an account was not made, entered or changed.
    AccountError {
        EmailTaken: Conflict = "there is an account with this e-mail address already",
        NicknameTaken: Conflict = "somebody has this nickname already",
        HandleTaken: Conflict = "somebody has this handle already",
        RegistrationClosed: Forbidden = "nobody can sign up here at present",
        InvitationNeeded: Forbidden = "signing up here needs an invitation",
        InvitationOver: Forbidden = "this invitation is used up, over, or never was one",
        // One sentence for both, or it would tell who has an account.
        WrongCredentials: Unauthenticated = "the e-mail address or the password is wrong",
        WrongPassword: Unauthenticated = "the password is wrong",
        SessionEnded: Unauthenticated = "this session is over; sign in again",
        WrongKey: Unauthenticated = "this key is not valid",
        NoSuchUser: NotFound = "there is no such person",
        NoSuchKey: NotFound = "you have no such key",
        TooManyKeys: Conflict = "you have as many keys as one person can have",
        WithKey: Forbidden = "this cannot be done with a key; sign in for it",
        NoSuchPicture: BadRequest = "this is no picture of yours, or one that is elsewhere already",
        OtherNickname: BadRequest = "this is not your nickname",
        Yourself: BadRequest = "nobody can do this to themselves",
    }
}

/// The accounts of everybody.
#[derive(Clone, Debug)]
pub struct Accounts {
    ground: Ground,
}

/// Somebody who has just proven who they are.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// Their profile, as they see it themselves.
    pub user: User,
    /// Who they are to the services, with their roles of now.
    pub caller: Caller,
    /// Which device it is, the same from signing in to signing out.
    pub session_id: SessionId,
    /// What this device can be told by the next time, once.
    pub refresh_token: Secret,
}

impl SignedIn {
    fn new(user: User, token: &RefreshToken) -> Self {
        Self {
            caller: Caller::with_roles(user.id.clone(), &user.roles),
            session_id: token.session.clone(),
            refresh_token: token.text(),
            user,
        }
    }
}

impl Accounts {
    /// The accounts on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }
}

/// Whether people may do this to what is theirs.
fn own(act: Act) -> Result<(), Failure> {
    let standing = Standing::SIGNED_IN | Standing::OWNER;
    if allows(act, standing) { Ok(()) } else { Err(Failure::Forbidden) }
}

/// Refuses programs: what outlives their key, or cannot be undone, is for people themselves. Otherwise
/// taking a key away would stop nobody.
fn in_person(caller: &Caller) -> Result<(), AccountError> {
    if caller.scopes.is_none() { Ok(()) } else { Err(AccountError::WithKey) }
}

/// A profile as `viewer` sees it: an e-mail address is for its owner and for admins.
pub(crate) fn shown(viewer: Option<&Caller>, mut user: User) -> User {
    let sees_email = viewer.is_some_and(|viewer| viewer.user_id == user.id || viewer.roles.admin);
    if !sees_email {
        user.email = None;
    }
    user
}

/// Whether there still is somebody behind a profile.
fn is_there(user: &User) -> bool {
    user.status != UserStatus::Deleted
}
