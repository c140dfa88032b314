//! Account administration by moderators and admins. Every decision writes an audit entry in its own
//! transaction and is conditional on the staff member still holding the role.

use std::net::IpAddr;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{LoginAttempt, User};
use roundtable_model::table::{Check, Condition, Update, essential};
use roundtable_model::{
    Email, InvalidValue, Json, LoginKey, LoginName, Nickname, RequestId, Role, Tier, UserId,
    UserStatus, rekey,
};
use serde::{Deserialize, Serialize};

use super::{AccountError, Accounts, public_profile};
use crate::access::{Permission, Relations, require};
use crate::account::is_active;
use crate::limits::{REASON_CHARS_MAX, check_filled};
use crate::mutation::{Attempt, AttemptOutcome};
use crate::pages::fill_page;
use crate::rate_limiter::network;
use crate::{Caller, Context, Page, PageInput, ServiceError, audit};

#[derive(Debug, Serialize, Deserialize)]
struct StaffActionOutcome {
    user: UserId,
}

/// A field of a profile that only staff may set.
#[derive(Clone, Copy, Debug)]
struct UserMark {
    permission: Permission,
    /// The name of the operation, also in the audit log.
    action: &'static str,
}

/// A caller with the staff roles that both the token and the stored profile grant.
pub(crate) struct StaffMember<'a> {
    caller: &'a Caller,
    relations: Relations,
}

impl<'a> StaffMember<'a> {
    pub(crate) fn new(caller: &'a Caller, me: &User) -> Self {
        Self { caller, relations: caller.relations(me) }
    }

    fn is_admin(&self) -> bool {
        self.relations.intersects(Relations::ADMIN)
    }

    /// Returns a profile as they may see it.
    fn shown(&self, user: User) -> User {
        let sees_email = self.is_admin() || user.id == self.caller.user_id;
        if sees_email { user } else { public_profile(user) }
    }

    pub(crate) fn require(&self, permission: Permission) -> Result<(), ServiceError> {
        require(permission, self.relations)
    }

    /// The condition that they still hold the role they act in and have an active account.
    fn role_condition(&self) -> Condition {
        let role = if self.is_admin() { Role::Admin } else { Role::Moderator };
        User::ROLES.has(&role).and(is_active())
    }

    /// The same as a check; `None` when they act on themselves, where the write itself carries the
    /// condition.
    fn role_check_unless_self(&self, subject: &UserId) -> Option<Check> {
        (self.caller.user_id != *subject).then(|| self.role_check())
    }

    /// The same for transactions that do not write the profile.
    pub(crate) fn role_check(&self) -> Check {
        User::at(&self.caller.user_id).check(self.role_condition())
    }
}

impl Context {
    /// Requires a permission that staff roles grant, for a read.
    pub(crate) async fn authorize_staff<'a>(
        &self,
        caller: &'a Caller,
        permission: Permission,
    ) -> Result<StaffMember<'a>, ServiceError> {
        let staff = StaffMember::new(caller, &self.authorize_read(caller).await?);
        staff.require(permission)?;
        Ok(staff)
    }
}

#[boxed]
impl Accounts {
    /// Suspends an account: it cannot be used, and the profile and its content are hidden until it
    /// is unsuspended. Only admins can suspend staff.
    pub async fn suspend(
        &self,
        caller: &Caller,
        user: &UserId,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        check_filled("reason", reason, REASON_CHARS_MAX)?;
        let detail = Json::encode(&serde_json::json!({ "reason": reason }));
        let detail = detail.map_err(|invalid| ServiceError::bad_input("reason", invalid))?;
        let (action, input) = ("suspendUser", (user, reason));
        let status = UserStatus::Suspended;
        // Also where the store keeps its last space in reserve.
        essential(self.set_status(caller, user, request, (action, &input), status, detail)).await
    }

    pub async fn unsuspend(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        let detail = Json::encode(&serde_json::json!({}));
        let detail = detail.map_err(|invalid| ServiceError::Internal(invalid.to_string()))?;
        self.set_status(caller, user, request, ("unsuspendUser", user), UserStatus::Active, detail)
            .await
    }

    /// Sets a user's roles. Admins cannot remove their own admin role, so at least one admin always
    /// remains.
    pub async fn set_roles(
        &self,
        caller: &Caller,
        user: &UserId,
        roles: &[Role],
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::SetRoles)?;
        if caller.user_id == *user && !roles.contains(&Role::Admin) {
            return Err(AccountError::Yourself);
        }
        let roles = normalized_roles(roles);
        mutation
            .once("setUserRoles", &(user, &roles), request)?
            .replay(async |outcome: StaffActionOutcome| self.load_user(&outcome.user).await)
            .run(async |_, attempt| {
                let before = self.load_user(user).await?;
                let after = self.modified(&before, |user| user.roles.clone_from(&roles));
                let detail = role_change(&before, &after)?;
                self.write_decision(&staff, "setUserRoles", &before, after, detail, attempt).await
            })
            .await
            .map(|user| staff.shown(user))
    }

    /// Sets a user's tier, whose limits apply from the next request on.
    pub async fn set_tier(
        &self,
        caller: &Caller,
        user: &UserId,
        tier: Tier,
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        let set = UserMark { permission: Permission::SetTier, action: "setUserTier" };
        let (of, change) = (|user: &User| user.tier, |user: &mut User| user.tier = tier);
        self.set_mark(caller, user, request, set, tier, (of, change)).await
    }

    /// Sets or removes the mark that a user is who they say.
    pub async fn set_verified(
        &self,
        caller: &Caller,
        user: &UserId,
        is_verified: bool,
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        let set = UserMark { permission: Permission::VerifyUser, action: "setUserVerified" };
        let of = |user: &User| user.is_verified;
        let change = |user: &mut User| user.is_verified = is_verified;
        self.set_mark(caller, user, request, set, is_verified, (of, change)).await
    }

    /// Sets one field of a profile that only staff may set, unless it has the value.
    async fn set_mark<T: Copy + PartialEq + Serialize + Send + Sync>(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
        UserMark { permission, action }: UserMark,
        value: T,
        (of, change): (impl Fn(&User) -> T + Send + Sync, impl Fn(&mut User) + Send + Sync),
    ) -> Result<User, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(permission)?;
        mutation
            .once(action, &(user, value), request)?
            .replay(async |outcome: StaffActionOutcome| self.load_user(&outcome.user).await)
            .run(async |_, attempt| {
                let before = self.load_user(user).await?;
                if of(&before) == value {
                    let outcome = StaffActionOutcome { user: before.id.clone() };
                    return attempt.unchanged(outcome, before).await;
                }
                let after = self.modified(&before, &change);
                let detail = value_change(of(&before), value)?;
                self.write_decision(&staff, action, &before, after, detail, attempt).await
            })
            .await
            .map(|user| staff.shown(user))
    }

    /// Grants a role on behalf of the operator: the first admin cannot be made in any other way.
    pub async fn grant(&self, nickname: &Nickname, role: Role) -> Result<User, AccountError> {
        self.context
            .retry(async |attempt| {
                let lock = self.context.core().nick_lock(nickname).get().await?;
                let lock = lock.ok_or(AccountError::NoSuchUser)?;
                let before = self.load_user(&lock.user_id).await?;
                if before.roles.contains(&role) {
                    return Ok(AttemptOutcome::Done(before));
                }
                let after = self.modified(&before, |user| {
                    user.roles.push(role);
                    user.roles = normalized_roles(&user.roles);
                });
                let detail = Some(role_change(&before, &after)?);
                let entry = audit::entry(&self.context, None, "grantRole", &after.id, detail);
                let commit = attempt.commit().with("user", rekey(&before, &after)?);
                commit.with("audit", entry).finish_unrecorded(after).await
            })
            .await
    }

    /// Refuses callers who may not operate the background processing.
    pub async fn check_operator(&self, caller: &Caller) -> Result<(), AccountError> {
        self.context.authorize_staff(caller, Permission::RedriveDeadLetters).await?;
        Ok(())
    }

    /// Returns the failed sign-ins of an e-mail address or network address, newest first.
    pub async fn login_attempts(
        &self,
        caller: &Caller,
        key: &str,
        page: &PageInput,
    ) -> Result<Page<LoginAttempt>, AccountError> {
        self.context.authorize_staff(caller, Permission::SeeLoginAttempts).await?;
        let (kind, subject) = login_key(key)?;
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.logins().login_attempts(&kind, &subject);
                listing.limit(limit).after(after).page().await
            },
            async |attempts: Vec<LoginAttempt>| Ok(attempts.into_iter().map(Some).collect()),
        )
        .await
    }

    async fn set_status<I: Serialize + ?Sized>(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
        (action, input): (&'static str, &I),
        status: UserStatus,
        detail: Json,
    ) -> Result<User, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::SuspendUser)?;
        if caller.user_id == *user {
            return Err(AccountError::Yourself);
        }
        mutation
            .once(action, input, request)?
            .replay(async |outcome: StaffActionOutcome| self.load_user(&outcome.user).await)
            .run(async |_, attempt| {
                let before = self.load_user(user).await?;
                if is_staff(&before) && !staff.is_admin() {
                    return Err(ServiceError::Forbidden.into());
                }
                if before.status == status {
                    let outcome = StaffActionOutcome { user: before.id.clone() };
                    return attempt.unchanged(outcome, before).await;
                }
                let after = self.modified(&before, |user| user.status = status);
                let detail = detail.clone();
                self.write_decision(&staff, action, &before, after, detail, attempt).await
            })
            .await
            .map(|user| staff.shown(user))
    }

    /// Writes a staff decision with its audit entry.
    async fn write_decision(
        &self,
        staff: &StaffMember<'_>,
        action: &'static str,
        before: &User,
        after: User,
        detail: Json,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<User>, AccountError> {
        let entry =
            audit::entry(&self.context, Some(staff.caller), action, &after.id, Some(detail));
        let check = staff.role_check_unless_self(&after.id);
        let mut changed: Update = rekey(before, &after)?;
        if check.is_none() {
            changed = changed.when(staff.role_condition());
        }
        let outcome = StaffActionOutcome { user: after.id.clone() };
        attempt
            .commit()
            .with("user", changed)
            .with_all("staff", check)
            .with("audit", entry)
            .finish(outcome, after)
            .await
    }

    /// Reads a profile that is not deleted.
    async fn load_user(&self, user: &UserId) -> Result<User, AccountError> {
        self.context.existing_account(user).await?.ok_or(AccountError::NoSuchUser)
    }

    fn modified(&self, before: &User, change: impl FnOnce(&mut User)) -> User {
        let mut after = before.clone();
        change(&mut after);
        after.version = before.version + 1;
        after.updated_at = self.context.now();
        after
    }
}

fn is_staff(user: &User) -> bool {
    user.roles.iter().any(|role| matches!(role, Role::Moderator | Role::Admin))
}

/// Returns the roles without duplicates, always including `User`.
fn normalized_roles(roles: &[Role]) -> Vec<Role> {
    let held = |role: &Role| *role == Role::User || roles.contains(role);
    Role::ALL.iter().copied().filter(held).collect()
}

fn role_change(before: &User, after: &User) -> Result<Json, ServiceError> {
    value_change(&before.roles, &after.roles)
}

/// The detail of an audit entry about a changed value.
fn value_change<T: Serialize>(from: T, to: T) -> Result<Json, ServiceError> {
    let change = Json::encode(&serde_json::json!({ "from": from, "to": to }));
    change.map_err(|invalid| ServiceError::Internal(invalid.to_string()))
}

/// Parses the key that attempts are counted by: an e-mail address, or the network of an IP address.
pub(super) fn login_key(key: &str) -> Result<(LoginKey, LoginName), ServiceError> {
    if let Ok(address) = key.trim().parse::<IpAddr>() {
        return Ok((LoginKey::Ip, network(address).into()));
    }
    let email: Result<Email, InvalidValue> = key.parse();
    let email = email.map_err(|invalid| ServiceError::bad_input("key", invalid))?;
    Ok((LoginKey::Email, (&email).into()))
}
