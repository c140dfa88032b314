//! What those who run the place do to accounts. Every decision leaves an entry in the audit, in its own
//! transaction, and holds only while whoever takes it is still allowed to.

use std::net::IpAddr;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{LoginAttempt, User};
use roundtable_model::table::{Check, Condition, Update};
use roundtable_model::{
    Email, Json, LoginKey, LoginName, Misfit, Nickname, RequestId, Role, UserId, UserStatus, rekey,
};
use serde::{Deserialize, Serialize};

use super::{AccountError, Accounts, is_there, shown};
use crate::access::{Act, Standing, allows};
use crate::limits::{REASON_CHARS_MAX, check_filled};
use crate::once::{Request, Tried};
use crate::pages::fill;
use crate::rates::network;
use crate::{Caller, Failure, Page, PageInput, audit};

/// Whose account a request changed.
#[derive(Debug, Serialize, Deserialize)]
struct Outcome {
    user: UserId,
}

/// Somebody with a role, at work.
pub(crate) struct Official<'a> {
    caller: &'a Caller,
    me: User,
    standing: Standing,
}

impl<'a> Official<'a> {
    /// A role counts if the caller's token says so and the profile still does: taking a role away
    /// takes effect at once.
    pub(crate) fn new(caller: &'a Caller, me: User) -> Self {
        let has = |role, claimed| claimed && me.roles.contains(&role);
        let standing = Standing::SIGNED_IN
            .and_if(has(Role::Moderator, caller.roles.moderator), Standing::MODERATOR)
            .and_if(has(Role::Admin, caller.roles.admin), Standing::ADMIN);
        Self { caller, me, standing }
    }

    fn is_admin(&self) -> bool {
        self.standing.is_any(Standing::ADMIN)
    }

    pub(crate) fn may(&self, act: Act) -> Result<(), Failure> {
        if allows(act, self.standing) { Ok(()) } else { Err(Failure::Forbidden) }
    }

    /// That they still have the role they act in, and an account that can be used.
    fn in_office(&self) -> Condition {
        let role = if self.is_admin() { Role::Admin } else { Role::Moderator };
        User::ROLES.has(&role).and(User::STATUS.is(&UserStatus::Active))
    }

    /// The same as a check; `None` where they act on themselves and the write itself demands it.
    fn check(&self, subject: &UserId) -> Option<Check> {
        (self.me.id != *subject).then(|| self.check_office())
    }

    /// The same where no profile is written.
    pub(crate) fn check_office(&self) -> Check {
        User::at(&self.me.id).check(self.in_office())
    }
}

#[boxed]
impl Accounts {
    /// Suspends an account: it cannot be used, and nobody sees it or what its owner made, until it is
    /// let back. Staff is suspended by admins only.
    pub async fn suspend(
        &self,
        caller: &Caller,
        user: &UserId,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        check_filled("reason", reason, REASON_CHARS_MAX)?;
        let detail = Json::of(&serde_json::json!({ "reason": reason }));
        let detail = detail.map_err(|misfit| Failure::bad("reason", misfit))?;
        let (action, input) = ("suspendUser", (user, reason));
        self.decide(caller, user, request, (action, &input), UserStatus::Suspended, detail).await
    }

    /// Lets a suspended account back.
    pub async fn unsuspend(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        let detail = Json::of(&serde_json::json!({}));
        let detail = detail.map_err(|misfit| Failure::Internal(misfit.to_string()))?;
        self.decide(caller, user, request, ("unsuspendUser", user), UserStatus::Active, detail)
            .await
    }

    /// Sets the roles of somebody. Admins give and take them; nobody takes their own, so one admin
    /// always remains who can give them.
    pub async fn set_roles(
        &self,
        caller: &Caller,
        user: &UserId,
        roles: &[Role],
        request: Option<&RequestId>,
    ) -> Result<User, AccountError> {
        let me = self.ground.account(caller).await?;
        let official = Official::new(caller, me);
        official.may(Act::SetRoles)?;
        if official.me.id == *user && !roles.contains(&Role::Admin) {
            return Err(AccountError::Yourself);
        }
        let roles = whole(roles);
        let input = (user, &roles);
        let request = self.ground.request(&official.me.id, request, "setUserRoles", &input)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.subject(&outcome.user).await,
                async || {
                    let before = self.subject(user).await?;
                    let after = self.changed(&before, |user| user.roles.clone_from(&roles));
                    let detail = role_change(&before, &after)?;
                    self.write(&official, "setUserRoles", &before, after, detail, request.as_ref())
                        .await
                },
            )
            .await
            .map(|user| shown(Some(caller), user))
    }

    /// Gives somebody a role, as whoever runs this: the first admin has no other way to become one.
    pub async fn grant(&self, nickname: &Nickname, role: Role) -> Result<User, AccountError> {
        self.ground
            .once(
                None,
                async |outcome: Outcome| self.subject(&outcome.user).await,
                async || {
                    let lock = self.ground.core().nick_lock(nickname).get().await?;
                    let lock = lock.ok_or(AccountError::NoSuchUser)?;
                    let before = self.subject(&lock.user_id).await?;
                    if before.roles.contains(&role) {
                        return Ok(Tried::Done(before));
                    }
                    let after = self.changed(&before, |user| {
                        user.roles.push(role);
                        user.roles = whole(&user.roles);
                    });
                    let detail = Some(role_change(&before, &after)?);
                    let entry = audit::entry(&self.ground, None, "grantRole", &after.id, detail);
                    let commit = self.ground.commit().with("user", rekey(&before, &after)?);
                    Ok::<Tried<_>, AccountError>(commit.with("audit", entry).done(after).await?)
                },
            )
            .await
    }

    /// Refuses whoever does not look after what runs behind the scenes.
    pub async fn check_operator(&self, caller: &Caller) -> Result<(), AccountError> {
        let me = self.ground.reader(caller).await?;
        Ok(Official::new(caller, me).may(Act::RedriveDeadLetters)?)
    }

    /// Failed sign-ins of an e-mail address, or from an address in the network, newest first.
    pub async fn login_attempts(
        &self,
        caller: &Caller,
        key: &str,
        page: &PageInput,
    ) -> Result<Page<LoginAttempt>, AccountError> {
        let me = self.ground.reader(caller).await?;
        Official::new(caller, me).may(Act::SeeLoginAttempts)?;
        let (kind, subject) = login_key(key)?;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.logins().login_attempts(&kind, &subject);
                listing.limit(limit).after(after).page().await
            },
            async |attempts: Vec<LoginAttempt>| Ok(attempts.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Suspends an account, or lets it back.
    async fn decide<I: Serialize + ?Sized>(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
        (action, input): (&'static str, &I),
        status: UserStatus,
        detail: Json,
    ) -> Result<User, AccountError> {
        let me = self.ground.account(caller).await?;
        let official = Official::new(caller, me);
        official.may(Act::SuspendUser)?;
        if official.me.id == *user {
            return Err(AccountError::Yourself);
        }
        let request = self.ground.request(&official.me.id, request, action, &input)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.subject(&outcome.user).await,
                async || {
                    let before = self.subject(user).await?;
                    if is_staff(&before) && !official.is_admin() {
                        return Err(Failure::Forbidden.into());
                    }
                    if before.status == status {
                        let outcome = Outcome { user: before.id.clone() };
                        let request = request.as_ref();
                        return Ok(self.ground.nothing_to_do(request, &outcome, before).await?);
                    }
                    let after = self.changed(&before, |user| user.status = status);
                    let detail = detail.clone();
                    self.write(&official, action, &before, after, detail, request.as_ref()).await
                },
            )
            .await
            .map(|user| shown(Some(caller), user))
    }

    /// Writes what an official decided, with its entry in the audit.
    async fn write(
        &self,
        official: &Official<'_>,
        action: &'static str,
        before: &User,
        after: User,
        detail: Json,
        request: Option<&Request>,
    ) -> Result<Tried<User>, AccountError> {
        let entry =
            audit::entry(&self.ground, Some(official.caller), action, &after.id, Some(detail));
        let check = official.check(&after.id);
        let mut changed: Update = rekey(before, &after)?;
        if check.is_none() {
            changed = changed.when(official.in_office());
        }
        let outcome = Outcome { user: after.id.clone() };
        let commit = self
            .ground
            .commit()
            .with("user", changed)
            .with_any("official", check)
            .with("audit", entry)
            .remembering(request, &outcome)?;
        Ok(commit.done(after).await?)
    }

    /// Somebody whose account is not gone.
    async fn subject(&self, user: &UserId) -> Result<User, AccountError> {
        let user = self.ground.core().profile(user).strong().get().await?;
        user.filter(is_there).ok_or(AccountError::NoSuchUser)
    }

    /// A profile that differs from another.
    fn changed(&self, before: &User, change: impl FnOnce(&mut User)) -> User {
        let mut after = before.clone();
        change(&mut after);
        after.version = before.version + 1;
        after.updated_at = self.ground.now();
        after
    }
}

fn is_staff(user: &User) -> bool {
    user.roles.iter().any(|role| matches!(role, Role::Moderator | Role::Admin))
}

/// These roles, each once, and that of every user.
fn whole(roles: &[Role]) -> Vec<Role> {
    let held = |role: &Role| *role == Role::User || roles.contains(role);
    Role::ALL.iter().copied().filter(held).collect()
}

fn role_change(before: &User, after: &User) -> Result<Json, Failure> {
    let change = Json::of(&serde_json::json!({ "from": before.roles, "to": after.roles }));
    change.map_err(|misfit| Failure::Internal(misfit.to_string()))
}

/// What attempts are counted by: an e-mail address, or the network of an address.
fn login_key(key: &str) -> Result<(LoginKey, LoginName), Failure> {
    if let Ok(address) = key.trim().parse::<IpAddr>() {
        return Ok((LoginKey::Ip, network(address).into()));
    }
    let email: Result<Email, Misfit> = key.parse();
    let email = email.map_err(|misfit| Failure::bad("key", misfit))?;
    Ok((LoginKey::Email, (&email).into()))
}
