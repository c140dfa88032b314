//! Sign-in by e-mail address, nickname or handle (R48).

use std::net::IpAddr;

use roundtable_domain::{
    AccountError, DeviceInput, Edit, LoginSettings, ProfileChange, SignInName, SignUp,
};
use roundtable_model::Secret;
use roundtable_testkit::Town;

use super::lockout::{guess_patiently, lock, network, retry_after, sign_in, town, wrong};

async fn sign_in_as(
    town: &Town,
    name: &str,
    password: &Secret,
    from: IpAddr,
) -> Result<String, AccountError> {
    let name: SignInName = name.parse().unwrap();
    let device = DeviceInput::default();
    let signed_in = town.accounts().login_on(&name, password, Some(from), &device).await?;
    Ok(signed_in.user.nickname.to_string())
}

/// Guesses by a name after the pauses, if there are any.
async fn guess_as(town: &Town, name: &str, from: IpAddr) -> u64 {
    match sign_in_as(town, name, &wrong(), from).await {
        Err(AccountError::WrongCredentials) => 0,
        refused => {
            let pause = retry_after(refused);
            town.advance_ms(pause * 1000);
            pause
        }
    }
}

/// A town in which ana has the handle `bo`, which is also the nickname of another user.
async fn town_of_two() -> Town {
    let town = Town::of([]).await;
    town.clock().set_ms(1_738_000_800_000);
    for (name, handle) in [("ana", "Bo"), ("bo", "Captain")] {
        let form = SignUp { handle: Some(handle.parse().unwrap()), ..town.sign_up_form(name) };
        town.accounts().register(&form, Some(town.address()), None).await.unwrap();
    }
    town
}

/// R48: each name of an account leads to it, in any case, and a nickname wins over a handle.
#[tokio::test]
async fn a_user_signs_in_by_email_nickname_or_handle() {
    let town = town_of_two().await;
    let (ana, bo) = (town.password("ana"), town.password("bo"));
    let from = town.address();
    for name in ["ana@example.com", "ANA@example.com", " Ana ", "@bo", "@BO"] {
        assert_eq!(sign_in_as(&town, name, &ana, from).await.unwrap(), "ana", "{name}");
    }
    for name in ["bo", "captain", "@Captain"] {
        assert_eq!(sign_in_as(&town, name, &bo, from).await.unwrap(), "bo", "{name}");
    }
    for (name, password) in [("bo", &ana), ("@ana", &ana), ("@example.com", &ana)] {
        let refused = sign_in_as(&town, name, password, from).await.unwrap_err();
        assert!(matches!(refused, AccountError::WrongCredentials), "{name}: {refused}");
    }
}

/// R48: a former name leads nowhere.
#[tokio::test]
async fn a_released_name_signs_nobody_in() {
    let town = town_of_two().await;
    let from = town.address();
    let signed_in = town.accounts().login(&town.email("bo"), &town.password("bo"), None).await;
    let change = ProfileChange {
        nickname: Some("boris".parse().unwrap()),
        handle: Edit::Clear,
        ..Default::default()
    };
    let caller = signed_in.unwrap().caller;
    town.accounts().update_profile(&caller, &change, None).await.unwrap();
    let bo = town.password("bo");
    for name in ["bo", "captain", "@captain"] {
        sign_in_as(&town, name, &bo, from).await.unwrap_err();
    }
    assert_eq!(sign_in_as(&town, "boris", &bo, from).await.unwrap(), "boris");
}

/// R48: failures count against the account, by whatever name they were made.
#[tokio::test]
async fn failures_by_all_names_are_counted_together() {
    let town = town_of_two().await;
    let from = town.address();
    let mut failures = 0;
    for name in ["ana", "@bo", "ana@example.com"].into_iter().cycle().take(60) {
        failures += u64::from(guess_as(&town, name, from).await == 0);
        if failures == 10 {
            break;
        }
    }
    for name in ["ana", "@bo", "ana@example.com"] {
        let locked = sign_in_as(&town, name, &town.password("ana"), from).await;
        assert_eq!(retry_after(locked), 900, "{name}");
    }
    let rows = town.login_rows("EMAIL_FROM_IP#ana@example.com 192.0.2.1").await;
    assert!(rows[0].contains("count=10"), "{rows:?}");
    sign_in(&town, "bo", from).await.unwrap();
    sign_in_as(&town, "ana", &town.password("ana"), network(9)).await.unwrap();
}

/// R48: a lock by e-mail address is one by nickname as well.
#[tokio::test]
async fn another_name_is_no_way_around_a_lock() {
    let town = town(LoginSettings::default()).await;
    lock(&town, "ana", town.address()).await;
    let refused = sign_in_as(&town, "ana", &town.password("ana"), town.address()).await;
    assert_eq!(retry_after(refused), 900);
}

/// R48: the answers do not tell which names exist.
#[tokio::test]
async fn an_unknown_name_is_answered_like_a_known_one() {
    let town = town(LoginSettings::default()).await;
    let answers = async |name: &'static str| {
        let mut answers = Vec::new();
        for _ in 0..20 {
            let answer = sign_in_as(&town, name, &wrong(), network(3)).await.unwrap_err();
            let seconds = match &answer {
                AccountError::Failed(_) => retry_after::<()>(Err(answer.clone())),
                _ => 0,
            };
            town.advance_ms(seconds * 1000);
            answers.push(answer.to_string());
            if seconds == 900 {
                break;
            }
        }
        answers
    };
    let known = answers("ana").await;
    assert!(known.len() > 15, "{known:?}");
    // The same part of the window of time that counts.
    town.clock().set_ms(1_738_000_800_000 + 900_000 * 4);
    assert_eq!(answers("nobody-here").await, known);
    town.clock().set_ms(1_738_000_800_000 + 900_000 * 8);
    assert_eq!(answers("@nobody-here").await, known);
    guess_patiently(&town, "ana", network(4)).await;
}
