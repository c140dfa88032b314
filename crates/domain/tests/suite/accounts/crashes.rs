//! Account operations cancelled at any await point and repeated (R33).

use roundtable_domain::{AccountError, Accounts, KeysOnSignOut, ProfileChange, SignedInUser};
use roundtable_model::{Role, Secret, UserStatus};
use roundtable_testkit::{Town, stop_at};

use super::{items, locks, names_are_locked, request};

/// A town, and its accounts over a store that yields at every operation.
async fn stage() -> (Town, Accounts) {
    let (town, slow) = Town::with_slow_copy().await;
    (town, slow.accounts())
}

async fn login(town: &Town, password: &Secret) -> Result<SignedInUser, AccountError> {
    town.accounts().login(&town.email("ana"), password, None).await
}

#[tokio::test]
async fn a_cancelled_registration_can_be_repeated() {
    for stops in 0.. {
        let (town, slow) = stage().await;
        let (form, once) = (town.sign_up_form("ana"), request("once"));
        let done = stop_at(stops, slow.register(&form, None, Some(&once))).await;
        names_are_locked(&town).await;
        let again = town.accounts().register(&form, None, Some(&once)).await.unwrap();
        names_are_locked(&town).await;
        assert_eq!(locks(&town).await.len(), 2, "{stops}");
        assert_eq!(login(&town, &form.password).await.unwrap().user.id, again.user.id);
        if let Some(done) = done {
            assert_eq!(done.unwrap().user.id, again.user.id);
            return;
        }
    }
}

#[tokio::test]
async fn a_cancelled_rename_can_be_repeated() {
    for stops in 0.. {
        let (town, slow) = stage().await;
        let ana = town.sign_up("ana").await.caller;
        let change = ProfileChange {
            nickname: "anna".parse().ok(),
            tags: Some(vec!["tea".parse().unwrap()]),
            ..ProfileChange::default()
        };
        let once = request("once");
        let done = stop_at(stops, slow.update_profile(&ana, &change, Some(&once))).await;
        names_are_locked(&town).await;
        let again = town.accounts().update_profile(&ana, &change, Some(&once)).await.unwrap();
        assert_eq!((again.nickname.as_str(), again.version), ("anna", 2), "{stops}");
        names_are_locked(&town).await;
        assert_eq!(town.rows("TAG#tea", "").await.len(), 1);
        if done.is_some() {
            return;
        }
    }
}

#[tokio::test]
async fn a_cancelled_change_of_address_can_be_repeated() {
    for stops in 0.. {
        let (town, slow) = stage().await;
        let ana = town.sign_up("ana").await.caller;
        let (password, new) = (town.password("ana"), town.email("anna"));
        let done = stop_at(stops, slow.change_email(&ana, &password, &new)).await;
        names_are_locked(&town).await;
        let again = town.accounts().change_email(&ana, &password, &new).await.unwrap();
        assert_eq!(again.email, Some(new), "{stops}");
        names_are_locked(&town).await;
        if done.is_some() {
            return;
        }
    }
}

/// Either the old password holds with all sessions and keys, or the new one with the session that stays.
#[tokio::test]
async fn a_cancelled_change_of_password_can_be_repeated() {
    for stops in 0.. {
        let (town, slow) = stage().await;
        let here = town.sign_up("ana").await;
        let (old, new) = (town.password("ana"), Secret::new("another secret"));
        let elsewhere = login(&town, &old).await.unwrap();
        let scopes = [String::from("read")];
        let key = town.accounts().create_key(&here.caller, "bot", &scopes, None).await.unwrap();
        let change = slow.change_password(&here.caller, &old, &new, KeysOnSignOut::Revoke);
        let done = stop_at(stops, change).await;
        let changed = login(&town, &new).await.is_ok();
        assert_eq!(login(&town, &old).await.is_err(), changed, "{stops}");
        let ended = town.accounts().refresh(&elsewhere.refresh_token).await.is_err();
        assert_eq!(ended, changed, "{stops}");
        let revoked = town.accounts().authenticate(&key.secret).await.is_err();
        assert_eq!(revoked, changed, "{stops}: no key outlives the password");
        town.accounts().refresh(&here.refresh_token).await.unwrap();
        if done.is_some() {
            assert!(changed);
            return;
        }
    }
}

#[tokio::test]
async fn a_cancelled_deletion_can_be_repeated() {
    for stops in 0.. {
        let (town, slow) = stage().await;
        let ana = town.sign_up("ana").await;
        let nickname = &ana.user.nickname;
        let done = stop_at(stops, slow.delete_account(&ana.caller, nickname)).await;
        names_are_locked(&town).await;
        if town.accounts().me(&ana.caller).await.unwrap().is_some() {
            login(&town, &town.password("ana")).await.unwrap();
            town.accounts().delete_account(&ana.caller, nickname).await.unwrap();
        }
        assert!(locks(&town).await.is_empty(), "{stops}");
        login(&town, &town.password("ana")).await.unwrap_err();
        if done.is_some() {
            return;
        }
    }
}

#[tokio::test]
async fn a_cancelled_suspension_can_be_repeated() {
    for stops in 0.. {
        let (town, slow) = stage().await;
        town.add_user("ana", |_| {}).await;
        town.add_user("mo", |_| {}).await;
        let (mo, ana) = (town.grant_role("mo", Role::Moderator).await, town.id("ana"));
        let once = request("once");
        let done = stop_at(stops, slow.suspend(&mo, &ana, "spam", Some(&once))).await;
        let again = town.accounts().suspend(&mo, &ana, "spam", Some(&once)).await.unwrap();
        assert_eq!(again.status, UserStatus::Suspended);
        let items = items(town.context().core().table()).await;
        let entries = items.iter().filter(|item| item.text("type") == Some("Audit"));
        assert_eq!(entries.count(), 1, "{stops}");
        if done.is_some() {
            return;
        }
    }
}

/// An attempt that is never answered counts as one failure.
#[tokio::test]
async fn a_cancelled_sign_in_can_be_repeated() {
    for stops in 0.. {
        let (town, slow) = stage().await;
        town.sign_up("ana").await;
        let (email, password) = (town.email("ana"), town.password("ana"));
        let work = slow.login(&email, &password, Some(town.address()));
        let done = stop_at(stops, work).await;
        town.accounts().login(&email, &password, Some(town.address())).await.unwrap();
        let own = town.login_rows("EMAIL_FROM_IP#ana@example.com 192.0.2.1").await;
        assert!(own.is_empty(), "{stops}");
        for partition in ["IP#192.0.2.1", "EMAIL#ana@example.com"] {
            let rows = town.login_rows(partition).await;
            let counted = |count: &str| rows[0].contains(count);
            assert!(counted("count=0 ") || counted("count=1 "), "{stops}: {rows:?}");
            assert!(done.is_none() || counted("count=0 "));
        }
        if done.is_some() {
            return;
        }
    }
}
