//! Known devices, which strangers cannot lock out, and the locks that operators see and clear.

use roundtable_domain::{AccountError, DeviceInput, LoginSettings, SignedInUser};
use roundtable_model::{LoginKey, Secret};
use roundtable_testkit::Town;

use super::lockout::{guess, guess_patiently, lock, network, retry_after, sign_in, town, wrong};
use super::{everything, secrets};

/// Signs ana in with the token of a device.
async fn sign_in_on(
    town: &Town,
    token: &Secret,
    password: &Secret,
    from: u8,
) -> Result<SignedInUser, AccountError> {
    let device = DeviceInput { token: Some(token.clone()), label: None };
    let (email, from) = (town.email("ana"), Some(network(from)));
    town.accounts().login_on(&email.into(), password, from, &device).await
}

async fn signed_in(town: &Town, label: &str) -> SignedInUser {
    let device = DeviceInput { token: None, label: Some(label.to_owned()) };
    let (email, password) = (town.email("ana"), town.password("ana"));
    town.accounts().login_on(&email.into(), &password, Some(town.address()), &device).await.unwrap()
}

/// Fails from so many networks that all strangers are refused.
async fn lock_for_strangers(town: &Town) {
    for number in 10..100 {
        if let Err(refused) = guess(town, "ana", network(number)).await
            && !matches!(refused, AccountError::WrongCredentials)
        {
            match retry_after::<()>(Err(refused)) {
                pause @ ..=64 => {
                    town.advance_ms(pause * 1000);
                }
                _ => return,
            }
        }
    }
    panic!("strangers are still not refused");
}

fn few() -> LoginSettings {
    LoginSettings { account_strangers_max: 30, ..LoginSettings::default() }
}

/// The account, the network and both together are locked for strangers; the device signs in, also after
/// its session has ended.
#[tokio::test]
async fn strangers_cannot_lock_out_a_known_device() {
    let settings = LoginSettings { address_failures_max: 12, ..few() };
    let town = town(settings).await;
    let (password, first) = (town.password("ana"), signed_in(&town, "phone").await);
    let token = first.device_token.unwrap();
    assert!(town.accounts().logout(&first.refresh_token).await.unwrap());

    for _ in 0..10 {
        guess_patiently(&town, "ana", network(1)).await;
    }
    for name in ["x", "y"] {
        guess_patiently(&town, name, network(1)).await;
    }
    lock_for_strangers(&town).await;
    for from in [1, 2, 10] {
        assert!(retry_after(sign_in(&town, "ana", network(from)).await) > 1);
        let again = sign_in_on(&town, &token, &password, from).await.unwrap();
        assert_eq!(again.device_token, Some(token.clone()));
    }
    let rows = town.rows(&format!("USER#{}", first.user.id), "DEVICE#").await;
    assert_eq!(rows.len(), 2, "one of the sign-up and one of the phone: {rows:?}");
}

/// R5: a stolen token permits no more guesses than a network has, and locks only its device.
#[tokio::test]
async fn a_known_device_is_limited_by_its_own_failures() {
    let town = town(LoginSettings::default()).await;
    let (phone, laptop) = (signed_in(&town, "phone").await, signed_in(&town, "laptop").await);
    let (phone, laptop) = (phone.device_token.unwrap(), laptop.device_token.unwrap());
    let (mut guesses, right) = (0, town.password("ana"));
    for from in 0..30 {
        match sign_in_on(&town, &phone, &wrong(), from).await {
            Err(AccountError::WrongCredentials) => guesses += 1,
            refused => {
                let seconds = retry_after(refused);
                if seconds == 900 {
                    break;
                }
                town.advance_ms(seconds * 1000);
            }
        }
    }
    assert_eq!(guesses, 10);
    assert_eq!(retry_after(sign_in_on(&town, &phone, &right, 40).await), 900);
    sign_in_on(&town, &laptop, &right, 40).await.unwrap();
    sign_in(&town, "ana", network(40)).await.unwrap();
    assert!(
        town.login_rows("EMAIL#ana@example.com").await.iter().all(|row| row.contains("count=0"))
    );
}

/// A token that is forged, forgotten or of another user makes no device known, and is no error.
#[tokio::test]
async fn only_a_token_of_the_user_makes_a_device_known() {
    let town = town(few()).await;
    let (right, phone) = (town.password("ana"), signed_in(&town, "phone").await);
    let token = phone.device_token.unwrap();
    let bo = town.sign_up("bo").await.device_token.unwrap();
    let forged = {
        let (public, _) = token.expose().rsplit_once('.').unwrap();
        let (_, secret) = bo.expose().rsplit_once('.').unwrap();
        Secret::new(format!("{public}.{secret}"))
    };
    lock_for_strangers(&town).await;
    for other in [&bo, &forged, &Secret::new("nonsense"), &Secret::new("")] {
        assert!(retry_after(sign_in_on(&town, other, &right, 1).await) > 800);
    }
    town.advance_ms(400 * 24 * 60 * 60 * 1000);
    lock_for_strangers(&town).await;
    assert!(retry_after(sign_in_on(&town, &token, &right, 1).await) > 800, "forgotten");
}

/// R42: the token is not stored. The label and the last use are.
#[tokio::test]
async fn a_device_is_stored_with_its_label_and_last_use() {
    let town = town(LoginSettings::default()).await;
    let phone = signed_in(&town, "Ana's phone").await;
    let token = phone.device_token.unwrap();
    town.advance_ms(60_000);
    sign_in_on(&town, &token, &town.password("ana"), 1).await.unwrap();
    let devices = town.context().core().devices(&phone.user.id).all().await.unwrap();
    let device = devices.iter().find(|device| device.label.is_some()).unwrap();
    assert_eq!(device.label.as_deref(), Some("Ana's phone"), "a sign-in without a label keeps it");
    assert_eq!((device.created_at.plus_ms(60_000), device.used_at), (town.now(), town.now()));
    assert!(!everything(&town).await.contains(secrets(&token)[0]));
    let long = DeviceInput { token: None, label: Some("x".repeat(101)) };
    let (email, right) = (town.email("ana"), town.password("ana"));
    let refused = town.accounts().login_on(&email.into(), &right, None, &long).await.unwrap_err();
    assert!(refused.to_string().contains("deviceLabel"), "{refused}");
}

#[tokio::test]
async fn the_least_recently_used_devices_are_forgotten() {
    let town = town(LoginSettings::default()).await;
    let first = signed_in(&town, "first").await;
    for number in 0..60 {
        town.advance_ms(1000);
        signed_in(&town, &format!("device {number}")).await;
    }
    let devices = town.context().core().devices(&first.user.id).all().await.unwrap();
    assert_eq!(devices.len(), 50);
    let labels: Vec<_> = devices.iter().filter_map(|device| device.label.as_deref()).collect();
    assert!(!labels.contains(&"first") && labels.contains(&"device 59"), "{labels:?}");
}

/// A user who is signed in can repeat the password while strangers are refused; those failures have a
/// limit of their own.
#[tokio::test]
async fn strangers_cannot_stop_a_change_of_address() {
    let town = town(few()).await;
    let ana = signed_in(&town, "phone").await;
    lock_for_strangers(&town).await;
    let (accounts, right, next) = (town.accounts(), town.password("ana"), town.email("anna"));
    accounts.change_email(&ana.caller, &right, &next).await.unwrap();
    let mut guesses = 0;
    for _ in 0..30 {
        match accounts.change_email(&ana.caller, &wrong(), &town.email("ana")).await {
            Err(AccountError::WrongPassword) => guesses += 1,
            refused => match retry_after(refused) {
                900 => break,
                seconds => {
                    town.advance_ms(seconds * 1000);
                }
            },
        }
    }
    assert_eq!(guesses, 10);
    let device = ana.device_token.unwrap();
    let input = DeviceInput { token: Some(device), label: None };
    accounts.login_on(&next.into(), &right, Some(network(1)), &input).await.unwrap();
}

#[tokio::test]
async fn operators_see_and_clear_locks() {
    let town = town(LoginSettings::default()).await;
    let accounts = town.accounts();
    town.sign_up("bo").await;
    assert!(accounts.sign_in_locks(None).await.unwrap().is_empty());
    lock(&town, "ana", network(1)).await;
    lock(&town, "bo", network(1)).await;
    guess_patiently(&town, "bo", network(2)).await;
    let locks = accounts.sign_in_locks(None).await.unwrap();
    let listed = |key: &'static str| {
        let accounts = &accounts;
        async move {
            let locks = accounts.sign_in_locks(Some(key)).await.unwrap();
            locks.iter().map(|lock| lock.subject.to_string()).collect::<Vec<_>>()
        }
    };
    let (ana, bo) = ("ana@example.com 198.51.100.1", "bo@example.com 198.51.100.1");
    let subjects: Vec<_> = locks.iter().map(|lock| (lock.kind, lock.subject.to_string())).collect();
    let from = LoginKey::EmailFromIp;
    assert_eq!(subjects, [(from, ana.to_owned()), (from, bo.to_owned())]);
    assert_eq!(listed("ANA@example.com").await, [ana]);
    assert_eq!(listed("198.51.100.1").await, [ana, bo]);
    assert!(listed("198.51.100.2").await.is_empty());

    assert_eq!(accounts.clear_sign_in_locks("ana@example.com").await.unwrap(), 2);
    sign_in(&town, "ana", network(1)).await.unwrap();
    assert!(retry_after(sign_in(&town, "bo", network(1)).await) > 800, "only of the one account");
    assert!(accounts.clear_sign_in_locks("198.51.100.1").await.unwrap() >= 2);
    sign_in(&town, "bo", network(1)).await.unwrap();
    let neither = accounts.sign_in_locks(Some("neither")).await.unwrap_err();
    assert!(neither.to_string().contains("key"), "{neither}");
}
