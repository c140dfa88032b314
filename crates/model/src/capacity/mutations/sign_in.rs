//! Signing up, in and out, and what one signs in with.

use std::net::{IpAddr, Ipv4Addr};

use super::step::{Step, change, check, delete, put};
use super::{Mutation, together};
use crate::entities::{Credential, EmailLock, Invitation, LoginAttempt, Session, User};
use crate::{LoginKey, Secret, samples};

pub(super) fn mutations() -> Vec<Mutation> {
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

/// Somebody who has said nothing about themselves yet.
fn newcomer() -> User {
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

fn register() -> Mutation {
    let user = newcomer();
    let invitation = samples::invitation();
    let used = Invitation { uses_left: invitation.uses_left - 1, ..invitation.clone() };
    Mutation::repeatable(
        "register",
        [
            put(&user),
            put(&samples::credential()),
            put(&samples::email_lock()),
            put(&samples::nick_lock()),
            // Where signing up needs one.
            change(&invitation, &used).times("invitations", 0.0),
        ],
    )
    .and(opened(&user))
}

fn login() -> Mutation {
    Mutation::once("login", proven(true).chain(opened(&samples::user())))
}

/// A wrong password: the tries stay counted.
fn login_failed() -> Mutation {
    let [account, address] = tries();
    Mutation::once("loginFailed", [account.counted(), address.counted()])
}

/// The session stays, its token changes.
fn refresh_token() -> Mutation {
    let session = samples::session();
    let used_at = Some(session.created_at);
    let next = Session { used_at, ..session.clone() };
    Mutation::once("refreshToken", together([change(&session, &next)]))
}

fn logout() -> Mutation {
    Mutation::once("logout", [delete(&samples::session()).times("sessions", 1.0)])
}

fn change_password() -> Mutation {
    let credential = samples::credential();
    let password_hash = Secret::new(credential.password_hash.expose().replace("=2", "=3"));
    let changed = Credential { password_hash, ..credential.clone() };
    let session = samples::session();
    let stays = Session { created_at: session.created_at.plus_ms(1), ..session.clone() };
    let own = together([change(&credential, &changed), change(&session, &stays)]);
    // The others are signed out.
    Mutation::once("changePassword", proven(false).chain(own))
        .and([delete(&session).times("sessions", 1.0)])
}

fn change_email() -> Mutation {
    let (before, old_lock) = (samples::user(), samples::email_lock());
    let new_lock = EmailLock {
        // Any other address will do.
        email: format!("new.{}", old_lock.email).parse().unwrap_or_else(|_| old_lock.email.clone()),
        ..old_lock.clone()
    };
    let email = Some(new_lock.email.clone());
    let after = User { email, version: before.version + 1, ..before.clone() };
    let own = together([change(&before, &after), delete(&old_lock), put(&new_lock)]);
    Mutation::once("changeEmail", proven(false).chain(own))
}

/// A device that signs in, while the account and its password are as they were proven.
fn opened(user: &User) -> impl Iterator<Item = Step> {
    together([put(&samples::session()), check(user), check(&samples::credential())])
}

/// Tries of one account, or from one address.
struct Tries(LoginAttempt);

/// By account and by address.
fn tries() -> [Tries; 2] {
    let account = samples::login_attempt();
    let subject = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 207)).into();
    let address = LoginAttempt { kind: LoginKey::Ip, subject, ..account.clone() };
    [Tries(account), Tries(address)]
}

impl Tries {
    fn one_more(&self) -> LoginAttempt {
        LoginAttempt { count: self.0.count + 1, ..self.0.clone() }
    }

    /// A try is counted before the password is looked at.
    fn counted(&self) -> Step {
        change(&self.0, &self.one_more())
    }

    /// One that succeeds is taken back.
    fn taken_back(&self) -> Step {
        change(&self.one_more(), &self.0)
    }

    /// The account begins anew.
    fn forgotten(&self) -> Step {
        delete(&self.one_more())
    }
}

/// A password that is right: the try is counted, and then no more. Only signing in has an address.
fn proven(address: bool) -> impl Iterator<Item = Step> {
    let [by_account, by_address] = tries();
    let of_address = [by_address.counted(), by_address.taken_back()];
    [by_account.counted(), by_account.forgotten()]
        .into_iter()
        .chain(of_address.into_iter().filter(move |_| address))
}
