//! Unique names: one lock item per e-mail address, nickname and handle, moved in the transaction of
//! the rename (R6, R33). Two spellings of the same name share a lock, so a rename that only changes
//! case moves none.

use roundtable_model::entities::{EmailLock, HandleLock, NickLock, User};
use roundtable_model::table::Write;
use roundtable_model::{Email, Entity, Handle, Nickname, Time, UserId, UserStatus};

/// A write with the name that reports its failed condition.
pub(super) type NameLockWrite = (&'static str, Write);

pub(super) const EMAIL: &str = "email";
const NICKNAME: &str = "nickname";
const HANDLE: &str = "handle";

/// The names a user holds; none after deletion.
struct HeldNames<'a> {
    email: Option<&'a Email>,
    nickname: Option<&'a Nickname>,
    handle: Option<&'a Handle>,
}

impl<'a> HeldNames<'a> {
    fn of(user: &'a User) -> Self {
        let held = Some(user).filter(|user| user.status != UserStatus::Deleted);
        Self {
            email: held.and_then(|user| user.email.as_ref()),
            nickname: held.map(|user| &user.nickname),
            handle: held.and_then(|user| user.handle.as_ref()),
        }
    }
}

/// The locks of a new user, besides that of the address.
pub(super) fn new_locks(user: &User) -> Vec<NameLockWrite> {
    let HeldNames { nickname, handle, .. } = HeldNames::of(user);
    let (id, now) = (&user.id, user.created_at);
    let locks = [
        nickname.map(|nickname| (NICKNAME, nick_lock(nickname, id, now))),
        handle.map(|handle| (HANDLE, handle_lock(handle, id, now))),
    ];
    locks.into_iter().flatten().collect()
}

/// The lock writes of a rename; they fail when one of the new names is taken.
pub(super) fn moved_locks(before: &User, after: &User, now: Time) -> Vec<NameLockWrite> {
    let id = &before.id;
    let (old, new) = (HeldNames::of(before), HeldNames::of(after));
    let mut writes: Vec<NameLockWrite> = Vec::new();
    if is_changed(old.email, new.email, Email::same_as) {
        let mine = EmailLock::USER_ID.is(id);
        let released = old.email.map(|email| EmailLock::at(email).delete().when(mine).into());
        writes.extend(released.map(|write| (EMAIL, write)));
        writes.extend(new.email.map(|email| (EMAIL, email_lock(email, id, now))));
    }
    if is_changed(old.nickname, new.nickname, Nickname::same_as) {
        let mine = NickLock::USER_ID.is(id);
        let released =
            old.nickname.map(|nickname| NickLock::at(nickname).delete().when(mine).into());
        writes.extend(released.map(|write| (NICKNAME, write)));
        writes.extend(new.nickname.map(|nickname| (NICKNAME, nick_lock(nickname, id, now))));
    }
    if is_changed(old.handle, new.handle, Handle::same_as) {
        let mine = HandleLock::USER_ID.is(id);
        let released = old.handle.map(|handle| HandleLock::at(handle).delete().when(mine).into());
        writes.extend(released.map(|write| (HANDLE, write)));
        writes.extend(new.handle.map(|handle| (HANDLE, handle_lock(handle, id, now))));
    }
    writes
}

/// The write that releases an address that a user no longer has.
pub(super) fn released_email(before: &User, after: &User) -> Option<NameLockWrite> {
    let (old, new) = (before.email.as_ref()?, after.email.as_ref());
    let mine = EmailLock::USER_ID.is(&before.id);
    let is_released = is_changed(Some(old), new, Email::same_as);
    is_released.then(|| (EMAIL, EmailLock::at(old).delete().when(mine).into()))
}

fn is_changed<T>(old: Option<&T>, new: Option<&T>, same: impl Fn(&T, &T) -> bool) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => !same(old, new),
        (None, None) => false,
        _ => true,
    }
}

fn email_lock(email: &Email, user: &UserId, now: Time) -> Write {
    EmailLock { email: email.clone(), user_id: user.clone(), created_at: now, proved_at: None }
        .create()
        .into()
}

fn nick_lock(nickname: &Nickname, user: &UserId, now: Time) -> Write {
    NickLock { nickname: nickname.clone(), user_id: user.clone(), created_at: now }.create().into()
}

fn handle_lock(handle: &Handle, user: &UserId, now: Time) -> Write {
    HandleLock { handle: handle.clone(), user_id: user.clone(), created_at: now }.create().into()
}
