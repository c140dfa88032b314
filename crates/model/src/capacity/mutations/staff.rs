//! What those who run the place do. Each decision leaves an entry in the audit.

use super::step::{Step, change, check, delete, put};
use super::{Mutation, together};
use crate::entities::{ActorHead, Promotion, User};
use crate::{Role, UserStatus, samples};

pub(super) fn mutations() -> Vec<Mutation> {
    vec![
        set_promotion(),
        set_user_roles(),
        suspend_user(),
        unsuspend_user(),
        redrive_dead_letters(),
        create_webhook(),
        delete_webhook(),
    ]
}

/// Whether somebody's activities are fanned out from now on: their head says so.
fn set_promotion() -> Mutation {
    let promotion = samples::promotion();
    let fanout_enabled = !promotion.fanout_enabled;
    let changed = Promotion { fanout_enabled, ..promotion.clone() };
    let head = samples::actor_head();
    let next = ActorHead { version: head.version + 1, promoted: false, ..head.clone() };
    let own = [change(&promotion, &changed), change(&head, &next), put(&samples::audit())];
    Mutation::repeatable("setPromotion", own)
}

/// Something changes about somebody, decided by an official who still is one.
fn official(changed: &User) -> [Step; 3] {
    let before = samples::user();
    let after = User { version: before.version + 1, ..changed.clone() };
    [change(&before, &after), check(&before), put(&samples::audit())]
}

fn set_user_roles() -> Mutation {
    let roles = vec![Role::User, Role::Moderator];
    Mutation::repeatable("setUserRoles", official(&User { roles, ..samples::user() }))
}

fn suspend_user() -> Mutation {
    let suspended = User { status: UserStatus::Suspended, ..samples::user() };
    Mutation::repeatable("suspendUser", official(&suspended))
}

fn unsuspend_user() -> Mutation {
    let suspended = User { status: UserStatus::Suspended, ..samples::user() };
    let back = User { version: suspended.version + 1, ..samples::user() };
    let own = [change(&suspended, &back), check(&samples::user()), put(&samples::audit())];
    Mutation::repeatable("unsuspendUser", own)
}

/// Each letter becomes a job again.
fn redrive_dead_letters() -> Mutation {
    /// How many are redriven at once.
    const LETTERS: (&str, f64) = ("letters", 10.0);
    let each = together([put(&samples::job()), delete(&samples::dead_letter())]);
    Mutation::once("redriveDeadLetters", each.map(|step| step.times(LETTERS.0, LETTERS.1)))
}

fn create_webhook() -> Mutation {
    Mutation::once("createWebhook", [put(&samples::webhook())])
}

fn delete_webhook() -> Mutation {
    Mutation::repeatable("deleteWebhook", [delete(&samples::webhook())])
}
