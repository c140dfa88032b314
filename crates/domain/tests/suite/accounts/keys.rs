//! API keys (R31, R32).

use roundtable_domain::{
    AccountError, Accounts, CallerCredential, Code, KeysOnSignOut, PageInput, Refusal, STAFF_SCOPE,
    ServiceError,
};
use roundtable_model::{Role, Secret};
use roundtable_testkit::Town;

use super::{code, everything, request, secrets};

fn scopes(scopes: &[&str]) -> Vec<String> {
    scopes.iter().map(|scope| (*scope).to_owned()).collect()
}

#[tokio::test]
async fn a_key_acts_for_its_owner() {
    let town = Town::of(["ana"]).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    let read_write = scopes(&["write", "read", "read"]);
    let made = accounts.create_key(&ana, " My bot ", &read_write, None).await.unwrap();
    assert_eq!((made.key.name.as_str(), made.key.ttl), ("My bot", None));
    assert!(made.secret.expose().starts_with(&made.key.prefix));
    let holder = accounts.authenticate(&made.secret).await.unwrap();
    assert_eq!(holder.user_id, ana.user_id);
    let (id, scopes) = (made.key.id.clone(), scopes(&["read", "write"]));
    assert_eq!(holder.credential, CallerCredential::ApiKey { id, scopes });
    assert!(holder.has_scope("read") && !holder.has_scope("admin"));
    let stored = everything(&town).await;
    assert_eq!(secrets(&made.secret).len(), 1);
    assert!(!stored.contains(secrets(&made.secret)[0]), "only a hash is kept");
    assert!(!format!("{made:?}").contains(secrets(&made.secret)[0]));
    let listed = accounts.keys(&ana, &PageInput::first()).await.unwrap().into_items();
    assert_eq!(listed, [made.key]);
}

#[tokio::test]
async fn a_key_has_its_owners_roles_only_with_the_staff_scope() {
    let town = Town::of(["root"]).await;
    let (accounts, root) = (town.accounts(), town.grant_role("root", Role::Admin).await);
    let plain = accounts.create_key(&root, "plain", &scopes(&["write"]), None).await.unwrap();
    let staff = accounts.create_key(&root, "staff", &scopes(&[STAFF_SCOPE]), None).await.unwrap();
    assert!(!accounts.authenticate(&plain.secret).await.unwrap().moderates());
    assert!(accounts.authenticate(&staff.secret).await.unwrap().roles.admin);
}

/// After its revocation, the holder of a key must have no access left and must not have caused
/// lasting damage.
#[tokio::test]
async fn a_key_does_nothing_that_outlives_it() {
    let town = Town::of(["root"]).await;
    let (accounts, root) = (town.accounts(), town.grant_role("root", Role::Admin).await);
    let all = scopes(&["read", "write", STAFF_SCOPE]);
    let made = accounts.create_key(&root, "bot", &all, None).await.unwrap();
    let bot = accounts.authenticate(&made.secret).await.unwrap();
    let more = accounts.create_key(&bot, "more", &scopes(&["read"]), None).await;
    assert!(matches!(&more, Err(AccountError::Failed(ServiceError::ApiKeyNotAllowed))));
    assert_eq!(code(more), Code::Forbidden);
    let nickname = "root".parse().unwrap();
    assert_eq!(code(accounts.delete_account(&bot, &nickname).await), Code::Forbidden);
    assert_eq!(
        code(accounts.logout_everywhere(&bot, KeysOnSignOut::Revoke).await),
        Code::Forbidden
    );
    let listed = accounts.keys(&root, &PageInput::first()).await.unwrap();
    assert_eq!(listed.into_items(), [made.key]);
}

#[tokio::test]
async fn a_key_that_is_not_valid_is_refused() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    let end = town.now().plus_ms(60_000);
    let made = accounts.create_key(&ana, "bot", &scopes(&["read"]), Some(end)).await.unwrap();
    let bo = town.caller("bo");
    let other = accounts.create_key(&bo, "bot", &scopes(&["read"]), None).await.unwrap();
    let forged = format!("{}.{}", made.key.prefix, secrets(&other.secret)[0]);
    for wrong in ["", "rtk", &forged, &made.key.prefix, "rtk.nobody.k.AAAA"] {
        let refused = accounts.authenticate(&Secret::new(wrong)).await.unwrap_err();
        assert!(matches!(refused, AccountError::InvalidApiKey), "{wrong}");
        assert_eq!(refused.code(), Code::Unauthenticated);
    }
    let moderator = town.grant_role("mo", Role::Moderator).await;
    accounts.suspend(&moderator, &ana.user_id, "spam", None).await.unwrap();
    assert_eq!(code(accounts.authenticate(&made.secret).await), Code::Forbidden);
    accounts.unsuspend(&moderator, &ana.user_id, None).await.unwrap();
    accounts.authenticate(&made.secret).await.unwrap();
    town.advance_ms(60_000);
    assert!(matches!(accounts.authenticate(&made.secret).await, Err(AccountError::InvalidApiKey)));
    let listed = accounts.keys(&ana, &PageInput::first()).await.unwrap();
    assert!(listed.items.is_empty());
}

/// R32: requests are idempotent.
#[tokio::test]
async fn a_key_is_revoked_once() {
    let town = Town::of(["ana", "bo"]).await;
    let (accounts, ana, bo) = (town.accounts(), town.caller("ana"), town.caller("bo"));
    let made = accounts.create_key(&ana, "bot", &scopes(&["read"]), None).await.unwrap();
    let id = &made.key.id;
    let theirs = accounts.revoke_key(&bo, id, None).await;
    assert!(matches!(theirs, Err(AccountError::NoSuchKey)));
    let once = request("revoke");
    let revoked = accounts.revoke_key(&ana, id, Some(&once)).await.unwrap();
    assert_eq!((&revoked.id, &revoked.name), (id, &made.key.name));
    assert_eq!(accounts.revoke_key(&ana, id, Some(&once)).await.unwrap(), revoked);
    assert!(matches!(accounts.revoke_key(&ana, id, None).await, Err(AccountError::NoSuchKey)));
    assert!(matches!(accounts.authenticate(&made.secret).await, Err(AccountError::InvalidApiKey)));
    assert!(!everything(&town).await.contains(made.key.secret_hash.expose()));
}

#[tokio::test]
async fn invalid_keys_are_not_created() {
    let town = Town::of(["ana"]).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    let long = "x".repeat(101);
    let many: Vec<String> = (0..21).map(|n| format!("scope{n}")).collect();
    let past = Some(town.now());
    for (name, scopes, end) in [
        (" ", scopes(&["read"]), None),
        (long.as_str(), scopes(&["read"]), None),
        ("bot", scopes(&[]), None),
        ("bot", scopes(&[""]), None),
        ("bot", scopes(&["Read"]), None),
        ("bot", scopes(&["read all"]), None),
        ("bot", many, None),
        ("bot", scopes(&["read"]), past),
    ] {
        let refused = accounts.create_key(&ana, name, &scopes, end).await;
        assert_eq!(code(refused), Code::BadRequest, "{name} {scopes:?}");
    }
    let stranger = accounts.create_key(&town.caller("x"), "bot", &scopes(&["read"]), None).await;
    assert_eq!(code(stranger), Code::Unauthenticated);
}

/// R30: lists are paged.
#[tokio::test]
async fn keys_are_listed_by_the_page_and_have_a_limit() {
    let town = Town::of(["ana"]).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    for n in 0..50 {
        let name = format!("bot {n}");
        accounts.create_key(&ana, &name, &scopes(&["read"]), None).await.unwrap();
    }
    let more = accounts.create_key(&ana, "bot", &scopes(&["read"]), None).await.unwrap_err();
    assert!(matches!(more, AccountError::TooManyKeys));
    let (mut names, mut page) = (Vec::new(), PageInput::first());
    loop {
        let found = accounts.keys(&ana, &page).await.unwrap();
        page.after.clone_from(&found.next);
        names.extend(found.into_items().into_iter().map(|key| key.name));
        if page.after.is_none() {
            break;
        }
    }
    let expected: Vec<String> = (0..50).map(|n| format!("bot {n}")).collect();
    assert_eq!(names, expected);
}

/// What a stolen access token must not do needs the password, or a session that has just begun.
#[tokio::test]
async fn creating_a_key_and_deleting_the_account_need_a_recent_password() {
    let town = Town::of([]).await;
    let (accounts, signed_in) = (town.accounts(), town.sign_up("ana").await);
    let (ana, nickname) = (signed_in.caller, signed_in.user.nickname);
    let read = scopes(&["read"]);
    town.advance_ms(5 * 60 * 1000 - 1);
    accounts.create_key(&ana, "bot", &read, None).await.unwrap();
    town.advance_ms(1);
    let refused = accounts.create_key(&ana, "bot", &read, None).await.unwrap_err();
    assert!(matches!(refused, AccountError::PasswordNeeded));
    assert_eq!(refused.code(), Code::Unauthenticated);
    let refused = accounts.delete_account(&ana, &nickname).await;
    assert!(matches!(refused, Err(AccountError::PasswordNeeded)));
    let refreshed = accounts.refresh(&signed_in.refresh_token).await.unwrap().caller;
    let refused = accounts.create_key(&refreshed, "bot", &read, None).await;
    assert!(matches!(refused, Err(AccountError::PasswordNeeded)), "a refresh is no sign-in");

    let wrong = accounts.confirm_password(&ana, &Secret::new("guess")).await;
    assert!(matches!(wrong, Err(AccountError::WrongPassword)));
    let confirmed = accounts.confirm_password(&ana, &town.password("ana")).await.unwrap();
    accounts.create_key(&confirmed, "bot", &read, None).await.unwrap();
    accounts.delete_account(&confirmed, &nickname).await.unwrap();
}

#[tokio::test]
async fn ending_all_sessions_revokes_the_keys_unless_they_are_to_stay() {
    let town = Town::of([]).await;
    let (accounts, ana) = (town.accounts(), town.sign_up("ana").await);
    let (old, new) = (town.password("ana"), Secret::new("another secret"));
    let (read, one_key) = (scopes(&["read"]), PageInput::first());
    let create = async || accounts.create_key(&ana.caller, "bot", &read, None).await.unwrap();
    let kept = create().await;
    let keep = KeysOnSignOut::Keep;
    assert_eq!(accounts.change_password(&ana.caller, &old, &new, keep).await.unwrap(), 0);
    accounts.authenticate(&kept.secret).await.unwrap();
    create().await;
    let revoke = KeysOnSignOut::Revoke;
    assert_eq!(accounts.change_password(&ana.caller, &new, &old, revoke).await.unwrap(), 2);
    let refused = accounts.authenticate(&kept.secret).await;
    assert!(matches!(refused, Err(AccountError::InvalidApiKey)));
    let last = create().await;
    assert_eq!(accounts.logout_everywhere(&ana.caller, revoke).await.unwrap(), 1);
    assert_eq!(code(accounts.authenticate(&last.secret).await), Code::Unauthenticated);
    let ana = town.caller(&ana.user.id.to_string());
    assert!(accounts.keys(&ana, &one_key).await.unwrap().items.is_empty());
}

/// A thief who creates a key while the owner signs out everywhere is out as well.
#[tokio::test]
async fn no_key_escapes_a_concurrent_sign_out() {
    for gap in 1.. {
        let town = Town::of([]).await;
        let ana = town.sign_up("ana").await;
        let (accounts, owner) = (town.accounts(), ana.caller.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            accounts.logout_everywhere(&owner, KeysOnSignOut::Revoke).await.unwrap();
        });
        let thief = Accounts::new(context);
        let made = thief.create_key(&ana.caller, "bot", &scopes(&["write"]), None).await;
        if !meanwhile.happened() {
            made.unwrap();
            return;
        }
        match made {
            Ok(key) => assert!(town.accounts().authenticate(&key.secret).await.is_err(), "{gap}"),
            Err(refused) => assert!(matches!(refused, AccountError::SessionEnded), "{gap}"),
        }
        assert!(town.rows(&format!("USER#{}", ana.user.id), "APIKEY#").await.is_empty(), "{gap}");
    }
}
