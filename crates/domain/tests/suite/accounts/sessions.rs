//! Signed-in devices and their tokens (R31, R42).

use std::sync::Arc;

use futures::future::join_all;
use roundtable_domain::{AccountError, Accounts, Code, Settings, SignedIn};
use roundtable_model::{Role, Secret};
use roundtable_testkit::Town;

use super::code;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

async fn is_over(town: &Town, token: &Secret) -> bool {
    matches!(town.accounts().refresh(token).await, Err(AccountError::SessionEnded))
}

async fn again(town: &Town, name: &str) -> SignedIn {
    town.accounts().login(&town.email(name), &town.password(name), None).await.unwrap()
}

#[tokio::test]
async fn a_token_is_exchanged_for_the_next_one() {
    let town = Town::of([]).await;
    let first = town.sign_up("ana").await;
    let second = town.accounts().refresh(&first.refresh_token).await.unwrap();
    assert_ne!(first.refresh_token, second.refresh_token);
    assert_eq!(first.session_id, second.session_id);
    assert_eq!((first.user, first.caller), (second.user, second.caller));
    let third = town.accounts().refresh(&second.refresh_token).await.unwrap();
    assert!(!is_over(&town, &third.refresh_token).await);
    let rows = town.rows(&format!("USER#{}", third.user.id), "SESSION#").await;
    assert_eq!(rows.len(), 1, "one device is one item, however often it comes");
}

/// A copy ends the session, for the thief and for whoever was robbed, and no other.
#[tokio::test]
async fn a_token_used_twice_ends_its_session() {
    for exchanges in 1..4 {
        let town = Town::of([]).await;
        let first = town.sign_up("ana").await;
        let other = again(&town, "ana").await;
        let mut newest = first.clone();
        for _ in 0..exchanges {
            newest = town.accounts().refresh(&newest.refresh_token).await.unwrap();
        }
        assert!(is_over(&town, &first.refresh_token).await);
        assert!(is_over(&town, &newest.refresh_token).await, "after {exchanges}");
        assert!(!is_over(&town, &other.refresh_token).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_used_twice_at_the_same_time_is_exchanged_once() {
    let town = Arc::new(Town::of([]).await);
    let first = town.sign_up("ana").await;
    let tasks = (0..4).map(|_| {
        let (accounts, token) = (town.accounts(), first.refresh_token.clone());
        tokio::spawn(async move { accounts.refresh(&token).await })
    });
    let ended: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    let won: Vec<SignedIn> = ended.into_iter().filter_map(Result::ok).collect();
    assert_eq!(won.len(), 1);
    assert!(is_over(&town, &won[0].refresh_token).await, "nobody knows whose it was");
}

/// Whoever signs out everywhere is out, whatever a device does meanwhile.
#[tokio::test]
async fn a_device_can_be_signed_out_while_it_comes_back() {
    for gap in 1.. {
        let town = Town::of([]).await;
        let first = town.sign_up("ana").await;
        let (accounts, caller) = (town.accounts(), first.caller.clone());
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            accounts.logout_everywhere(&caller).await.unwrap();
        });
        let refreshed = Accounts::new(ground).refresh(&first.refresh_token).await;
        if !meanwhile.happened() {
            refreshed.unwrap();
            return;
        }
        match refreshed {
            Ok(next) => assert!(is_over(&town, &next.refresh_token).await, "{gap}"),
            Err(refused) => assert!(matches!(refused, AccountError::SessionEnded), "{gap}"),
        }
        assert!(town.rows(&format!("USER#{}", first.user.id), "SESSION#").await.is_empty());
    }
}

/// Who knows the ids and not the secrets can neither enter nor throw anybody out.
#[tokio::test]
async fn a_made_up_token_does_nothing() {
    let town = Town::of([]).await;
    let (ana, bo) = (town.sign_up("ana").await, town.sign_up("bo").await);
    let parts =
        |token: &Secret| -> Vec<String> { token.expose().split('.').map(str::to_owned).collect() };
    let (mine, theirs) = (parts(&ana.refresh_token), parts(&bo.refresh_token));
    let mixed = [&mine[0], &mine[1], &mine[2], &theirs[3], &theirs[4]];
    let mixed = Secret::new(mixed.map(String::as_str).join("."));
    let half = [&mine[0], &mine[1], &mine[2], &theirs[3], &mine[4]];
    let half = Secret::new(half.map(String::as_str).join("."));
    for forged in [&mixed, &half, &Secret::new(""), &Secret::new("rtr.a.b.c.d")] {
        assert!(is_over(&town, forged).await);
        assert!(!town.accounts().logout(forged).await.unwrap());
    }
    assert!(!is_over(&town, &ana.refresh_token).await);
}

#[tokio::test]
async fn a_device_that_is_not_used_is_signed_out() {
    let town = Town::with(Settings { session_days: 10, ..Town::settings() }, []).await;
    let first = town.sign_up("ana").await;
    town.pass_ms(9 * DAY_MS);
    let second = town.accounts().refresh(&first.refresh_token).await.unwrap();
    town.pass_ms(9 * DAY_MS);
    let third = town.accounts().refresh(&second.refresh_token).await.unwrap();
    town.pass_ms(10 * DAY_MS + 1_000);
    assert!(is_over(&town, &third.refresh_token).await);
}

#[tokio::test]
async fn signing_out_ends_what_was_named() {
    let town = Town::of([]).await;
    let accounts = town.accounts();
    let devices = [town.sign_up("ana").await, again(&town, "ana").await, again(&town, "ana").await];
    let bo = town.sign_up("bo").await;
    let [one, two, three] = &devices;
    assert!(accounts.logout(&one.refresh_token).await.unwrap());
    assert!(!accounts.logout(&one.refresh_token).await.unwrap(), "it was out already");
    assert!(is_over(&town, &one.refresh_token).await);
    assert!(accounts.logout_session(&two.caller, &two.session_id).await.unwrap());
    assert!(!accounts.logout_session(&two.caller, &bo.session_id).await.unwrap());
    assert!(is_over(&town, &two.refresh_token).await);
    let three = accounts.refresh(&three.refresh_token).await.unwrap();
    accounts.logout_everywhere(&three.caller).await.unwrap();
    assert!(is_over(&town, &three.refresh_token).await);
    assert!(!is_over(&town, &bo.refresh_token).await);
}

/// R42: what an account is now decides, at the next exchange at the latest.
#[tokio::test]
async fn a_session_follows_its_account() {
    let town = Town::of(["root"]).await;
    let (accounts, admin) = (town.accounts(), town.employ("root", Role::Admin).await);
    let ana = town.sign_up("ana").await;
    accounts.set_roles(&admin, &ana.user.id, &[Role::Moderator], None).await.unwrap();
    let ana = accounts.refresh(&ana.refresh_token).await.unwrap();
    assert!(ana.caller.moderates());
    accounts.suspend(&admin, &ana.user.id, "spam", None).await.unwrap();
    assert_eq!(code(accounts.refresh(&ana.refresh_token).await), Code::Forbidden);
    accounts.unsuspend(&admin, &ana.user.id, None).await.unwrap();
    let ana = accounts.refresh(&ana.refresh_token).await.unwrap();
    accounts.delete_account(&ana.caller, &ana.user.nickname).await.unwrap();
    assert!(is_over(&town, &ana.refresh_token).await);
}

#[tokio::test]
async fn one_person_has_so_many_devices() {
    let town = Town::of([]).await;
    let first = town.sign_up("ana").await;
    town.pass_ms(1);
    let second = again(&town, "ana").await;
    for _ in 2..100 {
        town.pass_ms(1);
        again(&town, "ana").await;
    }
    let first = town.accounts().refresh(&first.refresh_token).await.unwrap();
    town.pass_ms(1);
    again(&town, "ana").await;
    assert!(is_over(&town, &second.refresh_token).await, "not used for longest");
    assert!(!is_over(&town, &first.refresh_token).await);
    let rows = town.rows(&format!("USER#{}", first.user.id), "SESSION#").await;
    assert_eq!(rows.len(), 100);
}
