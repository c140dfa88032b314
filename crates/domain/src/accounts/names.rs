//! What makes names unique: a lock for each, which moves in the transaction of the rename (R6, R33).
//! Two spellings of the same name share a lock, so a rename that only changes case moves none.

use roundtable_model::entities::{EmailLock, HandleLock, NickLock, User};
use roundtable_model::table::Write;
use roundtable_model::{Email, Entity, Handle, Nickname, Time, UserId};

use super::is_there;

/// A write, and what it is called.
pub(super) type Named = (&'static str, Write);

const EMAIL: &str = "email";
const NICKNAME: &str = "nickname";
const HANDLE: &str = "handle";

/// The names somebody holds: none, once they are gone.
struct Names<'a> {
    email: Option<&'a Email>,
    nickname: Option<&'a Nickname>,
    handle: Option<&'a Handle>,
}

impl<'a> Names<'a> {
    fn of(user: &'a User) -> Self {
        let held = Some(user).filter(|user| is_there(user));
        Self {
            email: held.and_then(|user| user.email.as_ref()),
            nickname: held.map(|user| &user.nickname),
            handle: held.and_then(|user| user.handle.as_ref()),
        }
    }
}

/// The locks of somebody new.
pub(super) fn taken(user: &User) -> Vec<Named> {
    let Names { email, nickname, handle } = Names::of(user);
    let (id, now) = (&user.id, user.created_at);
    let locks = [
        email.map(|email| (EMAIL, email_lock(email, id, now))),
        nickname.map(|nickname| (NICKNAME, nick_lock(nickname, id, now))),
        handle.map(|handle| (HANDLE, handle_lock(handle, id, now))),
    ];
    locks.into_iter().flatten().collect()
}

/// The locks that move with somebody's names; refused when one of the new ones is taken.
pub(super) fn moved(before: &User, after: &User, now: Time) -> Vec<Named> {
    let id = &before.id;
    let (old, new) = (Names::of(before), Names::of(after));
    let mut writes: Vec<Named> = Vec::new();
    if differ(old.email, new.email, Email::same_as) {
        let mine = EmailLock::USER_ID.is(id);
        let given = old.email.map(|email| EmailLock::at(email).delete().when(mine).into());
        writes.extend(given.map(|write| (EMAIL, write)));
        writes.extend(new.email.map(|email| (EMAIL, email_lock(email, id, now))));
    }
    if differ(old.nickname, new.nickname, Nickname::same_as) {
        let mine = NickLock::USER_ID.is(id);
        let given = old.nickname.map(|nickname| NickLock::at(nickname).delete().when(mine).into());
        writes.extend(given.map(|write| (NICKNAME, write)));
        writes.extend(new.nickname.map(|nickname| (NICKNAME, nick_lock(nickname, id, now))));
    }
    if differ(old.handle, new.handle, Handle::same_as) {
        let mine = HandleLock::USER_ID.is(id);
        let given = old.handle.map(|handle| HandleLock::at(handle).delete().when(mine).into());
        writes.extend(given.map(|write| (HANDLE, write)));
        writes.extend(new.handle.map(|handle| (HANDLE, handle_lock(handle, id, now))));
    }
    writes
}

fn differ<T>(old: Option<&T>, new: Option<&T>, same: impl Fn(&T, &T) -> bool) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => !same(old, new),
        (None, None) => false,
        _ => true,
    }
}

fn email_lock(email: &Email, user: &UserId, now: Time) -> Write {
    EmailLock { email: email.clone(), user_id: user.clone(), created_at: now }.create().into()
}

fn nick_lock(nickname: &Nickname, user: &UserId, now: Time) -> Write {
    NickLock { nickname: nickname.clone(), user_id: user.clone(), created_at: now }.create().into()
}

fn handle_lock(handle: &Handle, user: &UserId, now: Time) -> Write {
    HandleLock { handle: handle.clone(), user_id: user.clone(), created_at: now }.create().into()
}
