//! Sessions and their tokens (R31, R42).

use std::sync::Arc;

use futures::future::join_all;
use roundtable_domain::{AccountError, Accounts, Code, KeysOnSignOut, Settings, SignedInUser};
use roundtable_model::{Role, Secret};
use roundtable_testkit::Town;

use super::code;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

async fn has_ended(town: &Town, token: &Secret) -> bool {
    matches!(town.accounts().refresh(token).await, Err(AccountError::SessionEnded))
}

async fn sign_in_again(town: &Town, name: &str) -> SignedInUser {
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
    assert!(!has_ended(&town, &third.refresh_token).await);
    let rows = town.rows(&format!("USER#{}", third.user.id), "SESSION#").await;
    assert_eq!(rows.len(), 1, "one device is one item, however often it comes");
}

/// A reused token ends its session, for the thief and the owner, and no other session.
#[tokio::test]
async fn a_reused_token_ends_its_session() {
    for exchanges in 1..4 {
        let town = Town::of([]).await;
        let first = town.sign_up("ana").await;
        let other = sign_in_again(&town, "ana").await;
        let mut newest = first.clone();
        for _ in 0..exchanges {
            newest = town.accounts().refresh(&newest.refresh_token).await.unwrap();
        }
        assert!(has_ended(&town, &first.refresh_token).await);
        assert!(has_ended(&town, &newest.refresh_token).await, "after {exchanges}");
        assert!(!has_ended(&town, &other.refresh_token).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_used_twice_concurrently_is_exchanged_once() {
    let town = Arc::new(Town::of([]).await);
    let first = town.sign_up("ana").await;
    let tasks = (0..4).map(|_| {
        let (accounts, token) = (town.accounts(), first.refresh_token.clone());
        tokio::spawn(async move { accounts.refresh(&token).await })
    });
    let ended: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    let won: Vec<SignedInUser> = ended.into_iter().filter_map(Result::ok).collect();
    assert_eq!(won.len(), 1);
    assert!(has_ended(&town, &won[0].refresh_token).await, "either holder may be the thief");
}

/// Signing out everywhere wins over a concurrent refresh.
#[tokio::test]
async fn a_session_can_be_ended_during_a_refresh() {
    for gap in 1.. {
        let town = Town::of([]).await;
        let first = town.sign_up("ana").await;
        let (accounts, caller) = (town.accounts(), first.caller.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            accounts.logout_everywhere(&caller, KeysOnSignOut::Revoke).await.unwrap();
        });
        let refreshed = Accounts::new(context).refresh(&first.refresh_token).await;
        if !meanwhile.happened() {
            refreshed.unwrap();
            return;
        }
        match refreshed {
            Ok(next) => assert!(has_ended(&town, &next.refresh_token).await, "{gap}"),
            Err(refused) => assert!(matches!(refused, AccountError::SessionEnded), "{gap}"),
        }
        assert!(town.rows(&format!("USER#{}", first.user.id), "SESSION#").await.is_empty());
    }
}

/// A token with correct ids and wrong secrets neither grants access nor ends the session.
#[tokio::test]
async fn a_forged_token_does_nothing() {
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
        assert!(has_ended(&town, forged).await);
        assert!(!town.accounts().logout(forged).await.unwrap());
    }
    assert!(!has_ended(&town, &ana.refresh_token).await);
}

#[tokio::test]
async fn an_unused_session_expires() {
    let town = Town::with(Settings { session_days: 10, ..Town::settings() }, []).await;
    let first = town.sign_up("ana").await;
    town.advance_ms(9 * DAY_MS);
    let second = town.accounts().refresh(&first.refresh_token).await.unwrap();
    town.advance_ms(9 * DAY_MS);
    let third = town.accounts().refresh(&second.refresh_token).await.unwrap();
    town.advance_ms(10 * DAY_MS + 1_000);
    assert!(has_ended(&town, &third.refresh_token).await);
}

#[tokio::test]
async fn signing_out_ends_the_named_sessions() {
    let town = Town::of([]).await;
    let accounts = town.accounts();
    let devices = [
        town.sign_up("ana").await,
        sign_in_again(&town, "ana").await,
        sign_in_again(&town, "ana").await,
    ];
    let bo = town.sign_up("bo").await;
    let [one, two, three] = &devices;
    assert!(accounts.logout(&one.refresh_token).await.unwrap());
    assert!(!accounts.logout(&one.refresh_token).await.unwrap(), "it was out already");
    assert!(has_ended(&town, &one.refresh_token).await);
    assert!(accounts.logout_session(&two.caller, &two.session_id).await.unwrap());
    assert!(!accounts.logout_session(&two.caller, &bo.session_id).await.unwrap());
    assert!(has_ended(&town, &two.refresh_token).await);
    let three = accounts.refresh(&three.refresh_token).await.unwrap();
    accounts.logout_everywhere(&three.caller, KeysOnSignOut::Revoke).await.unwrap();
    assert!(has_ended(&town, &three.refresh_token).await);
    assert!(!has_ended(&town, &bo.refresh_token).await);
}

/// R42: the current account state decides, at the next refresh at the latest.
#[tokio::test]
async fn a_session_follows_its_account() {
    let town = Town::of(["root"]).await;
    let (accounts, admin) = (town.accounts(), town.grant_role("root", Role::Admin).await);
    let ana = town.sign_up("ana").await;
    accounts.set_roles(&admin, &ana.user.id, &[Role::Moderator], None).await.unwrap();
    let ana = accounts.refresh(&ana.refresh_token).await.unwrap();
    assert!(ana.caller.moderates());
    accounts.suspend(&admin, &ana.user.id, "spam", None).await.unwrap();
    assert_eq!(code(accounts.refresh(&ana.refresh_token).await), Code::Forbidden);
    accounts.unsuspend(&admin, &ana.user.id, None).await.unwrap();
    let ana = accounts.refresh(&ana.refresh_token).await.unwrap();
    accounts.delete_account(&ana.caller, &ana.user.nickname).await.unwrap();
    assert!(has_ended(&town, &ana.refresh_token).await);
}

#[tokio::test]
async fn sessions_per_user_are_limited() {
    let town = Town::of([]).await;
    let first = town.sign_up("ana").await;
    town.advance_ms(1);
    let second = sign_in_again(&town, "ana").await;
    for _ in 2..100 {
        town.advance_ms(1);
        sign_in_again(&town, "ana").await;
    }
    let first = town.accounts().refresh(&first.refresh_token).await.unwrap();
    town.advance_ms(1);
    sign_in_again(&town, "ana").await;
    assert!(has_ended(&town, &second.refresh_token).await, "not used for longest");
    assert!(!has_ended(&town, &first.refresh_token).await);
    let rows = town.rows(&format!("USER#{}", first.user.id), "SESSION#").await;
    assert_eq!(rows.len(), 100);
}

/// Requests read the session of their token: what ends the session ends the token.
#[tokio::test]
async fn a_token_acts_for_its_user_while_the_session_lasts() {
    let town = Town::of([]).await;
    let (accounts, ana) = (town.accounts(), town.sign_up("ana").await);
    let (user, session) = (&ana.user.id, &ana.session_id);
    assert_eq!(accounts.caller_of(user, session).await.unwrap(), ana.caller);
    let bo = town.sign_up("bo").await;
    let ended = |answer| matches!(answer, Err(AccountError::SessionEnded));
    assert!(ended(accounts.caller_of(user, &bo.session_id).await), "it is not theirs");
    accounts.logout(&ana.refresh_token).await.unwrap();
    assert!(ended(accounts.caller_of(user, session).await));
    let again = sign_in_again(&town, "ana").await;
    accounts.logout_everywhere(&again.caller, KeysOnSignOut::Keep).await.unwrap();
    assert!(ended(accounts.caller_of(user, &again.session_id).await));
    accounts.caller_of(&bo.user.id, &bo.session_id).await.unwrap();
}

/// More sessions than fit into one transaction.
#[tokio::test]
async fn a_new_password_ends_the_tokens_of_all_other_sessions() {
    let town = Town::of([]).await;
    let (accounts, first) = (town.accounts(), town.sign_up("ana").await);
    let mut others = Vec::new();
    for _ in 1..100 {
        town.advance_ms(1);
        others.push(sign_in_again(&town, "ana").await);
    }
    let (old, new) = (town.password("ana"), Secret::new("another secret"));
    let keys = KeysOnSignOut::Revoke;
    accounts.change_password(&first.caller, &old, &new, keys).await.unwrap();
    for other in others {
        let answer = accounts.caller_of(&other.user.id, &other.session_id).await;
        assert!(matches!(answer, Err(AccountError::SessionEnded)));
    }
    accounts.caller_of(&first.user.id, &first.session_id).await.unwrap();
}
