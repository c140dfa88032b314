//! Registration (R6, R31, R32, R33).

use std::sync::Arc;

use futures::future::join_all;
use roundtable_domain::{
    AccountError, Accounts, Code, InvitationSettings, ProfileChange, Refusal, Registration,
    Settings, SignUp,
};
use roundtable_model::entities::Invitation;
use roundtable_model::{ActorType, Entity as _, Role, Secret, UserStatus, samples};
use roundtable_testkit::Town;

use super::{code, everything, locks, names_are_locked, request, secrets};

async fn by_invitation() -> Town {
    let settings = Settings { registration: Registration::Invitation, ..Town::settings() };
    Town::with(settings, ["ana"]).await
}

/// R6: writes the profile, its locks and the credential, and no usable secret.
#[tokio::test]
async fn registration_creates_an_account() {
    let town = Town::of([]).await;
    let form = SignUp {
        handle: Some("Ana.F".parse().unwrap()),
        full_name: Some("Ana Ferreira".into()),
        language: Some("pt-PT".into()),
        ..town.sign_up_form("Ana")
    };
    let signed_in = town.accounts().register(&form, Some(town.address()), None).await.unwrap();
    let user = &signed_in.user;
    assert_eq!((user.actor_type, user.preferred_username.as_str()), (ActorType::Person, "Ana"));
    assert_eq!((user.status, user.roles.as_slice()), (UserStatus::Active, &[Role::User][..]));
    assert_eq!(user.email, Some(form.email.clone()), "people see their own");
    assert_eq!(signed_in.caller.user_id, user.id);
    assert!(!signed_in.caller.moderates());

    let id = user.id.to_string();
    let kinds: Vec<String> = town.rows(&format!("USER#{id}"), "").await;
    let kinds: Vec<&str> = kinds.iter().map(|row| row.split(['#', ' ']).next().unwrap()).collect();
    assert_eq!(kinds, ["CREDENTIAL", "DEVICE", "PROFILE", "SESSION"]);
    let expected = ["EMAIL#ana@example.com", "HANDLE#ana.f", "NICK#ana"];
    assert_eq!(locks(&town).await, expected.map(|lock| format!("{lock} {id}")));
    let stored = everything(&town).await;
    assert!(!stored.contains(form.password.expose()));
    let secrets = secrets(&signed_in.refresh_token);
    assert_eq!(secrets.len(), 2);
    assert!(secrets.iter().all(|secret| !stored.contains(secret)));
    let shown = format!("{signed_in:?} {form:?}");
    assert!(!shown.contains(form.password.expose()) && !shown.contains(secrets[1]));
}

/// R6: in any spelling.
#[tokio::test]
async fn a_name_can_be_taken_once() {
    let town = Town::of([]).await;
    let ana = SignUp { handle: Some("ana.f".parse().unwrap()), ..town.sign_up_form("ana") };
    let accounts = town.accounts();
    accounts.register(&ana, None, None).await.unwrap();
    let before = everything(&town).await;

    let bo = town.sign_up_form("bo");
    let email = SignUp { email: "ANA@Example.com".parse().unwrap(), ..bo.clone() };
    let refused = accounts.register(&email, None, None).await.unwrap_err();
    assert!(matches!(refused, AccountError::EmailTaken));
    assert_eq!(refused.code(), Code::Conflict);
    let nickname = SignUp { nickname: "ANA".parse().unwrap(), ..bo.clone() };
    let refused = accounts.register(&nickname, None, None).await;
    assert!(matches!(refused, Err(AccountError::NicknameTaken)));
    let handle = SignUp { handle: Some("Ana.F".parse().unwrap()), ..bo };
    let refused = accounts.register(&handle, None, None).await;
    assert!(matches!(refused, Err(AccountError::HandleTaken)));
    assert_eq!(everything(&town).await, before, "nothing is left of those who were refused");
}

/// R33: of many concurrent registrations exactly one gets the name, and the others leave no lock
/// behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_gets_the_nickname() {
    let town = Arc::new(Town::of([]).await);
    let forms: Vec<SignUp> = (0..8)
        .map(|n| SignUp {
            nickname: "ana".parse().unwrap(),
            ..town.sign_up_form(&format!("ana{n}"))
        })
        .collect();
    let tasks = forms.into_iter().map(|form| {
        let accounts = town.accounts();
        tokio::spawn(async move { accounts.register(&form, None, None).await })
    });
    let ended: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    let (won, lost): (Vec<_>, Vec<_>) = ended.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|lost| matches!(lost, Err(AccountError::NicknameTaken))));
    assert_eq!(locks(&town).await.len(), 2);
    names_are_locked(&town).await;
}

/// R33: whenever a concurrent registration takes the nickname, only one user has it.
#[tokio::test]
async fn a_nickname_can_be_taken_at_any_moment() {
    for gap in 1.. {
        let town = Town::of(["bo"]).await;
        let (accounts, bo) = (town.accounts(), town.caller("bo"));
        let rename = ProfileChange { nickname: "ana".parse().ok(), ..ProfileChange::default() };
        let (context, meanwhile) = town.interleave(gap, async move || {
            let _either = accounts.update_profile(&bo, &rename, None).await;
        });
        let registered =
            Accounts::new(context).register(&town.sign_up_form("ana"), None, None).await;
        names_are_locked(&town).await;
        let owner = town.context().core().nick_lock(&"ana".parse().unwrap()).get().await.unwrap();
        match registered {
            Ok(signed_in) => assert_eq!(owner.unwrap().user_id, signed_in.user.id),
            Err(refused) => {
                assert!(matches!(refused, AccountError::NicknameTaken), "{gap}: {refused}");
                assert_eq!(owner.unwrap().user_id, town.id("bo"));
            }
        }
        if !meanwhile.happened() {
            assert!(gap > 4, "{gap}");
            return;
        }
    }
}

/// R32: one account; each repetition checks the password again and opens another session.
#[tokio::test]
async fn a_repeated_registration_creates_one_account() {
    let town = Town::of([]).await;
    let (accounts, form, once) = (town.accounts(), town.sign_up_form("ana"), request("sign-up"));
    let first = accounts.register(&form, None, Some(&once)).await.unwrap();
    let second = accounts.register(&form, None, Some(&once)).await.unwrap();
    assert_eq!(first.user, second.user);
    assert_ne!(first.session_id, second.session_id);
    for signed_in in [&first, &second] {
        accounts.refresh(&signed_in.refresh_token).await.unwrap();
    }
    let guess = SignUp { password: Secret::new("not the password"), ..form.clone() };
    let guessed = accounts.register(&guess, None, Some(&once)).await;
    assert!(matches!(guessed, Err(AccountError::WrongCredentials)));
    let attempts = town.login_rows("EMAIL#ana@example.com").await;
    assert!(attempts[0].contains("count=1 "), "it counts as any other guess: {attempts:?}");
    let other = SignUp { nickname: "anna".parse().unwrap(), ..form.clone() };
    let other = accounts.register(&other, None, Some(&once)).await;
    assert_eq!(code(other), Code::IdempotencyMismatch);
    let spelled = SignUp { email: "Ana@Example.com".parse().unwrap(), ..form };
    let spelled = accounts.register(&spelled, None, Some(&once)).await.unwrap();
    assert_eq!(spelled.user.id, first.user.id, "the same address");
    assert!(!everything(&town).await.contains(secrets(&first.refresh_token)[1]));
}

/// R32: also when both run concurrently.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_repetitions_create_one_account() {
    let town = Arc::new(Town::of([]).await);
    let tasks = (0..6).map(|_| {
        let (accounts, form) = (town.accounts(), town.sign_up_form("ana"));
        let once = request("sign-up");
        tokio::spawn(async move { accounts.register(&form, None, Some(&once)).await })
    });
    let ended: Vec<_> = join_all(tasks).await.into_iter().map(|ended| ended.unwrap()).collect();
    let ids: Vec<_> = ended.into_iter().map(|signed_in| signed_in.unwrap().user.id).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(locks(&town).await.len(), 2);
}

/// R32: the second begins at any point of the first request.
#[tokio::test]
async fn a_concurrent_repetition_finds_the_first_outcome() {
    let town = Town::of(["ana", "bo"]).await;
    let rename = ProfileChange { nickname: "cleo".parse().ok(), ..ProfileChange::default() };
    for gap in 1.. {
        let once = request(&format!("rename-{gap}"));
        let (accounts, ana) = (town.accounts(), town.caller("ana"));
        let (change, same) = (rename.clone(), once.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            accounts.update_profile(&ana, &change, Some(&same)).await.unwrap();
        });
        let ana = town.caller("ana");
        let renamed = Accounts::new(context).update_profile(&ana, &rename, Some(&once)).await;
        assert_eq!(renamed.unwrap().nickname.as_str(), "cleo");
        if !meanwhile.happened() {
            return;
        }
        let back = ProfileChange { nickname: "ana".parse().ok(), ..ProfileChange::default() };
        town.accounts().update_profile(&town.caller("ana"), &back, None).await.unwrap();
    }
}

#[tokio::test]
async fn closed_registration_is_refused() {
    let settings = Settings { registration: Registration::Closed, ..Town::settings() };
    let town = Town::with(settings, []).await;
    let refused =
        town.accounts().register(&town.sign_up_form("ana"), None, None).await.unwrap_err();
    assert!(matches!(refused, AccountError::RegistrationClosed));
    assert_eq!(refused.code(), Code::Forbidden);
    assert!(locks(&town).await.is_empty());
}

#[tokio::test]
async fn an_invitation_has_a_limited_number_of_uses() {
    let town = by_invitation().await;
    let accounts = town.accounts();
    let uninvited = accounts.register(&town.sign_up_form("bo"), None, None).await;
    assert!(matches!(uninvited, Err(AccountError::InvitationNeeded)));
    let unknown = SignUp { invitation: "NEVERWAS".parse().ok(), ..town.sign_up_form("bo") };
    let unknown = accounts.register(&unknown, None, None).await;
    assert!(matches!(unknown, Err(AccountError::InvitationInvalid)));

    let invitation = accounts.invite(&town.caller("ana"), Some(2), None).await.unwrap();
    assert_eq!((invitation.uses_left, invitation.ttl), (2, None));
    let invited = |name: &str| SignUp {
        invitation: Some(invitation.code.clone()),
        ..town.sign_up_form(name)
    };
    let taken = SignUp { nickname: "ana".parse().unwrap(), ..invited("anna") };
    let taken = accounts.register(&taken, None, None).await;
    assert!(matches!(taken, Err(AccountError::NicknameTaken)), "which uses nothing up");
    let row = format!("INVITE#{}", invitation.code);
    accounts.register(&invited("bo"), None, None).await.unwrap();
    assert_eq!(town.rows(&row, "").await, ["INVITE inviterId=ana listedFor=ana usesLeft=1"]);
    accounts.register(&invited("cleo"), None, Some(&request("r"))).await.unwrap();
    assert!(town.rows(&row, "").await.is_empty());
    let third = accounts.register(&invited("dan"), None, None).await;
    assert!(matches!(third, Err(AccountError::InvitationInvalid)));
    let again = accounts.register(&invited("cleo"), None, Some(&request("r"))).await;
    assert_eq!(again.unwrap().user.nickname.as_str(), "cleo", "a repetition needs no other one");
}

/// R33: the count is decremented in the transaction that creates the account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_use_of_an_invitation_goes_to_one_user() {
    let town = Arc::new(by_invitation().await);
    let invitation = town.accounts().invite(&town.caller("ana"), None, None).await.unwrap();
    let tasks = (0..6).map(|n| {
        let (accounts, code) = (town.accounts(), invitation.code.clone());
        let form = SignUp { invitation: Some(code), ..town.sign_up_form(&format!("bo{n}")) };
        tokio::spawn(async move { accounts.register(&form, None, None).await })
    });
    let ended: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1);
    names_are_locked(&town).await;
}

#[tokio::test]
async fn invitations_expire() {
    let town = by_invitation().await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    let end = town.now().plus_ms(60_000);
    let invitation = accounts.invite(&ana, None, Some(end)).await.unwrap();
    let form = SignUp { invitation: Some(invitation.code), ..town.sign_up_form("bo") };
    town.advance_ms(60_000);
    let late = accounts.register(&form, None, None).await;
    assert!(matches!(late, Err(AccountError::InvitationInvalid)));

    assert_eq!(code(accounts.invite(&ana, Some(0), None).await), Code::BadRequest);
    assert_eq!(code(accounts.invite(&ana, Some(1_001), None).await), Code::BadRequest);
    assert_eq!(code(accounts.invite(&ana, None, Some(town.now())).await), Code::BadRequest);
    let stranger = accounts.invite(&town.caller("stranger"), None, None).await;
    assert_eq!(code(stranger), Code::Unauthenticated);

    let invitation = accounts.invite(&ana, None, None).await.unwrap();
    town.add_user("cleo", |_| {}).await;
    let admin = town.grant_role("cleo", Role::Admin).await;
    accounts.suspend(&admin, &ana.user_id, "spam", None).await.unwrap();
    let form = SignUp { invitation: Some(invitation.code), ..town.sign_up_form("bo") };
    let refused = accounts.register(&form, None, None).await;
    assert!(matches!(refused, Err(AccountError::InvitationInvalid)), "whose inviter is suspended");
}

#[tokio::test]
async fn invalid_registrations_are_refused() {
    let town = Town::of([]).await;
    let form = town.sign_up_form("ana");
    let long = "x".repeat(1_025);
    for wrong in [
        SignUp { password: Secret::new("7 chars"), ..form.clone() },
        SignUp { password: Secret::new(&*long), ..form.clone() },
        SignUp { full_name: Some(long.clone()), ..form.clone() },
        SignUp { language: Some(long.clone()), ..form.clone() },
    ] {
        let refused = town.accounts().register(&wrong, None, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest);
        assert!(!refused.to_string().contains("7 chars"), "{refused}");
    }
    assert!(locks(&town).await.is_empty());
}

/// Invitations are how a stranger brings in others: only staff may have many.
#[tokio::test]
async fn invitations_of_users_are_limited_in_number_and_size() {
    let invitations = InvitationSettings { open_max: 2, uses_max: 3 };
    let registration = Registration::Invitation;
    let settings = Settings { invitations, registration, ..Town::settings() };
    let town = Town::with(settings, ["ana", "bo", "mo"]).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    assert_eq!(code(accounts.invite(&ana, Some(4), None).await), Code::BadRequest);
    let end = town.now().plus_ms(60_000);
    accounts.invite(&ana, Some(3), Some(end)).await.unwrap();
    let one = accounts.invite(&ana, None, None).await.unwrap();
    let refused = accounts.invite(&ana, None, None).await;
    assert!(matches!(&refused, Err(AccountError::TooManyInvitations)));
    assert_eq!(code(refused), Code::Conflict);
    accounts.invite(&town.caller("bo"), None, None).await.unwrap();

    let form = SignUp { invitation: Some(one.code), ..town.sign_up_form("cleo") };
    accounts.register(&form, None, None).await.unwrap();
    accounts.invite(&ana, None, None).await.unwrap();
    assert_eq!(code(accounts.invite(&ana, None, None).await), Code::Conflict);
    town.advance_ms(60_000);
    accounts.invite(&ana, None, None).await.unwrap();

    let mo = town.grant_role("mo", Role::Moderator).await;
    for _ in 0..3 {
        accounts.invite(&mo, Some(1_000), None).await.unwrap();
    }
    assert_eq!(code(accounts.invite(&mo, Some(1_001), None).await), Code::BadRequest);
}

/// Invitations of versions that did not list them have no index key: they are valid, and do not count.
#[tokio::test]
async fn an_invitation_of_an_earlier_version_is_redeemed() {
    let invitations = InvitationSettings { open_max: 1, uses_max: 1 };
    let registration = Registration::Invitation;
    let settings = Settings { invitations, registration, ..Town::settings() };
    let town = Town::with(settings, ["ana"]).await;
    let (accounts, ana) = (town.accounts(), town.caller("ana"));
    let (inviter_id, created_at) = (ana.user_id.clone(), town.now());
    let before = Invitation {
        inviter_id,
        created_at,
        listed_for: None,
        uses_left: 2,
        ttl: None,
        ..samples::invitation()
    };
    town.context().core().table().put(before.create()).await.unwrap();
    assert!(before.item().get("GSI1PK").is_none());
    accounts.invite(&ana, None, None).await.unwrap();
    for name in ["bo", "cleo"] {
        let form = SignUp { invitation: Some(before.code.clone()), ..town.sign_up_form(name) };
        accounts.register(&form, None, None).await.unwrap();
    }
}
