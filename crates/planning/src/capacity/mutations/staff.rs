//! Actions of moderators and admins. Each decision leaves an entry in the audit log.

use roundtable_model::entities::{ActorHead, Promotion, User};
use roundtable_model::{Role, UserStatus, samples};

use super::step::{MutationStep, change, check, delete, put};
use super::{MutationWrites, in_transaction};

pub(super) fn mutations() -> Vec<MutationWrites> {
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

/// Turns the fan-out of an actor's activities on or off, which the actor's head records.
fn set_promotion() -> MutationWrites {
    let promotion = samples::promotion();
    let fanout_enabled = !promotion.fanout_enabled;
    let changed = Promotion { fanout_enabled, ..promotion.clone() };
    let head = samples::actor_head();
    let next = ActorHead { version: head.version + 1, promoted: false, ..head.clone() };
    let own = [change(&promotion, &changed), change(&head, &next), put(&samples::audit())];
    MutationWrites::idempotent("setPromotion", own)
}

/// A change of a user by a staff member who still has the role.
fn staff_change(changed: &User) -> [MutationStep; 3] {
    let before = samples::user();
    let after = User { version: before.version + 1, ..changed.clone() };
    [change(&before, &after), check(&before), put(&samples::audit())]
}

fn set_user_roles() -> MutationWrites {
    let roles = vec![Role::User, Role::Moderator];
    MutationWrites::idempotent("setUserRoles", staff_change(&User { roles, ..samples::user() }))
}

fn suspend_user() -> MutationWrites {
    let suspended = User { status: UserStatus::Suspended, ..samples::user() };
    MutationWrites::idempotent("suspendUser", staff_change(&suspended))
}

fn unsuspend_user() -> MutationWrites {
    let suspended = User { status: UserStatus::Suspended, ..samples::user() };
    let back = User { version: suspended.version + 1, ..samples::user() };
    let own = [change(&suspended, &back), check(&samples::user()), put(&samples::audit())];
    MutationWrites::idempotent("unsuspendUser", own)
}

/// Each dead letter becomes a job again.
fn redrive_dead_letters() -> MutationWrites {
    const LETTERS: (&str, f64) = ("letters", 10.0);
    let each = in_transaction([put(&samples::job()), delete(&samples::dead_letter())]);
    MutationWrites::plain("redriveDeadLetters", each.map(|step| step.times(LETTERS.0, LETTERS.1)))
}

fn create_webhook() -> MutationWrites {
    MutationWrites::plain("createWebhook", [put(&samples::webhook())])
}

fn delete_webhook() -> MutationWrites {
    MutationWrites::idempotent("deleteWebhook", [delete(&samples::webhook())])
}
