//! Contact between users: one may address another who is active, while neither blocks the other.
//! Checked when a mutation decides, and again as conditions of its commit.

use roundtable_model::entities::{Block, User};
use roundtable_model::table::Check;
use roundtable_model::{UserId, UserStatus};

use crate::ViewerAccess;
use crate::account::active_account_check;

impl ViewerAccess {
    /// Returns the profile of a user that the viewer may address. Staff also see users who are
    /// suspended or have blocked them, but cannot address them.
    pub(crate) fn addressable(&self, user: &UserId) -> Option<&User> {
        self.visible_user(user)
            .filter(|person| person.status == UserStatus::Active && !self.is_blocked(user))
    }
}

/// Checks that neither user blocks the other.
pub(crate) fn unblocked_checks(one: &UserId, other: &UserId) -> [Check; 2] {
    [Block::at(one, other).absent(), Block::at(other, one).absent()]
}

/// Checks that `me` may still address the other user.
pub(crate) fn contact_checks(me: &UserId, other: &UserId) -> [Check; 3] {
    let [mine, theirs] = unblocked_checks(me, other);
    [active_account_check(other), mine, theirs]
}
