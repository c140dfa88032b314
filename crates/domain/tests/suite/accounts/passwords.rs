//! Sign-in by password, and password changes (R31, R42).

use std::sync::Arc;

use roundtable_domain::{
    AccountError, Accounts, Caller, Code, KeysOnSignOut, LoginSettings, Refusal, Settings,
    SignedInUser,
};
use roundtable_model::entities::{Credential, Session};
use roundtable_model::{Entity, Role, Secret, UserId, UserStatus};
use roundtable_testkit::Town;

use super::{code, everything, secrets};

async fn login(town: &Town, name: &str, password: &Secret) -> Result<SignedInUser, AccountError> {
    town.accounts().login(&town.email(name), password, Some(town.address())).await
}

async fn hash_of(town: &Town, user: &UserId) -> String {
    let credential = town.context().core().credential(user).get().await.unwrap().unwrap();
    credential.password_hash.expose().to_owned()
}

#[tokio::test]
async fn the_correct_password_signs_in() {
    let town = Town::of([]).await;
    let ana = town.sign_up("ana").await;
    let signed_in = login(&town, "ana", &town.password("ana")).await.unwrap();
    assert_eq!(signed_in.user, ana.user);
    assert_ne!(signed_in.session_id, ana.session_id);
    let spelled = "ANA@example.COM".parse().unwrap();
    town.accounts().login(&spelled, &town.password("ana"), None).await.unwrap();
    assert!(!everything(&town).await.contains(secrets(&signed_in.refresh_token)[1]));
}

/// The message is the same whether or not the account exists.
#[tokio::test]
async fn a_wrong_password_reveals_nothing() {
    let town = Town::of([]).await;
    town.sign_up("ana").await;
    let wrong = login(&town, "ana", &Secret::new("guess")).await.unwrap_err();
    let unknown = login(&town, "nobody", &town.password("ana")).await.unwrap_err();
    assert!(matches!(wrong, AccountError::WrongCredentials));
    assert_eq!(wrong.to_string(), unknown.to_string());
    assert_eq!((wrong.code(), unknown.code()), (Code::Unauthenticated, Code::Unauthenticated));
    let long = login(&town, "ana", &Secret::new("x".repeat(1_025))).await;
    assert_eq!(code(long), Code::BadRequest);
}

#[tokio::test]
async fn only_the_owner_learns_of_a_suspension() {
    let town = Town::of(["mo"]).await;
    let ana = town.sign_up("ana").await;
    let moderator = town.grant_role("mo", Role::Moderator).await;
    town.accounts().suspend(&moderator, &ana.user.id, "spam", None).await.unwrap();
    let right = login(&town, "ana", &town.password("ana")).await.unwrap_err();
    assert_eq!(
        (right.code(), right.to_string().as_str()),
        (Code::Forbidden, "this account is suspended")
    );
    let wrong = login(&town, "ana", &Secret::new("guess")).await;
    assert!(matches!(wrong, Err(AccountError::WrongCredentials)));
    town.accounts().unsuspend(&moderator, &ana.user.id, None).await.unwrap();
    login(&town, "ana", &town.password("ana")).await.unwrap();
}

/// No session is opened in an account deleted concurrently.
#[tokio::test]
async fn an_account_can_be_deleted_during_a_sign_in() {
    for gap in 1.. {
        let town = Town::of([]).await;
        let ana = town.sign_up("ana").await;
        let (accounts, caller, nickname) = (town.accounts(), ana.caller, ana.user.nickname);
        let (context, meanwhile) = town.interleave(gap, async move || {
            accounts.delete_account(&caller, &nickname).await.unwrap();
        });
        let signed_in = Accounts::new(context)
            .login(&town.email("ana"), &town.password("ana"), Some(town.address()))
            .await;
        if !meanwhile.happened() {
            signed_in.unwrap();
            return;
        }
        match signed_in {
            Ok(signed_in) => {
                let refreshed = town.accounts().refresh(&signed_in.refresh_token).await;
                assert!(matches!(refreshed, Err(AccountError::SessionEnded)), "{gap}");
            }
            Err(refused) => {
                assert!(matches!(refused, AccountError::WrongCredentials), "{gap}: {refused}");
            }
        }
        let sessions = town.context().core().sessions(&ana.user.id).all().await.unwrap();
        assert!(sessions.len() <= 2, "{gap}");
    }
}

/// No session survives with a password that was changed during the sign-in.
#[tokio::test]
async fn a_password_can_be_changed_during_a_sign_in() {
    for gap in 1.. {
        let town = Town::of([]).await;
        let (ana, bo) = (town.sign_up("ana").await.user.id, town.sign_up("bo").await.user.id);
        let other = Secret::new(hash_of(&town, &bo).await);
        let (core, later) = (town.context().core().clone(), town.now().plus_ms(1));
        // The transaction of a password change; the session items are deleted later.
        let changed = Credential::at(&ana)
            .patch()
            .set(Credential::PASSWORD_HASH, &other)
            .set(Credential::UPDATED_AT, &later);
        let (context, meanwhile) = town.interleave(gap, async move || {
            core.table().update(changed.into()).await.unwrap();
        });
        let signed_in = Accounts::new(context)
            .login(&town.email("ana"), &town.password("ana"), Some(town.address()))
            .await;
        if !meanwhile.happened() {
            signed_in.unwrap();
            return;
        }
        match signed_in {
            Ok(signed_in) => {
                let refreshed = town.accounts().refresh(&signed_in.refresh_token).await;
                assert!(matches!(refreshed, Err(AccountError::SessionEnded)), "{gap}");
            }
            Err(refused) => {
                assert!(matches!(refused, AccountError::WrongCredentials), "{gap}: {refused}");
            }
        }
    }
}

#[tokio::test]
async fn hashes_follow_the_settings() {
    let town = Town::of([]).await;
    let ana = town.sign_up("ana").await;
    let before = hash_of(&town, &ana.user.id).await;
    assert!(before.contains("m=8,t=1"), "{before}");
    let login = LoginSettings { hash_memory_kib: 16, hash_passes: 2, ..Town::settings().login };
    let settings = Settings { login, ..Town::settings() };
    let store = town.context().store().clone();
    let stricter = Town::on(store, town.clock().clone(), settings, 2).await.accounts();
    let (email, password) = (town.email("ana"), town.password("ana"));
    stricter.login(&email, &Secret::new("guess"), None).await.unwrap_err();
    assert_eq!(hash_of(&town, &ana.user.id).await, before);
    stricter.login(&email, &password, None).await.unwrap();
    let after = hash_of(&town, &ana.user.id).await;
    assert!(after.contains("m=16,t=2"), "{after}");
    stricter.login(&email, &password, None).await.unwrap();
    assert_eq!(hash_of(&town, &ana.user.id).await, after, "once");
    stricter.refresh(&ana.refresh_token).await.unwrap();
}

#[tokio::test]
async fn a_new_password_ends_the_other_sessions() {
    let town = Town::of([]).await;
    let accounts = town.accounts();
    let here = town.sign_up("ana").await;
    let elsewhere = login(&town, "ana", &town.password("ana")).await.unwrap();
    let (old, new) = (town.password("ana"), Secret::new("another secret"));
    let keys = KeysOnSignOut::Revoke;
    accounts.change_password(&here.caller, &old, &new, keys).await.unwrap();
    let ended = accounts.refresh(&elsewhere.refresh_token).await;
    assert!(matches!(ended, Err(AccountError::SessionEnded)));
    accounts.refresh(&here.refresh_token).await.unwrap();
    let refused = login(&town, "ana", &old).await;
    assert!(matches!(refused, Err(AccountError::WrongCredentials)));
    let anew = login(&town, "ana", &new).await.unwrap();
    accounts.refresh(&anew.refresh_token).await.unwrap();

    let elsewhere = Caller::user(here.user.id.clone());
    accounts.change_password(&elsewhere, &new, &old, keys).await.unwrap();
    assert!(town.rows(&format!("USER#{}", here.user.id), "SESSION#").await.is_empty());
}

/// R33: even if the process stopped before deleting their items.
#[tokio::test]
async fn a_session_older_than_the_password_has_ended() {
    let town = Town::of([]).await;
    let accounts = town.accounts();
    let here = town.sign_up("ana").await;
    let elsewhere = login(&town, "ana", &town.password("ana")).await.unwrap();
    let core = town.context().core();
    let session: Session =
        core.session(&elsewhere.user.id, &elsewhere.session_id).get().await.unwrap().unwrap();
    let (old, new) = (town.password("ana"), Secret::new("another secret"));
    accounts.change_password(&here.caller, &old, &new, KeysOnSignOut::Revoke).await.unwrap();
    core.table().put(session.put()).await.unwrap();
    let ended = accounts.refresh(&elsewhere.refresh_token).await;
    assert!(matches!(ended, Err(AccountError::SessionEnded)));
    accounts.refresh(&here.refresh_token).await.unwrap();
}

#[tokio::test]
async fn changing_a_password_requires_the_current_one() {
    let town = Town::of([]).await;
    let accounts = town.accounts();
    let ana = town.sign_up("ana").await;
    let change = async |current: &str, next: &str| {
        let (current, next) = (Secret::new(current), Secret::new(next));
        accounts.change_password(&ana.caller, &current, &next, KeysOnSignOut::Revoke).await
    };
    let before = hash_of(&town, &ana.user.id).await;
    let right = town.password("ana").expose().to_owned();
    assert_eq!(code(change(&right, "short").await), Code::BadRequest);
    let refused = change("guess", "another secret").await.unwrap_err();
    assert!(matches!(refused, AccountError::WrongPassword));
    assert_eq!(refused.code(), Code::Unauthenticated);
    for _ in 0..9 {
        change("guess", "another secret").await.unwrap_err();
    }
    let locked = change(&right, "another secret").await;
    assert_eq!(code(locked), Code::RateLimited, "no guessing here either");
    assert_eq!(hash_of(&town, &ana.user.id).await, before);
    let (stranger, old, new) = (town.caller("x"), town.password("x"), town.password("y"));
    let stranger = accounts.change_password(&stranger, &old, &new, KeysOnSignOut::Revoke).await;
    assert_eq!(code(stranger), Code::Unauthenticated);
}

/// Of two concurrent changes one is refused, and the other's password holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_concurrent_password_changes_one_succeeds() {
    let town = Arc::new(Town::of([]).await);
    let ana = town.sign_up("ana").await;
    let tasks = ["the first secret", "the other secret"].map(|next| {
        let (town, caller) = (Arc::clone(&town), ana.caller.clone());
        tokio::spawn(async move {
            let (accounts, next) = (town.accounts(), Secret::new(next));
            let (old, keys) = (town.password("ana"), KeysOnSignOut::Revoke);
            let changed = accounts.change_password(&caller, &old, &next, keys).await;
            changed.map(|_| next)
        })
    });
    let ended = futures::future::join_all(tasks).await;
    let won: Vec<Secret> = ended.into_iter().filter_map(|ended| ended.unwrap().ok()).collect();
    assert_eq!(won.len(), 1);
    login(&town, "ana", &won[0]).await.unwrap();
    assert_eq!(town.accounts().me(&ana.caller).await.unwrap().unwrap().status, UserStatus::Active);
}
