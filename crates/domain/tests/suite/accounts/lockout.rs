//! Pauses and locks after failed sign-ins, by network, by account and network, and by account (R5).

use std::net::IpAddr;
use std::sync::Arc;

use futures::future::join_all;
use roundtable_domain::{AccountError, Code, LoginSettings, ServiceError, Settings};
use roundtable_model::Secret;
use roundtable_testkit::Town;

use super::code;

const MINUTE_MS: u64 = 60_000;

pub(super) fn wrong() -> Secret {
    Secret::new("not the password")
}

/// One of many networks that have nothing else in common.
pub(super) fn network(number: u8) -> IpAddr {
    IpAddr::from([198, 51, 100, number])
}

pub(super) async fn guess(town: &Town, name: &str, from: IpAddr) -> Result<(), AccountError> {
    town.accounts().login(&town.email(name), &wrong(), Some(from)).await.map(drop)
}

/// Guesses after the pauses, if there are any; a lock is none.
pub(super) async fn guess_patiently(town: &Town, name: &str, from: IpAddr) {
    loop {
        match guess(town, name, from).await {
            Err(AccountError::WrongCredentials) => return,
            refused => {
                let pause = retry_after(refused);
                assert!(pause <= 64, "{pause}");
                town.advance_ms(pause * 1000);
            }
        }
    }
}

/// Guesses until the network is locked for this account.
pub(super) async fn lock(town: &Town, name: &str, from: IpAddr) {
    for _ in 0..10 {
        guess_patiently(town, name, from).await;
    }
    assert_eq!(retry_after(sign_in(town, name, from).await), 900);
}

pub(super) async fn sign_in(town: &Town, name: &str, from: IpAddr) -> Result<(), AccountError> {
    let login = (town.email(name), town.password(name));
    town.accounts().login(&login.0, &login.1, Some(from)).await.map(drop)
}

pub(super) fn retry_after<T: std::fmt::Debug>(refused: Result<T, AccountError>) -> u64 {
    match refused {
        Err(AccountError::Failed(ServiceError::RateLimited { retry_after_seconds })) => {
            retry_after_seconds
        }
        other => panic!("{other:?}"),
    }
}

/// A town at the start of a window, with these limits.
pub(super) async fn town(login: LoginSettings) -> Town {
    let cheap = Town::settings().login;
    let (hash_memory_kib, hash_passes) = (cheap.hash_memory_kib, cheap.hash_passes);
    let login = LoginSettings { hash_memory_kib, hash_passes, ..login };
    let town = Town::with(Settings { login, ..Town::settings() }, []).await;
    town.clock().set_ms(1_738_000_800_000);
    town.sign_up("ana").await;
    town
}

/// R5: ten failures lock the account for the network that they came from, and for no other.
#[tokio::test]
async fn one_network_locks_an_account_only_for_itself() {
    let town = town(LoginSettings::default()).await;
    lock(&town, "ana", town.address()).await;
    let rows = town.login_rows("EMAIL_FROM_IP#ana@example.com 192.0.2.1").await;
    assert!(rows[0].contains("count=10"), "{rows:?}");
    sign_in(&town, "ana", network(7)).await.unwrap();
    town.advance_ms(14 * MINUTE_MS);
    assert_eq!(retry_after(sign_in(&town, "ana", town.address()).await), 60);
    let unchanged = town.login_rows("EMAIL_FROM_IP#ana@example.com 192.0.2.1").await;
    assert_eq!(unchanged, rows, "refused attempts prolong nothing");
    town.advance_ms(MINUTE_MS);
    sign_in(&town, "ana", town.address()).await.unwrap();
}

/// The pauses before a lock double, and the correct password is not tried during one.
#[tokio::test]
async fn pauses_grow_before_a_lock() {
    let town = town(LoginSettings::default()).await;
    for _ in 0..3 {
        guess(&town, "ana", town.address()).await.unwrap_err();
    }
    let mut pauses = Vec::new();
    for _ in 0..8 {
        let seconds = retry_after(sign_in(&town, "ana", town.address()).await);
        pauses.push(seconds);
        town.advance_ms(seconds * 1000);
        if seconds < 900 {
            guess(&town, "ana", town.address()).await.unwrap_err();
        }
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 900]);
}

/// An attacker with many networks gets no more guesses than the limit of the account, and then all
/// strangers are refused.
#[tokio::test]
async fn many_networks_are_bounded_per_account() {
    let town = town(LoginSettings::default()).await;
    town.sign_up("bo").await;
    let mut guesses = 0;
    for number in 0..120 {
        for _ in 0..2 {
            match guess(&town, "ana", network(number)).await {
                Err(AccountError::WrongCredentials) => guesses += 1,
                refused => assert_eq!((guesses, retry_after(refused)), (100, 900)),
            }
            if (93..100).contains(&guesses) {
                town.advance_ms(64_000);
            }
        }
    }
    assert_eq!(guesses, 100);
    assert_eq!(retry_after(sign_in(&town, "ana", network(250)).await), 900);
    sign_in(&town, "bo", network(1)).await.unwrap();
}

/// R5: the lock does not reveal which accounts exist.
#[tokio::test]
async fn a_missing_account_is_locked_the_same_way() {
    let town = town(LoginSettings::default()).await;
    for _ in 0..10 {
        let (existing, unknown) = (
            guess(&town, "ana", town.address()).await.unwrap_err(),
            guess(&town, "nobody", town.address()).await.unwrap_err(),
        );
        assert_eq!(existing.to_string(), unknown.to_string());
        town.advance_ms(65_000);
    }
    let existing = guess(&town, "ana", town.address()).await;
    let unknown = guess(&town, "nobody", town.address()).await;
    assert_eq!(retry_after(existing), retry_after(unknown));
    let shape = |rows: Vec<String>| rows[0].replace("ana", "x").replace("nobody", "x");
    let existing = shape(town.login_rows("EMAIL#ana@example.com").await);
    assert_eq!(existing, shape(town.login_rows("EMAIL#nobody@example.com").await));
}

/// A sign-in forgives the failures of its own network, and takes only itself off the shared counts: an
/// attacker gets no more guesses because the owner signs in.
#[tokio::test]
async fn success_resets_the_count() {
    let town = town(LoginSettings::default()).await;
    for _ in 0..5 {
        for _ in 0..8 {
            guess_patiently(&town, "ana", town.address()).await;
        }
        town.advance_ms(65_000);
        sign_in(&town, "ana", town.address()).await.unwrap();
        assert!(town.login_rows("EMAIL_FROM_IP#ana@example.com 192.0.2.1").await.is_empty());
    }
    for partition in ["IP#192.0.2.1", "EMAIL#ana@example.com"] {
        let rows = town.login_rows(partition).await;
        assert!(rows[0].contains("count=40"), "{partition} failed 40 times: {rows:?}");
    }
}

/// R5: a locked address is locked for all accounts, other addresses are not, and registration still
/// works.
#[tokio::test]
async fn an_address_is_locked_alone() {
    let settings = LoginSettings { address_failures_max: 6, ..LoginSettings::default() };
    let town = town(settings).await;
    town.sign_up("bo").await;
    for name in ["ana", "bo", "x", "y", "z", "ana"] {
        guess_patiently(&town, name, town.address()).await;
    }
    assert_eq!(retry_after(sign_in(&town, "bo", town.address()).await), 900);
    sign_in(&town, "bo", network(7)).await.unwrap();
    town.sign_up("cleo").await;
    let ana = town.login_rows("EMAIL#ana@example.com").await;
    guess(&town, "ana", town.address()).await.unwrap_err();
    assert_eq!(
        town.login_rows("EMAIL#ana@example.com").await,
        ana,
        "a locked address locks no account"
    );
    town.advance_ms(15 * MINUTE_MS);
    sign_in(&town, "bo", town.address()).await.unwrap();
}

#[tokio::test]
async fn addresses_of_one_network_count_as_one() {
    let settings = LoginSettings { address_failures_max: 2, ..LoginSettings::default() };
    let town = town(settings).await;
    let from = |host: u16| IpAddr::from([0x2001, 0xdb8, 1, 2, 3, 4, 5, host]);
    guess_patiently(&town, "x", from(1)).await;
    guess_patiently(&town, "y", from(2)).await;
    assert_eq!(retry_after(sign_in(&town, "ana", from(3)).await), 900);
    let rows = town.login_rows("IP#2001:db8:1:2::").await;
    assert_eq!(rows.len(), 1, "{rows:?}");
}

/// R5: parallel attempts get no more guesses than sequential ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_guesses_do_not_slip_through() {
    let town = Arc::new(town(LoginSettings::default()).await);
    let tasks = (0..60).map(|_| {
        let town = Arc::clone(&town);
        tokio::spawn(async move { guess(&town, "ana", town.address()).await })
    });
    let ended: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    let looked_at = ended.iter().filter(|e| matches!(e, Err(AccountError::WrongCredentials)));
    let looked_at = looked_at.count();
    assert!((3..=10).contains(&looked_at), "{looked_at}");
    assert_eq!(code(sign_in(&town, "ana", town.address()).await), Code::RateLimited);
    let rows = town.login_rows("EMAIL_FROM_IP#ana@example.com 192.0.2.1").await;
    assert!(rows[0].contains(&format!("count={looked_at} ")), "{rows:?}");
}

/// Many concurrent sign-ins with correct passwords lock nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_correct_sign_ins_lock_nothing() {
    let settings = LoginSettings { address_failures_max: 5, ..LoginSettings::default() };
    let town = Arc::new(town(settings).await);
    let tasks = (0..40).map(|_| {
        let town = Arc::clone(&town);
        tokio::spawn(async move { sign_in(&town, "ana", town.address()).await })
    });
    let ended: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert!(ended.iter().any(Result::is_ok));
    for refused in ended.into_iter().filter(Result::is_err) {
        assert_eq!(retry_after(refused), 1, "come again at once");
    }
    sign_in(&town, "ana", town.address()).await.unwrap();
}

#[tokio::test]
async fn the_count_restarts_after_a_lock_within_a_window() {
    let settings = LoginSettings {
        lock_seconds: 60,
        account_failures_max: 4,
        window_seconds: 3600,
        ..LoginSettings::default()
    };
    let town = town(settings).await;
    for _ in 0..3 {
        for _ in 0..4 {
            guess_patiently(&town, "ana", town.address()).await;
        }
        assert_eq!(retry_after(sign_in(&town, "ana", town.address()).await), 60);
        town.advance_ms(MINUTE_MS);
    }
    sign_in(&town, "ana", town.address()).await.unwrap();
}

#[tokio::test]
async fn a_lock_outlasts_its_window() {
    let town = town(LoginSettings::default()).await;
    town.advance_ms(12 * MINUTE_MS);
    lock(&town, "ana", town.address()).await;
    town.advance_ms(5 * MINUTE_MS);
    assert_eq!(retry_after(sign_in(&town, "ana", town.address()).await), 600);
    town.advance_ms(10 * MINUTE_MS);
    sign_in(&town, "ana", town.address()).await.unwrap();
}

#[tokio::test]
async fn failures_of_earlier_windows_do_not_count() {
    let town = town(LoginSettings::default()).await;
    for _ in 0..9 {
        guess_patiently(&town, "ana", town.address()).await;
    }
    town.advance_ms(15 * MINUTE_MS);
    for _ in 0..9 {
        guess_patiently(&town, "ana", town.address()).await;
    }
    town.advance_ms(65_000);
    sign_in(&town, "ana", town.address()).await.unwrap();
    town.advance_ms(2 * 24 * 60 * MINUTE_MS);
    assert!(town.login_rows("EMAIL#ana@example.com").await.is_empty(), "expired");
}
