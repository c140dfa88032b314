//! Identities at an external issuer, and addresses that are proved or only claimed.

use std::sync::{Arc, Mutex};

use roundtable_domain::{
    AccountError, Accounts, Caller, Code, Context, ExternalIdentity, KeysOnSignOut, Registration,
    ServiceError, Settings, SignUp, SignedInUser,
};
use roundtable_model::{Role, Secret, UserId, UserStatus};
use roundtable_testkit::Town;

use super::lockout::{retry_after, sign_in};
use super::staff::audit;
use super::{code, locks, names_are_locked};

const ISSUER: &str = "https://login.example.org";

/// A person with this subject, and the address that the issuer has verified.
fn person(subject: &str, email: Option<&str>) -> ExternalIdentity {
    ExternalIdentity {
        issuer: ISSUER.parse().unwrap(),
        subject: subject.parse().unwrap(),
        email: email.map(|name| format!("{name}@example.com").parse().unwrap()),
    }
}

async fn link(
    town: &Town,
    identity: &ExternalIdentity,
    password: &Secret,
) -> Result<(), AccountError> {
    town.accounts().link_identity(identity, password, Some(town.address())).await
}

async fn found(town: &Town, identity: &ExternalIdentity) -> Option<UserId> {
    let caller = town.accounts().by_identity(identity, None).await.unwrap();
    caller.map(|caller| caller.user_id)
}

/// The caller of a token of the issuer, with which this person has signed in now.
async fn signed_in(town: &Town, identity: &ExternalIdentity) -> Caller {
    town.accounts().by_identity(identity, Some(town.now())).await.unwrap().unwrap()
}

/// Mallory has an account, and claims the address of Vera, who has none yet.
async fn claimed() -> (Town, SignedInUser) {
    let town = Town::of([]).await;
    let mallory = town.sign_up("mallory").await;
    let (accounts, password) = (town.accounts(), town.password("mallory"));
    accounts.change_email(&mallory.caller, &password, &town.email("vera")).await.unwrap();
    (town, mallory)
}

async fn email_of(town: &Town, user: &UserId) -> Option<String> {
    let user = town.context().core().profile(user).strong().get().await.unwrap().unwrap();
    user.email.map(|email| email.to_string())
}

#[tokio::test]
async fn an_identity_is_its_issuer_and_subject() {
    let town = Town::of([]).await;
    let (ana, bo) = (town.sign_up("ana").await.user.id, town.sign_up("bo").await.user.id);
    let identity = person("s-1", Some("ana"));
    assert_eq!(found(&town, &identity).await, None, "an address opens nothing");
    link(&town, &identity, &town.password("ana")).await.unwrap();
    link(&town, &identity, &town.password("ana")).await.unwrap();
    for email in [None, Some("ana"), Some("bo")] {
        assert_eq!(found(&town, &person("s-1", email)).await, Some(ana.clone()), "{email:?}");
    }
    let elsewhere =
        ExternalIdentity { issuer: "https://evil.example".parse().unwrap(), ..identity };
    for other in [person("S-1", Some("ana")), person("s-2", Some("ana")), elsewhere] {
        assert_eq!(found(&town, &other).await, None, "{other:?}");
    }
    let taken = link(&town, &person("s-1", Some("bo")), &town.password("bo")).await;
    assert!(matches!(taken, Err(AccountError::IdentityTaken)));
    link(&town, &person("s-2", Some("bo")), &town.password("bo")).await.unwrap();
    assert_eq!(found(&town, &person("s-2", None)).await, Some(bo));
    let rows = town.rows("IDENTITY#https://login.example.org#s-1", "").await;
    assert_eq!(rows, [format!("IDENTITY userId={ana}")]);
}

/// Both are needed: the issuer's word for the address, and the account's password.
#[tokio::test]
async fn an_address_links_only_with_verification_and_password() {
    let town = Town::of([]).await;
    town.sign_up("ana").await;
    let unverified = link(&town, &person("s-1", None), &town.password("ana")).await;
    assert!(matches!(unverified, Err(AccountError::EmailNotVerified)));
    let guessed = link(&town, &person("s-1", Some("ana")), &Secret::new("guess")).await;
    assert!(matches!(guessed, Err(AccountError::WrongCredentials)));
    let nobody = link(&town, &person("s-1", Some("nobody")), &town.password("ana")).await;
    assert!(matches!(nobody, Err(AccountError::WrongCredentials)), "as for `login`");
    assert_eq!(found(&town, &person("s-1", Some("ana"))).await, None);
}

#[tokio::test]
async fn passwords_are_not_guessed_by_linking() {
    let town = Town::of([]).await;
    town.sign_up("ana").await;
    let identity = person("s-1", Some("ana"));
    let mut guesses = 0;
    for _ in 0..30 {
        match link(&town, &identity, &Secret::new("guess")).await {
            Err(AccountError::WrongCredentials) => guesses += 1,
            refused => match retry_after(refused) {
                900 => break,
                seconds => {
                    town.advance_ms(seconds * 1000);
                }
            },
        }
    }
    assert_eq!(guesses, 10);
    assert_eq!(retry_after(sign_in(&town, "ana", town.address()).await), 900, "one count for both");
}

/// Mallory set Vera's address before Vera came. Vera's identity opens nothing of Mallory's, and Vera
/// signs up with the address; Mallory keeps the account without it.
#[tokio::test]
async fn change_email_reserves_no_address() {
    let (town, mallory) = claimed().await;
    let (accounts, vera) = (town.accounts(), person("v-1", Some("vera")));
    assert_eq!(found(&town, &vera).await, None);
    let plain = accounts.register(&town.sign_up_form("vera"), None, None).await;
    assert!(matches!(plain, Err(AccountError::EmailTaken)), "who proves nothing comes second");

    let form = SignUp { identity: Some(vera.clone()), ..town.sign_up_form("vera") };
    let signed_in = accounts.register(&form, None, None).await.unwrap();
    assert_eq!(found(&town, &vera).await, Some(signed_in.user.id.clone()));
    assert_eq!(email_of(&town, &mallory.user.id).await, None);
    names_are_locked(&town).await;
    sign_in(&town, "vera", town.address()).await.unwrap();

    // Mallory's session and password still work, but not to get the address back.
    let mallory = accounts.refresh(&mallory.refresh_token).await.unwrap();
    let password = town.password("mallory");
    let again = accounts.change_email(&mallory.caller, &password, &town.email("vera")).await;
    assert!(matches!(again, Err(AccountError::EmailTaken)));
    let own = accounts.change_email(&mallory.caller, &password, &town.email("mallory")).await;
    assert_eq!(own.unwrap().email, Some(town.email("mallory")));
    sign_in(&town, "mallory", town.address()).await.unwrap();
    names_are_locked(&town).await;
    let (loser, winner) = (&mallory.user.id, &signed_in.user.id);
    let lost = format!("- loseEmail {loser} {{\"provedBy\":\"{winner}\"}}");
    assert_eq!(audit(&town).await, [lost]);
}

/// The same with an account that Mallory's invitation created.
#[tokio::test]
async fn an_invitation_reserves_no_address() {
    let registration = Registration::Invitation;
    let town = Town::with(Settings { registration, ..Town::settings() }, ["mo"]).await;
    let accounts = town.accounts();
    let code = accounts.invite(&town.caller("mo"), Some(2), None).await.unwrap().code;
    let invited = |name: &str| SignUp { invitation: Some(code.clone()), ..town.sign_up_form(name) };
    let squatter = SignUp { nickname: "mallory".parse().unwrap(), ..invited("vera") };
    let mallory = accounts.register(&squatter, None, None).await.unwrap();
    let vera = SignUp { identity: Some(person("v-1", Some("vera"))), ..invited("vera") };
    let vera = accounts.register(&vera, None, None).await.unwrap();
    assert_ne!(mallory.user.id, vera.user.id);
    assert_eq!(found(&town, &person("v-1", None)).await, Some(vera.user.id));
    assert_eq!(email_of(&town, &mallory.user.id).await, None);
}

/// Vera has an account already, with another address.
#[tokio::test]
async fn a_claimed_address_is_taken_back_with_proof() {
    let (town, mallory) = claimed().await;
    let vera = town.sign_up("vi").await;
    let (accounts, password, address) = (town.accounts(), town.password("vi"), town.email("vera"));
    let plain = accounts.change_email(&vera.caller, &password, &address).await;
    assert!(matches!(plain, Err(AccountError::EmailTaken)));
    let proof = person("v-1", Some("vera"));
    let guess = Secret::new("guess");
    let guessed = accounts.change_email_to_proved(&vera.caller, &guess, &address, &proof).await;
    assert!(matches!(guessed, Err(AccountError::WrongPassword)));
    for (other, expected) in
        [(person("v-1", None), "verified"), (person("v-1", Some("x")), "another")]
    {
        let changed =
            accounts.change_email_to_proved(&vera.caller, &password, &address, &other).await;
        assert!(changed.as_ref().unwrap_err().to_string().contains(expected), "{changed:?}");
        assert_eq!(code(changed), Code::BadRequest);
    }
    let changed = accounts.change_email_to_proved(&vera.caller, &password, &address, &proof).await;
    assert_eq!(changed.unwrap().email, Some(address.clone()));
    accounts.change_email_to_proved(&vera.caller, &password, &address, &proof).await.unwrap();
    assert_eq!(found(&town, &proof).await, Some(vera.user.id));
    assert_eq!(email_of(&town, &mallory.user.id).await, None);
    names_are_locked(&town).await;
}

/// A proved address stays, also against another identity that the issuer has verified the same address
/// for; a change of address gives the proof up.
#[tokio::test]
async fn a_proved_address_is_taken_by_nobody() {
    let town = Town::of([]).await;
    let ana = town.sign_up("ana").await;
    link(&town, &person("s-1", Some("ana")), &town.password("ana")).await.unwrap();
    let before = locks(&town).await;
    let other = person("s-2", Some("ana"));
    let form = |name: &str| SignUp {
        email: town.email("ana"),
        identity: Some(other.clone()),
        ..town.sign_up_form(name)
    };
    let taken = town.accounts().register(&form("vera"), None, None).await;
    assert!(matches!(taken, Err(AccountError::EmailTaken)), "{taken:?}");
    assert_eq!(locks(&town).await, before);
    let (accounts, password) = (town.accounts(), town.password("ana"));
    accounts.change_email(&ana.caller, &password, &town.email("bo")).await.unwrap();
    accounts.change_email(&ana.caller, &password, &town.email("ana")).await.unwrap();
    accounts.register(&form("vera"), None, None).await.unwrap();
    assert_eq!(email_of(&town, &ana.user.id).await, None, "it was only claimed again");
    assert_eq!(found(&town, &person("s-1", None)).await, Some(ana.user.id), "identities stay");
}

#[tokio::test]
async fn an_identity_signs_up_once() {
    let town = Town::of([]).await;
    let identity = Some(person("s-1", Some("ana")));
    let form = SignUp { identity: identity.clone(), ..town.sign_up_form("ana") };
    town.accounts().register(&form, None, None).await.unwrap();
    let other = SignUp { identity: Some(person("s-1", Some("bo"))), ..town.sign_up_form("bo") };
    let taken = town.accounts().register(&other, None, None).await;
    assert!(matches!(taken, Err(AccountError::IdentityTaken)));
    let unverified = SignUp { identity: Some(person("s-2", None)), ..town.sign_up_form("bo") };
    assert_eq!(code(town.accounts().register(&unverified, None, None).await), Code::BadRequest);
    let mismatch = SignUp { identity, ..town.sign_up_form("bo") };
    let refused = town.accounts().register(&mismatch, None, None).await;
    assert!(matches!(refused, Err(AccountError::EmailMismatch)));
    assert_eq!(locks(&town).await.len(), 2);
}

#[tokio::test]
async fn operators_link_and_unlink_identities() {
    let town = Town::of(["ana", "bo"]).await;
    let (accounts, identity) = (town.accounts(), person("s-1", None));
    let ExternalIdentity { issuer, subject, .. } = &identity;
    let (ana, bo) = ("ana".parse().unwrap(), "bo".parse().unwrap());
    accounts.link_identity_as_operator(&ana, issuer, subject).await.unwrap();
    accounts.link_identity_as_operator(&ana, issuer, subject).await.unwrap();
    assert_eq!(found(&town, &identity).await, Some(town.id("ana")));
    assert_eq!(accounts.identities(&ana).await.unwrap().len(), 1);
    let taken = accounts.link_identity_as_operator(&bo, issuer, subject).await;
    assert!(matches!(taken, Err(AccountError::IdentityTaken)));
    assert!(!accounts.unlink_identity_as_operator(&bo, issuer, subject).await.unwrap());
    assert!(accounts.unlink_identity_as_operator(&ana, issuer, subject).await.unwrap());
    assert!(!accounts.unlink_identity_as_operator(&ana, issuer, subject).await.unwrap());
    assert_eq!(found(&town, &identity).await, None);
    accounts.link_identity_as_operator(&bo, issuer, subject).await.unwrap();
    assert_eq!(found(&town, &identity).await, Some(town.id("bo")));
    for number in 0..9 {
        let subject = format!("more-{number}").parse().unwrap();
        accounts.link_identity_as_operator(&bo, issuer, &subject).await.unwrap();
    }
    let tenth = accounts.link_identity_as_operator(&bo, issuer, &"more".parse().unwrap()).await;
    assert!(matches!(tenth, Err(AccountError::TooManyIdentities)));
    let missing = "nobody".parse().unwrap();
    let missing = accounts.link_identity_as_operator(&missing, issuer, subject).await;
    assert!(matches!(missing, Err(AccountError::NoSuchUser)));
}

/// A stranger who linked an identity with a stolen password loses it with the password.
#[tokio::test]
async fn identities_are_unlinked_with_the_password_and_all_sessions() {
    let town = Town::of([]).await;
    let (accounts, ana) = (town.accounts(), town.sign_up("ana").await);
    let (mut password, next) = (town.password("ana"), Secret::new("quite another secret"));
    let (caller, identity) = (&ana.caller, person("s-1", Some("ana")));
    for keys in [KeysOnSignOut::Keep, KeysOnSignOut::Revoke] {
        let kept = (keys == KeysOnSignOut::Keep).then(|| ana.user.id.clone());
        link(&town, &identity, &password).await.unwrap();
        accounts.change_password(caller, &password, &next, keys).await.unwrap();
        password = next.clone();
        assert_eq!(found(&town, &identity).await, kept, "{keys:?}");
        link(&town, &identity, &password).await.unwrap();
        accounts.logout_everywhere(caller, keys).await.unwrap();
        assert_eq!(found(&town, &identity).await, kept, "{keys:?}");
    }
}

/// What a stolen token must not do needs the password, or a sign-in at the issuer that has just happened.
#[tokio::test]
async fn a_recent_sign_in_at_the_issuer_counts_as_the_password() {
    let town = Town::of([]).await;
    let ana = town.sign_up("ana").await;
    let (accounts, identity) = (town.accounts(), person("s-1", Some("ana")));
    link(&town, &identity, &town.password("ana")).await.unwrap();
    let (read, caller) = ([String::from("read")], signed_in(&town, &identity).await);
    town.advance_ms(5 * 60 * 1000 - 1);
    accounts.create_key(&caller, "bot", &read, None).await.unwrap();
    town.advance_ms(1);
    let of_unknown_age = accounts.by_identity(&identity, None).await.unwrap().unwrap();
    for caller in [&caller, &of_unknown_age] {
        let refused = accounts.create_key(caller, "bot", &read, None).await;
        assert!(matches!(refused, Err(AccountError::PasswordNeeded)), "{refused:?}");
        let refused = accounts.delete_account(caller, &ana.user.nickname).await;
        assert!(matches!(refused, Err(AccountError::PasswordNeeded)), "{refused:?}");
    }
    let confirmed = accounts.confirm_password(&caller, &town.password("ana")).await.unwrap();
    accounts.create_key(&confirmed, "bot", &read, None).await.unwrap();
    accounts.delete_account(&confirmed, &ana.user.nickname).await.unwrap();
}

/// An operation that must not happen once its caller has no right to it.
#[derive(Clone, Copy, Debug)]
enum GuardedOperation {
    CreateKey,
    DeleteAccount,
    ChangeEmail,
    ChangeEmailToProved,
}

impl GuardedOperation {
    const ALL: [Self; 4] =
        [Self::CreateKey, Self::DeleteAccount, Self::ChangeEmail, Self::ChangeEmailToProved];

    async fn run(
        self,
        town: &Town,
        accounts: &Accounts,
        caller: &Caller,
    ) -> Result<(), AccountError> {
        let (password, email) = (town.password("ana"), town.email("other"));
        match self {
            Self::CreateKey => {
                accounts.create_key(caller, "bot", &[String::from("read")], None).await.map(drop)
            }
            Self::DeleteAccount => accounts.delete_account(caller, &"ana".parse().unwrap()).await,
            Self::ChangeEmail => accounts.change_email(caller, &password, &email).await.map(drop),
            Self::ChangeEmailToProved => {
                let proof = person("s-2", Some("other"));
                let changed = accounts.change_email_to_proved(caller, &password, &email, &proof);
                changed.await.map(drop)
            }
        }
    }
}

/// What the operations change: the number of keys, and the profile's status and address.
type GuardedState = (usize, UserStatus, Option<String>);

async fn guarded_state(context: &Context, user: &UserId) -> GuardedState {
    let keys = context.core().api_keys(user).all().await.unwrap().len();
    let profile = context.core().profile(user).strong().get().await.unwrap().unwrap();
    (keys, profile.status, profile.email.map(|email| email.to_string()))
}

/// The owner signs out everywhere, or a moderator suspends the account, while a thief with a token of
/// the server or of the issuer acts. From then on nothing of it happens.
#[tokio::test]
async fn nothing_happens_after_the_right_to_it_has_ended() {
    for operation in GuardedOperation::ALL {
        for (uses_identity, is_suspended) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let what = format!("{operation:?}, {uses_identity}, {is_suspended}");
            for gap in 1.. {
                let town = Town::of(["mo"]).await;
                let (ana, mo) = (town.sign_up("ana").await, town.grant_role("mo", Role::Moderator));
                let (mo, identity) = (mo.await, person("s-1", Some("ana")));
                link(&town, &identity, &town.password("ana")).await.unwrap();
                let thief = if uses_identity {
                    signed_in(&town, &identity).await
                } else {
                    ana.caller.clone()
                };
                let (accounts, owner) = (town.accounts(), ana.caller.clone());
                let state = Arc::<Mutex<Option<GuardedState>>>::default();
                let (own, seen) = (town.context().clone(), Arc::clone(&state));
                let (context, meanwhile) = town.interleave(gap, async move || {
                    if is_suspended {
                        // An account that is deleted by then cannot be suspended any more.
                        let _ = accounts.suspend(&mo, &owner.user_id, "stolen", None).await;
                    } else {
                        accounts.logout_everywhere(&owner, KeysOnSignOut::Revoke).await.unwrap();
                    }
                    let state = guarded_state(&own, &owner.user_id).await;
                    *seen.lock().unwrap() = Some(state);
                });
                let result = operation.run(&town, &Accounts::new(context), &thief).await;
                if !meanwhile.happened() {
                    result.unwrap();
                    break;
                }
                let after = guarded_state(town.context(), &ana.user.id).await;
                assert_eq!(state.lock().unwrap().take(), Some(after), "{what}, {gap}");
                match result {
                    Ok(())
                    | Err(
                        AccountError::Failed(ServiceError::Suspended)
                        | AccountError::SessionEnded
                        | AccountError::IdentityUnlinked,
                    ) => {}
                    Err(other) => panic!("{what}, {gap}: {other:?}"),
                }
            }
        }
    }
}
