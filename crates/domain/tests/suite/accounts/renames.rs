//! Renames: nicknames, handles and e-mail addresses have one holder each (R6, R33).

use std::sync::Arc;

use futures::future::join_all;
use roundtable_domain::{AccountError, Accounts, Code, Edit, ProfileChange, Refusal};
use roundtable_model::Secret;
use roundtable_testkit::Town;

use super::{code, locks, names_are_locked};

fn nickname(nickname: &str) -> ProfileChange {
    ProfileChange { nickname: nickname.parse().ok(), ..ProfileChange::default() }
}

fn handle(handle: &str) -> ProfileChange {
    ProfileChange { handle: Edit::Set(handle.parse().unwrap()), ..ProfileChange::default() }
}

async fn rename(town: &Town, name: &str, change: &ProfileChange) -> Result<(), AccountError> {
    town.accounts().update_profile(&town.caller(name), change, None).await.map(drop)
}

/// R33: the old name is released in the transaction that takes the new one.
#[tokio::test]
async fn a_rename_moves_the_lock() {
    let town = Town::of(["ana", "bo"]).await;
    rename(&town, "ana", &nickname("Anna")).await.unwrap();
    let renamed = town.accounts().me(&town.caller("ana")).await.unwrap().unwrap();
    assert_eq!((renamed.nickname.as_str(), renamed.preferred_username.as_str()), ("Anna", "Anna"));
    rename(&town, "bo", &nickname("ana")).await.unwrap();
    let expected =
        ["EMAIL#ana@example.com ana", "EMAIL#bo@example.com bo", "NICK#ana bo", "NICK#anna ana"];
    assert_eq!(locks(&town).await, expected);
    let found = town.accounts().by_nickname(None, &"ana".parse().unwrap()).await.unwrap();
    assert_eq!(found.unwrap().id, town.id("bo"));
}

#[tokio::test]
async fn a_rename_that_only_changes_case_touches_no_lock() {
    let town = Town::of(["ana"]).await;
    let before = town.rows("NICK#ana", "").await;
    let renamed = town.accounts().update_profile(&town.caller("ana"), &nickname("ANA"), None).await;
    assert_eq!(renamed.unwrap().nickname.as_str(), "ANA");
    assert_eq!(town.rows("NICK#ana", "").await, before);
    names_are_locked(&town).await;
}

#[tokio::test]
async fn a_handle_comes_and_goes() {
    let town = Town::of(["ana", "bo"]).await;
    rename(&town, "ana", &handle("sun")).await.unwrap();
    let taken = rename(&town, "bo", &handle("SUN")).await;
    assert!(matches!(taken, Err(AccountError::HandleTaken)));
    rename(&town, "ana", &handle("moon")).await.unwrap();
    rename(&town, "bo", &handle("sun")).await.unwrap();
    let clear = ProfileChange { handle: Edit::Clear, ..ProfileChange::default() };
    rename(&town, "ana", &clear).await.unwrap();
    rename(&town, "ana", &clear).await.unwrap();
    let handles: Vec<String> =
        locks(&town).await.into_iter().filter(|lock| lock.starts_with("HANDLE#")).collect();
    assert_eq!(handles, ["HANDLE#sun bo"]);
    names_are_locked(&town).await;
}

#[tokio::test]
async fn a_taken_name_is_refused() {
    let town = Town::of(["ana", "bo"]).await;
    let refused = rename(&town, "bo", &nickname("Ana")).await.unwrap_err();
    assert!(matches!(refused, AccountError::NicknameTaken));
    assert_eq!(refused.code(), Code::Conflict);
    names_are_locked(&town).await;
}

/// R33: of many concurrent renames to the same name one succeeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_gets_the_name() {
    let names = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"];
    let town = Arc::new(Town::of(names).await);
    let tasks = names.map(|name| {
        let (accounts, caller) = (town.accounts(), town.caller(name));
        let change = ProfileChange { handle: Edit::Set("x".parse().unwrap()), ..nickname("star") };
        tokio::spawn(async move { accounts.update_profile(&caller, &change, None).await })
    });
    let ended: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1);
    names_are_locked(&town).await;
}

/// R33: two concurrent renames of one user leave one name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_renames_of_one_user_leave_one_lock() {
    let town = Arc::new(Town::of(["ana"]).await);
    for round in 0..10 {
        let tasks = ["sun", "moon", "star"].map(|name| {
            let (accounts, caller) = (town.accounts(), town.caller("ana"));
            let change = nickname(&format!("{name}{round}"));
            tokio::spawn(async move { accounts.update_profile(&caller, &change, None).await })
        });
        join_all(tasks).await.into_iter().for_each(|ended| drop(ended.unwrap().unwrap()));
        names_are_locked(&town).await;
    }
}

/// R33: another user takes the name at any point of the rename.
#[tokio::test]
async fn a_name_can_be_taken_at_any_moment() {
    for gap in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let (accounts, bo) = (town.accounts(), town.caller("bo"));
        let (context, meanwhile) = town.interleave(gap, async move || {
            let _either = accounts.update_profile(&bo, &nickname("star"), None).await;
        });
        let ana = town.caller("ana");
        let renamed = Accounts::new(context).update_profile(&ana, &nickname("star"), None).await;
        names_are_locked(&town).await;
        if !meanwhile.happened() {
            renamed.unwrap();
            return;
        }
        if let Err(refused) = renamed {
            assert!(matches!(refused, AccountError::NicknameTaken), "{gap}: {refused}");
        }
        let star = town.accounts().by_nickname(None, &"star".parse().unwrap()).await.unwrap();
        assert!(star.is_some());
    }
}

#[tokio::test]
async fn changing_the_address_requires_the_password() {
    let town = Town::of([]).await;
    let accounts = town.accounts();
    let ana = town.sign_up("ana").await;
    town.sign_up("bo").await;
    let (password, new) = (town.password("ana"), town.email("anna"));
    let wrong = accounts.change_email(&ana.caller, &Secret::new("guess"), &new).await;
    assert!(matches!(wrong, Err(AccountError::WrongPassword)));
    let taken = accounts.change_email(&ana.caller, &password, &town.email("Bo")).await;
    assert!(matches!(taken, Err(AccountError::EmailTaken)));
    let stranger = accounts.change_email(&town.caller("stranger"), &password, &new).await;
    assert_eq!(code(stranger), Code::Unauthenticated);
    names_are_locked(&town).await;

    let changed = accounts.change_email(&ana.caller, &password, &new).await.unwrap();
    assert_eq!(changed.email, Some(new.clone()));
    names_are_locked(&town).await;
    accounts.login(&new, &password, None).await.unwrap();
    let old = accounts.login(&town.email("ana"), &password, None).await;
    assert!(matches!(old, Err(AccountError::WrongCredentials)));
    town.sign_up("ana2").await;
    let form =
        roundtable_domain::SignUp { nickname: "ana3".parse().unwrap(), ..town.sign_up_form("ana") };
    accounts.register(&form, None, None).await.unwrap();

    let spelled = "ANNA@example.com".parse().unwrap();
    let before = town.rows("EMAIL#anna@example.com", "").await;
    let changed = accounts.change_email(&ana.caller, &password, &spelled).await.unwrap();
    assert_eq!(changed.email.unwrap().as_str(), "ANNA@example.com");
    assert_eq!(town.rows("EMAIL#anna@example.com", "").await, before, "the same address");
}

/// R33: of two users one gets the address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_gets_the_address() {
    let town = Arc::new(Town::of([]).await);
    let people = [town.sign_up("ana").await, town.sign_up("bo").await];
    let tasks = people.map(|person| {
        let town = Arc::clone(&town);
        tokio::spawn(async move {
            let (accounts, new) = (town.accounts(), town.email("star"));
            let password = town.password(person.user.nickname.as_str());
            accounts.change_email(&person.caller, &password, &new).await
        })
    });
    let ended: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1);
    names_are_locked(&town).await;
}
