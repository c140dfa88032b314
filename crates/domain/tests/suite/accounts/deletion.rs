//! Account deletion (R31, R33).

use roundtable_domain::{AccountError, Accounts, Code, ProfileChange, Refusal};
use roundtable_model::{Role, UserStatus};
use roundtable_testkit::Town;

use super::{code, everything, locks, names_are_locked};

/// R33: the names are free at once, and sign-in, refresh and API keys fail.
#[tokio::test]
async fn a_deleted_account_releases_its_names_and_sessions() {
    let town = Town::of(["mo"]).await;
    let accounts = town.accounts();
    let ana = town.sign_up("ana").await;
    let profile = ProfileChange {
        handle: "ana.f".parse::<roundtable_model::Handle>().unwrap().into(),
        full_name: "Ana Lopes".to_owned().into(),
        bio: "Swims after sunset".to_owned().into(),
        tags: Some(vec!["running".parse().unwrap()]),
        ..ProfileChange::default()
    };
    accounts.update_profile(&ana.caller, &profile, None).await.unwrap();
    let key = accounts.create_key(&ana.caller, "bot", &["read".into()], None).await.unwrap();
    accounts.delete_account(&ana.caller, &"ANA".parse().unwrap()).await.unwrap();

    assert_eq!(locks(&town).await, ["EMAIL#mo@example.com mo", "NICK#mo mo"]);
    assert!(town.rows("TAG#running", "").await.is_empty());
    let partition = format!("USER#{}", ana.user.id);
    assert!(town.rows(&partition, "CREDENTIAL").await.is_empty());
    let left = town.context().core().profile(&ana.user.id).get().await.unwrap().unwrap();
    assert_eq!((left.status, left.nickname.as_str()), (UserStatus::Deleted, "deleted"));
    let stored = everything(&town).await;
    for personal in ["ana@example.com", "Ana Lopes", "after sunset", "ana.f"] {
        assert!(!stored.contains(personal), "{personal} in {stored}");
    }

    let login = accounts.login(&town.email("ana"), &town.password("ana"), None).await;
    assert!(matches!(login, Err(AccountError::WrongCredentials)));
    let refreshed = accounts.refresh(&ana.refresh_token).await;
    assert!(matches!(refreshed, Err(AccountError::SessionEnded)));
    assert!(matches!(accounts.authenticate(&key.secret).await, Err(AccountError::InvalidApiKey)));
    let again = accounts.delete_account(&ana.caller, &"ana".parse().unwrap()).await;
    assert_eq!(code(again), Code::Unauthenticated);
    assert_eq!(accounts.me(&ana.caller).await.unwrap(), None);
    let moderator = town.grant_role("mo", Role::Moderator).await;
    for viewer in [None, Some(&ana.caller), Some(&moderator)] {
        assert_eq!(accounts.user(viewer, &ana.user.id).await.unwrap(), None);
    }

    let next = town.sign_up("ana").await;
    assert_ne!(next.user.id, ana.user.id);
    names_are_locked(&town).await;
}

#[tokio::test]
async fn deleting_an_account_requires_its_nickname() {
    let town = Town::of(["ana"]).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    let refused = accounts.delete_account(&ana, &"bo".parse().unwrap()).await.unwrap_err();
    assert!(matches!(refused, AccountError::NicknameMismatch));
    assert_eq!(refused.code(), Code::BadRequest);
    let stranger = accounts.delete_account(&town.caller("bo"), &"bo".parse().unwrap()).await;
    assert_eq!(code(stranger), Code::Unauthenticated);
    town.add_user("cleo", |cleo| cleo.status = UserStatus::Suspended).await;
    let suspended = accounts.delete_account(&town.caller("cleo"), &"cleo".parse().unwrap()).await;
    assert_eq!(code(suspended), Code::Forbidden);
    assert!(accounts.me(&ana).await.unwrap().is_some());
}

/// R33: a rename during the deletion leaves no lock behind.
#[tokio::test]
async fn a_user_can_be_renamed_during_a_deletion() {
    for gap in 1.. {
        let town = Town::of(["ana"]).await;
        let (accounts, ana) = (town.accounts(), town.caller("ana"));
        let rename = ProfileChange { nickname: "anna".parse().ok(), ..ProfileChange::default() };
        let (context, meanwhile) = town.interleave(gap, async move || {
            let _either = accounts.update_profile(&ana, &rename, None).await;
        });
        let ana = town.caller("ana");
        Accounts::new(context).delete_account(&ana, &"ana".parse().unwrap()).await.unwrap();
        assert!(locks(&town).await.is_empty(), "{gap}");
        if !meanwhile.happened() {
            return;
        }
    }
}

/// R33: and the other way round.
#[tokio::test]
async fn an_account_can_be_deleted_during_a_rename() {
    for gap in 1.. {
        let town = Town::of(["ana"]).await;
        let (accounts, ana) = (town.accounts(), town.caller("ana"));
        let (context, meanwhile) = town.interleave(gap, async move || {
            let nickname = accounts.me(&ana).await.unwrap().unwrap().nickname;
            accounts.delete_account(&ana, &nickname).await.unwrap();
        });
        let rename = ProfileChange { nickname: "anna".parse().ok(), ..ProfileChange::default() };
        let renamed =
            Accounts::new(context).update_profile(&town.caller("ana"), &rename, None).await;
        if !meanwhile.happened() {
            renamed.unwrap();
            return;
        }
        assert!(locks(&town).await.is_empty(), "{gap}");
        if let Err(refused) = renamed {
            assert_eq!(refused.code(), Code::Unauthenticated, "{gap}");
        }
    }
}
