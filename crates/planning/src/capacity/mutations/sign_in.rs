//! Signing up, in and out, and changes of credentials.

use std::net::{IpAddr, Ipv4Addr};

use roundtable_model::entities::{Credential, EmailLock, Invitation, LoginAttempt, Session, User};
use roundtable_model::{LoginKey, Secret, samples};

use super::step::{MutationStep, change, check, delete, put};
use super::{MutationWrites, in_transaction};

pub(super) fn mutations() -> Vec<MutationWrites> {
    vec![
        register(),
        login(),
        login_failed(),
        refresh_token(),
        logout(),
        change_password(),
        change_email(),
    ]
}

/// A user with an empty profile.
fn new_user() -> User {
    User {
        display_name: None,
        birth_date: None,
        country: None,
        gender: None,
        pronouns: None,
        bio: None,
        tags: Vec::new(),
        profile_image: None,
        profile_image_url: None,
        handle: None,
        public_key: None,
        inbox_url: None,
        outbox_url: None,
        followers_url: None,
        following_url: None,
        version: 1,
        ..samples::user()
    }
}

fn register() -> MutationWrites {
    let user = new_user();
    let invitation = samples::invitation();
    let used = Invitation { uses_left: invitation.uses_left - 1, ..invitation.clone() };
    MutationWrites::idempotent(
        "register",
        [
            put(&user),
            put(&samples::credential()),
            put(&samples::email_lock()),
            put(&samples::nick_lock()),
            // Only if signing up requires an invitation.
            change(&invitation, &used).times("invitations", 0.0),
        ],
    )
    .and_own(open_session(&user))
}

fn login() -> MutationWrites {
    MutationWrites::plain("login", check_password(true).chain(open_session(&samples::user())))
}

/// A wrong password: the attempts stay counted.
fn login_failed() -> MutationWrites {
    let [account, address] = login_attempts();
    MutationWrites::plain("loginFailed", [account.increment(), address.increment()])
}

fn refresh_token() -> MutationWrites {
    let session = samples::session();
    let used_at = Some(session.created_at);
    let next = Session { used_at, ..session.clone() };
    MutationWrites::plain("refreshToken", in_transaction([change(&session, &next)]))
}

fn logout() -> MutationWrites {
    MutationWrites::plain("logout", [delete(&samples::session()).times("sessions", 1.0)])
}

fn change_password() -> MutationWrites {
    let credential = samples::credential();
    let password_hash = Secret::new(credential.password_hash.expose().replace("=2", "=3"));
    let changed = Credential { password_hash, ..credential.clone() };
    let session = samples::session();
    let stays = Session { created_at: session.created_at.plus_ms(1), ..session.clone() };
    let own = in_transaction([change(&credential, &changed), change(&session, &stays)]);
    // The others are signed out.
    MutationWrites::plain("changePassword", check_password(false).chain(own))
        .and_own([delete(&session).times("sessions", 1.0)])
}

fn change_email() -> MutationWrites {
    let (before, old_lock) = (samples::user(), samples::email_lock());
    let new_lock = EmailLock {
        // Any other address will do.
        email: format!("new.{}", old_lock.email).parse().unwrap_or_else(|_| old_lock.email.clone()),
        ..old_lock.clone()
    };
    let email = Some(new_lock.email.clone());
    let after = User { email, version: before.version + 1, ..before.clone() };
    let own = in_transaction([change(&before, &after), delete(&old_lock), put(&new_lock)]);
    MutationWrites::plain("changeEmail", check_password(false).chain(own))
}

/// Opens a session if the account and its password are as they were checked.
fn open_session(user: &User) -> impl Iterator<Item = MutationStep> {
    in_transaction([put(&samples::session()), check(user), check(&samples::credential())])
}

/// The attempts of one account, or from one address.
struct CountedAttempts(LoginAttempt);

fn login_attempts() -> [CountedAttempts; 2] {
    let account = samples::login_attempt();
    let subject = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 207)).into();
    let address = LoginAttempt { kind: LoginKey::Ip, subject, ..account.clone() };
    [CountedAttempts(account), CountedAttempts(address)]
}

impl CountedAttempts {
    fn one_more(&self) -> LoginAttempt {
        LoginAttempt { count: self.0.count + 1, ..self.0.clone() }
    }

    /// An attempt is counted before the password is checked.
    fn increment(&self) -> MutationStep {
        change(&self.0, &self.one_more())
    }

    /// A successful attempt is subtracted again.
    fn decrement(&self) -> MutationStep {
        change(&self.one_more(), &self.0)
    }

    /// A successful attempt resets the account's count.
    fn reset(&self) -> MutationStep {
        delete(&self.one_more())
    }
}

/// A correct password: the attempt is counted and then removed. Only signing in counts by address.
fn check_password(address: bool) -> impl Iterator<Item = MutationStep> {
    let [by_account, by_address] = login_attempts();
    let of_address = [by_address.increment(), by_address.decrement()];
    [by_account.increment(), by_account.reset()]
        .into_iter()
        .chain(of_address.into_iter().filter(move |_| address))
}
