//! Account administration by moderators and admins. Every decision writes an audit entry in its own
//! transaction and is conditional on the staff member still holding the role.

use std::net::IpAddr;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{LoginAttempt, User};
use roundtable_model::table::{Check, Condition, Update};
use roundtable_model::{
    Email, InvalidValue, Json, LoginKey, LoginName, Nickname, RequestId, Role, UserId, UserStatus,
    rekey,
};
use serde::{Deserialize, Serialize};

use super::{AccountError, Accounts, is_not_deleted, profile_for_viewer};
use crate::access::{Permission, Relations, allows};
use crate::idempotency::{AttemptOutcome, IdempotentRequest};
use crate::limits::{REASON_CHARS_MAX, check_filled};
use crate::pages::fill_page;
use crate::rate_limiter::network;
use crate::{Caller, Page, PageInput, ServiceError, audit};

#[derive(Debug, Serialize, Deserialize)]
struct StaffActionOutcome {
    user: UserId,
}

/// A caller with the staff roles that both the token and the stored profile grant.
pub(crate) struct StaffMember<'a> {
    caller: &'a Caller,
    me: User,
    relations: Relations,
}

impl<'a> StaffMember<'a> {
    /// A role counts only if the caller's token claims it and the profile still has it, so revoking
    /// a role takes effect at once.
    pub(crate) fn new(caller: &'a Caller, me: User) -> Self {
        let has = |role, claimed| claimed && me.roles.contains(&role);
        let relations = Relations::SIGNED_IN
            .with_if(has(Role::Moderator, caller.roles.moderator), Relations::MODERATOR)
            .with_if(has(Role::Admin, caller.roles.admin), Relations::ADMIN);
        Self { caller, me, relations }
    }

    fn is_admin(&self) -> bool {
        self.relations.intersects(Relations::ADMIN)
    }

    pub(crate) fn require(&self, permission: Permission) -> Result<(), ServiceError> {
        if allows(permission, self.relations) { Ok(()) } else { Err(ServiceError::Forbidden) }
    }

    /// The condition that they still hold the role they act in and have an active account.
    fn role_condition(&self) -> Condition {
        let role = if self.is_admin() { Role::Admin } else { Role::Moderator };
        User::ROLES.has(&role).and(User::STATUS.is(&UserStatus::Active))
    }

    /// The same as a check; `None` when they act on themselves, where the write itself carries the
    /// condition.
    fn role_check_unless_self(&self, subject: &UserId) -> Option<Check> {
        (self.me.id != *subject).then(|| self.role_check())
    }

    /// The same for transactions that do not write the profile.
    pub(crate) fn role_check(&self) -> Check {
        User::at(&self.me.id).check(self.role_condition())
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
        self.set_status(caller, user, request, (action, &input), UserStatus::Suspended, detail)
            .await
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
        let me = self.context.authorize_write(caller).await?;
        let staff = StaffMember::new(caller, me);
        staff.require(Permission::SetRoles)?;
        if staff.me.id == *user && !roles.contains(&Role::Admin) {
            return Err(AccountError::Yourself);
        }
        let roles = normalized_roles(roles);
        let input = (user, &roles);
        let request =
            self.context.idempotent_request(&staff.me.id, request, "setUserRoles", &input)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: StaffActionOutcome| self.load_user(&outcome.user).await,
                async || {
                    let before = self.load_user(user).await?;
                    let after = self.modified(&before, |user| user.roles.clone_from(&roles));
                    let detail = role_change(&before, &after)?;
                    self.write_decision(
                        &staff,
                        "setUserRoles",
                        &before,
                        after,
                        detail,
                        request.as_ref(),
                    )
                    .await
                },
            )
            .await
            .map(|user| profile_for_viewer(Some(caller), user))
    }

    /// Grants a role on behalf of the operator: the first admin cannot be made in any other way.
    pub async fn grant(&self, nickname: &Nickname, role: Role) -> Result<User, AccountError> {
        self.context
            .run_once(
                None,
                async |outcome: StaffActionOutcome| self.load_user(&outcome.user).await,
                async || {
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
                    let commit = self.context.commit().with("user", rekey(&before, &after)?);
                    Ok::<AttemptOutcome<_>, AccountError>(
                        commit.with("audit", entry).finish(after).await?,
                    )
                },
            )
            .await
    }

    /// Refuses callers who may not operate the background processing.
    pub async fn check_operator(&self, caller: &Caller) -> Result<(), AccountError> {
        let me = self.context.authorize_read(caller).await?;
        Ok(StaffMember::new(caller, me).require(Permission::RedriveDeadLetters)?)
    }

    /// Returns the failed sign-ins of an e-mail address or network address, newest first.
    pub async fn login_attempts(
        &self,
        caller: &Caller,
        key: &str,
        page: &PageInput,
    ) -> Result<Page<LoginAttempt>, AccountError> {
        let me = self.context.authorize_read(caller).await?;
        StaffMember::new(caller, me).require(Permission::SeeLoginAttempts)?;
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
        let me = self.context.authorize_write(caller).await?;
        let staff = StaffMember::new(caller, me);
        staff.require(Permission::SuspendUser)?;
        if staff.me.id == *user {
            return Err(AccountError::Yourself);
        }
        let request = self.context.idempotent_request(&staff.me.id, request, action, &input)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: StaffActionOutcome| self.load_user(&outcome.user).await,
                async || {
                    let before = self.load_user(user).await?;
                    if is_staff(&before) && !staff.is_admin() {
                        return Err(ServiceError::Forbidden.into());
                    }
                    if before.status == status {
                        let outcome = StaffActionOutcome { user: before.id.clone() };
                        let request = request.as_ref();
                        return Ok(self
                            .context
                            .finish_unchanged(request, &outcome, before)
                            .await?);
                    }
                    let after = self.modified(&before, |user| user.status = status);
                    let detail = detail.clone();
                    self.write_decision(&staff, action, &before, after, detail, request.as_ref())
                        .await
                },
            )
            .await
            .map(|user| profile_for_viewer(Some(caller), user))
    }

    /// Writes a staff decision with its audit entry.
    async fn write_decision(
        &self,
        staff: &StaffMember<'_>,
        action: &'static str,
        before: &User,
        after: User,
        detail: Json,
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<User>, AccountError> {
        let entry =
            audit::entry(&self.context, Some(staff.caller), action, &after.id, Some(detail));
        let check = staff.role_check_unless_self(&after.id);
        let mut changed: Update = rekey(before, &after)?;
        if check.is_none() {
            changed = changed.when(staff.role_condition());
        }
        let outcome = StaffActionOutcome { user: after.id.clone() };
        let commit = self
            .context
            .commit()
            .with("user", changed)
            .with_all("staff", check)
            .with("audit", entry)
            .recording(request, &outcome)?;
        Ok(commit.finish(after).await?)
    }

    /// Reads a profile that is not deleted.
    async fn load_user(&self, user: &UserId) -> Result<User, AccountError> {
        let user = self.context.core().profile(user).strong().get().await?;
        user.filter(is_not_deleted).ok_or(AccountError::NoSuchUser)
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
    let change = Json::encode(&serde_json::json!({ "from": before.roles, "to": after.roles }));
    change.map_err(|invalid| ServiceError::Internal(invalid.to_string()))
}

/// Parses the key that attempts are counted by: an e-mail address, or the network of an IP address.
fn login_key(key: &str) -> Result<(LoginKey, LoginName), ServiceError> {
    if let Ok(address) = key.trim().parse::<IpAddr>() {
        return Ok((LoginKey::Ip, network(address).into()));
    }
    let email: Result<Email, InvalidValue> = key.parse();
    let email = email.map_err(|invalid| ServiceError::bad_input("key", invalid))?;
    Ok((LoginKey::Email, (&email).into()))
}
