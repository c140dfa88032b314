//! Account administration by staff (R31, R32, R33).

use roundtable_domain::{
    AccountError, Accounts, Caller, Code, PAGE_ITEMS, PageInput, Refusal, Roles,
};
use roundtable_model::{Role, Secret, Tier, UserStatus};
use roundtable_testkit::Town;

use super::{code, items, request};

/// The audit entries, one line each: actor, action, subject, reason.
pub(super) async fn audit(town: &Town) -> Vec<String> {
    let items = items(town.context().core().table()).await;
    let entries = items.iter().filter(|item| item.text("type") == Some("Audit"));
    let text = |item: &roundtable_model::table::Item, name: &str| {
        item.text(name).unwrap_or("-").to_owned()
    };
    let fields = ["actor", "action", "subject", "detail"];
    entries.map(|entry| fields.map(|field| text(entry, field)).join(" ")).collect()
}

/// A town with an admin and a moderator.
async fn staffed() -> (Town, Caller, Caller) {
    let town = Town::of(["ana", "mo", "root"]).await;
    let moderator = town.grant_role("mo", Role::Moderator).await;
    let admin = town.grant_role("root", Role::Admin).await;
    (town, moderator, admin)
}

#[tokio::test]
async fn a_suspended_account_is_hidden_and_unusable() {
    let (town, moderator, _) = staffed().await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    let suspended = accounts.suspend(&moderator, &ana.user_id, "spam", None).await.unwrap();
    assert_eq!((suspended.status, suspended.email), (UserStatus::Suspended, None));
    assert_eq!(audit(&town).await, [r#"mo suspendUser ana {"reason":"spam"}"#]);
    assert_eq!(accounts.user(None, &ana.user_id).await.unwrap(), None);
    assert!(accounts.user(Some(&moderator), &ana.user_id).await.unwrap().is_some());
    assert!(accounts.me(&ana).await.unwrap().is_some(), "they see what became of it");
    let refused = accounts.invite(&ana, None, None).await;
    assert_eq!(code(refused), Code::Forbidden);

    accounts.suspend(&moderator, &ana.user_id, "more spam", None).await.unwrap();
    assert_eq!(audit(&town).await.len(), 1, "it was suspended already");
    let back = accounts.unsuspend(&moderator, &ana.user_id, None).await.unwrap();
    assert_eq!(back.status, UserStatus::Active);
    assert_eq!(audit(&town).await.len(), 2);
    accounts.unsuspend(&moderator, &ana.user_id, None).await.unwrap();
    assert_eq!(audit(&town).await.len(), 2);
    assert!(accounts.user(None, &ana.user_id).await.unwrap().is_some());
}

#[tokio::test]
async fn suspending_requires_a_higher_role() {
    let (town, moderator, admin) = staffed().await;
    town.add_user("mia", |mia| mia.roles = vec![Role::User, Role::Moderator]).await;
    town.add_user("gone", |deleted| deleted.status = UserStatus::Deleted).await;
    let accounts = town.accounts();
    let suspend = async |caller: &Caller, user: &str| {
        let ended = accounts.suspend(caller, &town.id(user), "reason", None).await;
        ended.map(drop).map_err(|refused| refused.code())
    };
    assert_eq!(suspend(&town.caller("ana"), "mo").await, Err(Code::Forbidden));
    assert_eq!(suspend(&town.caller("stranger"), "mo").await, Err(Code::Unauthenticated));
    assert_eq!(suspend(&moderator, "root").await, Err(Code::Forbidden));
    assert_eq!(suspend(&moderator, "mia").await, Err(Code::Forbidden));
    assert_eq!(suspend(&moderator, "mo").await, Err(Code::BadRequest), "not themselves");
    assert_eq!(suspend(&admin, "root").await, Err(Code::BadRequest));
    assert_eq!(suspend(&moderator, "nobody").await, Err(Code::NotFound));
    assert_eq!(suspend(&moderator, "gone").await, Err(Code::NotFound));
    let blank = accounts.suspend(&moderator, &town.id("ana"), " ", None).await;
    assert_eq!(code(blank), Code::BadRequest);
    let unsuspend = accounts.unsuspend(&town.caller("ana"), &town.id("mo"), None).await;
    assert_eq!(code(unsuspend), Code::Forbidden);
    assert!(audit(&town).await.is_empty());
    assert_eq!(suspend(&admin, "mia").await, Ok(()));
    assert_eq!(suspend(&admin, "mo").await, Ok(()));
    assert_eq!(suspend(&moderator, "ana").await, Err(Code::Forbidden), "suspended themselves");
}

/// R42: a revoked role is worthless, even if a token still claims it.
#[tokio::test]
async fn a_role_counts_only_while_it_is_held() {
    let (town, moderator, admin) = staffed().await;
    let (accounts, ana) = (town.accounts(), town.id("ana"));
    let claims = town.staff("ana", Role::Admin);
    assert_eq!(code(accounts.suspend(&claims, &town.id("mo"), "x", None).await), Code::Forbidden);
    assert_eq!(
        code(accounts.set_roles(&claims, &ana, &[Role::Admin], None).await),
        Code::Forbidden
    );
    let modest = Caller { roles: Roles::default(), ..admin.clone() };
    let without = accounts.set_roles(&modest, &ana, &[Role::Admin], None).await;
    assert_eq!(code(without), Code::Forbidden, "with a token that leaves the role at home");
    accounts.set_roles(&admin, &moderator.user_id, &[], None).await.unwrap();
    assert_eq!(code(accounts.suspend(&moderator, &ana, "x", None).await), Code::Forbidden);
}

/// R32: requests are idempotent.
#[tokio::test]
async fn a_repeated_suspension_has_the_effect_of_one() {
    let (town, moderator, admin) = staffed().await;
    let (accounts, ana, once) = (town.accounts(), town.id("ana"), request("once"));
    accounts.suspend(&moderator, &ana, "spam", Some(&once)).await.unwrap();
    accounts.unsuspend(&admin, &ana, None).await.unwrap();
    let again = accounts.suspend(&moderator, &ana, "spam", Some(&once)).await.unwrap();
    assert_eq!(again.status, UserStatus::Active, "as it is now");
    let other = accounts.suspend(&moderator, &ana, "other", Some(&once)).await;
    assert_eq!(code(other), Code::IdempotencyMismatch);
    assert_eq!(audit(&town).await.len(), 2);
}

/// R50: tier and verification are set by admins, audited, and shown to every viewer.
#[tokio::test]
async fn admins_set_tiers_and_verify_users() {
    let (town, moderator, admin) = staffed().await;
    let (accounts, ana) = (town.accounts(), town.id("ana"));
    for caller in [&moderator, &town.caller("ana")] {
        let tier = accounts.set_tier(caller, &ana, Tier::Pro, None).await;
        assert_eq!(code(tier), Code::Forbidden);
        assert_eq!(code(accounts.set_verified(caller, &ana, true, None).await), Code::Forbidden);
    }
    let once = request("tier");
    let set = accounts.set_tier(&admin, &ana, Tier::Pro, Some(&once)).await.unwrap();
    assert_eq!((set.tier, set.is_verified), (Tier::Pro, false));
    accounts.set_tier(&admin, &ana, Tier::Pro, None).await.unwrap();
    let verified = accounts.set_verified(&admin, &ana, true, None).await.unwrap();
    assert_eq!((verified.tier, verified.is_verified), (Tier::Pro, true));
    let seen = accounts.user(None, &ana).await.unwrap().unwrap();
    assert_eq!((seen.tier, seen.is_verified), (Tier::Pro, true));
    accounts.set_tier(&admin, &ana, Tier::Free, None).await.unwrap();
    let again = accounts.set_tier(&admin, &ana, Tier::Pro, Some(&once)).await.unwrap();
    assert_eq!(again.tier, Tier::Free, "as it is now");
    accounts.set_verified(&admin, &ana, false, None).await.unwrap();
    let mut entries = audit(&town).await;
    entries.sort();
    let expected = [
        r#"root setUserTier ana {"from":"free","to":"pro"}"#,
        r#"root setUserTier ana {"from":"pro","to":"free"}"#,
        r#"root setUserVerified ana {"from":false,"to":true}"#,
        r#"root setUserVerified ana {"from":true,"to":false}"#,
    ];
    assert_eq!(entries, expected);
}

#[tokio::test]
async fn admins_grant_and_revoke_roles() {
    let (town, moderator, admin) = staffed().await;
    let (accounts, ana) = (town.accounts(), town.id("ana"));
    let refused = accounts.set_roles(&moderator, &ana, &[Role::Moderator], None).await;
    assert_eq!(code(refused), Code::Forbidden);
    let missing = accounts.set_roles(&admin, &town.id("nobody"), &[], None).await;
    assert!(matches!(missing, Err(AccountError::NoSuchUser)));
    let (roles, once) = ([Role::Moderator, Role::Moderator], request("roles"));
    let given = accounts.set_roles(&admin, &ana, &roles, Some(&once)).await.unwrap();
    assert_eq!(given.roles, [Role::User, Role::Moderator]);
    assert_eq!(given.email, Some(town.email("ana")), "admins see it");
    let entry = r#"root setUserRoles ana {"from":["user"],"to":["user","moderator"]}"#;
    assert_eq!(audit(&town).await, [entry]);
    let taken = accounts.set_roles(&admin, &ana, &[Role::User], None).await.unwrap();
    assert_eq!(taken.roles, [Role::User]);
    let again = accounts.set_roles(&admin, &ana, &roles, Some(&once)).await.unwrap();
    assert_eq!(again.roles, [Role::User], "as it is now");

    let own = accounts.set_roles(&admin, &admin.user_id, &[Role::Moderator], None).await;
    assert!(matches!(own, Err(AccountError::Yourself)));
    let both = [Role::Moderator, Role::Admin];
    let more = accounts.set_roles(&admin, &admin.user_id, &both, None).await.unwrap();
    assert_eq!(more.roles, [Role::User, Role::Moderator, Role::Admin]);
}

/// R33: of two admins who concurrently revoke each other's role at most one succeeds.
#[tokio::test]
async fn one_admin_remains() {
    for gap in 1.. {
        let town = Town::of(["root", "boss"]).await;
        let root = town.grant_role("root", Role::Admin).await;
        let boss = town.grant_role("boss", Role::Admin).await;
        let (accounts, other, id) = (town.accounts(), boss.clone(), root.user_id.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            let _either = accounts.set_roles(&other, &id, &[], None).await;
        });
        let taken = Accounts::new(context).set_roles(&root, &boss.user_id, &[], None).await;
        let accounts = town.accounts();
        let mut admins = 0;
        for caller in [&root, &boss] {
            let roles = accounts.me(caller).await.unwrap().unwrap().roles;
            admins += usize::from(roles.contains(&Role::Admin));
        }
        assert_eq!(admins, 1, "{gap}: {taken:?}");
        if !meanwhile.happened() {
            return;
        }
    }
}

#[tokio::test]
async fn the_operator_can_grant_the_first_admin() {
    let town = Town::of(["ana"]).await;
    let accounts = town.accounts();
    let granted = accounts.grant(&"ANA".parse().unwrap(), Role::Admin).await.unwrap();
    assert_eq!(granted.roles, [Role::User, Role::Admin]);
    accounts.grant(&"ana".parse().unwrap(), Role::Admin).await.unwrap();
    let entry = r#"- grantRole ana {"from":["user"],"to":["user","admin"]}"#;
    assert_eq!(audit(&town).await, [entry]);
    let missing = accounts.grant(&"nobody".parse().unwrap(), Role::Admin).await;
    assert!(matches!(missing, Err(AccountError::NoSuchUser)));
}

/// R5: admins see which accounts are under attack, and from which addresses.
#[tokio::test]
async fn admins_see_failed_sign_ins() {
    let (town, moderator, admin) = staffed().await;
    let accounts = town.accounts();
    let from = "2001:db8::1".parse().unwrap();
    for _ in 0..3 {
        let guess = accounts.login(&town.email("ana"), &Secret::new("guess"), Some(from)).await;
        guess.unwrap_err();
    }
    town.advance_ms(15 * 60 * 1000);
    accounts.login(&town.email("ana"), &Secret::new("guess"), Some(from)).await.unwrap_err();
    let first = PageInput::first();
    for key in ["ANA@example.com", "2001:db8::1", " 2001:db8::ffff "] {
        let page = accounts.login_attempts(&admin, key, &first).await.unwrap();
        let counts: Vec<u64> = page.into_items().iter().map(|attempt| attempt.count).collect();
        assert_eq!(counts, [1, 3], "{key}: newest first");
    }
    let one = PageInput { limit: Some(1), after: None };
    let page = accounts.login_attempts(&admin, "ana@example.com", &one).await.unwrap();
    let rest = PageInput { limit: Some(PAGE_ITEMS), after: page.next };
    let rest = accounts.login_attempts(&admin, "ana@example.com", &rest).await.unwrap();
    assert_eq!((page.items.len(), rest.items.len(), rest.next), (1, 1, None));
    let none = accounts.login_attempts(&admin, "bo@example.com", &first).await.unwrap();
    assert!(none.items.is_empty());
    let neither = accounts.login_attempts(&admin, "neither", &first).await;
    assert_eq!(code(neither), Code::BadRequest);
    for caller in [&moderator, &town.caller("ana")] {
        let refused = accounts.login_attempts(caller, "ana@example.com", &first).await;
        assert_eq!(code(refused), Code::Forbidden);
    }
}
