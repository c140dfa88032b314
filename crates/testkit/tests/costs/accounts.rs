//! Signing up, in and out; profile, API keys and invitations; deletion of the account.

use roundtable_domain::{
    DeviceInput, Edit, ExternalIdentity, KeysOnSignOut, ProfileChange, SignUp, SignedInUser,
};
use roundtable_model::Secret;

use crate::book::CostBook;
use crate::expression::{at_least_one, number, share};
use crate::scene::{ANA, Scene};

const NAME: &str = "sue_swims";

pub(crate) async fn record(book: &mut CostBook) {
    record_sign_in(book).await;
    record_identities(book).await;
    record_profile(book).await;
    book.mutation_once(
        "deleteAccount",
        &[
            number("posts", 45.0),
            number("followers", 150.0),
            number("following", 200.0),
            number("likes", 300.0),
            number("groups", 3.0),
            at_least_one("sessions", 2.0),
        ],
        delete_account,
    )
    .await;
    book.mutation_once("createApiKey", &[], async |scene| {
        let (accounts, me) = (scene.town.accounts(), scene.ana());
        let scopes = [String::from("read")];
        scene.record(accounts.create_key(&me, "a clock", &scopes, None)).await;
    })
    .await;
    book.mutation("revokeApiKey", &[], async |scene| {
        let (accounts, me) = (scene.town.accounts(), scene.ana());
        let key = accounts.create_key(&me, "a clock", &[String::from("read")], None).await.unwrap();
        let request = scene.request();
        scene.record(accounts.revoke_key(&me, &key.key.id, request.as_ref())).await;
    })
    .await;
    book.mutation_once("createInvitation", &[], async |scene| {
        let (accounts, me) = (scene.town.accounts(), scene.ana());
        scene.record(accounts.invite(&me, None, None)).await;
    })
    .await;
}

async fn record_sign_in(book: &mut CostBook) {
    book.mutation("register", &[share("invitations", 0.0)], async |scene| {
        let (accounts, inviter) = (scene.town.accounts(), scene.ana());
        let invitation = accounts.invite(&inviter, None, None).await.unwrap().code;
        let invitation = scene.has("invitations").then_some(invitation);
        let form = SignUp { invitation, ..scene.town.sign_up_form(NAME) };
        let (address, request) = (Some(scene.town.address()), scene.request());
        scene.record(accounts.register(&form, address, request.as_ref())).await;
    })
    .await;
    book.mutation_once("login", &[share("nicknames", 0.5)], async |scene| {
        signed_up(scene).await;
        let (accounts, email) = (scene.town.accounts(), scene.town.email(NAME));
        let by_nickname = scene.has("nicknames");
        let name = if by_nickname { NAME.parse().unwrap() } else { email.into() };
        let (password, address) = (scene.town.password(NAME), Some(scene.town.address()));
        let device = DeviceInput::default();
        scene.record(accounts.login_on(&name, &password, address, &device)).await;
    })
    .await;
    book.mutation_once("loginFailed", &[], async |scene| {
        signed_up(scene).await;
        let (accounts, email) = (scene.town.accounts(), scene.town.email(NAME));
        let (wrong, address) = (Secret::new("not the password"), Some(scene.town.address()));
        scene.record(async { accounts.login(&email, &wrong, address).await.err().ok_or(()) }).await;
    })
    .await;
    book.mutation_once("refreshToken", &[], async |scene| {
        let signed_in = signed_up(scene).await;
        let accounts = scene.town.accounts();
        scene.record(accounts.refresh(&signed_in.refresh_token)).await;
    })
    .await;
    book.mutation_once("logout", &[], async |scene| {
        let signed_in = signed_up(scene).await;
        let accounts = scene.town.accounts();
        scene.record(accounts.logout(&signed_in.refresh_token)).await;
    })
    .await;
    book.mutation_once("logoutEverywhere", &[at_least_one("sessions", 2.0)], async |scene| {
        let signed_in = with_sessions(scene).await;
        let accounts = scene.town.accounts();
        let keys = KeysOnSignOut::Revoke;
        scene.record(accounts.logout_everywhere(&signed_in.caller, keys)).await;
    })
    .await;
    book.mutation_once("changePassword", &[at_least_one("sessions", 2.0)], async |scene| {
        let signed_in = with_sessions(scene).await;
        let (accounts, keys) = (scene.town.accounts(), KeysOnSignOut::Revoke);
        let (current, next) = (scene.town.password(NAME), Secret::new("quite another secret"));
        scene.record(accounts.change_password(&signed_in.caller, &current, &next, keys)).await;
    })
    .await;
    book.mutation_once("changeEmail", &[], async |scene| {
        let signed_in = signed_up(scene).await;
        let (accounts, password) = (scene.town.accounts(), scene.town.password(NAME));
        let email = scene.town.email("sue_dives");
        scene.record(accounts.change_email(&signed_in.caller, &password, &email)).await;
    })
    .await;
}

async fn record_identities(book: &mut CostBook) {
    book.mutation_once("linkIdentity", &[], async |scene| {
        signed_up(scene).await;
        let (accounts, address) = (scene.town.accounts(), Some(scene.town.address()));
        let identity = ExternalIdentity {
            issuer: "https://login.example.org".parse().unwrap(),
            subject: "8b1f0c52-6c3e-4f0e-9d57-2f1c0a7be4d3".parse().unwrap(),
            email: Some(scene.town.email(NAME)),
        };
        let password = scene.town.password(NAME);
        scene.record(accounts.link_identity(&identity, &password, address)).await;
    })
    .await;
}

async fn signed_up(scene: &Scene) -> SignedInUser {
    scene.town.sign_up(NAME).await
}

/// Signs a user up, and in until there are as many sessions as the count says.
async fn with_sessions(scene: &Scene) -> SignedInUser {
    let signed_in = signed_up(scene).await;
    for _ in 1..scene.count("sessions") {
        let (email, password) = (scene.town.email(NAME), scene.town.password(NAME));
        scene.town.accounts().login(&email, &password, None).await.unwrap();
    }
    signed_in
}

async fn record_profile(book: &mut CostBook) {
    book.mutation("updateProfile", &[], async |scene| {
        let bio = Edit::Set(String::from("Runs before sunrise, bakes after it. Coffee helps."));
        update_profile(scene, ProfileChange { bio, ..ProfileChange::default() }).await;
    })
    .await;
    book.mutation("updateProfileRenamed", &[], async |scene| {
        let nickname = Some("ana_walks".parse().unwrap());
        update_profile(scene, ProfileChange { nickname, ..ProfileChange::default() }).await;
    })
    .await;
    book.mutation("updateProfilePrivate", &[number("posts", 45.0)], async |scene| {
        for _ in 0..scene.count("posts") {
            scene.post(ANA).await;
        }
        let is_private = Some(true);
        update_profile(scene, ProfileChange { is_private, ..ProfileChange::default() }).await;
    })
    .await;
}

async fn update_profile(scene: &Scene, change: ProfileChange) {
    let (accounts, me, request) = (scene.town.accounts(), scene.ana(), scene.request());
    scene.record(accounts.update_profile(&me, &change, request.as_ref())).await;
}

/// Deletes the account of a user who signed up, because only these have sessions.
async fn delete_account(scene: &Scene) {
    let (town, me) = (&scene.town, with_sessions(scene).await.caller);
    let id = me.user_id.to_string();
    for _ in 0..scene.count("posts") {
        scene.post(&id).await;
    }
    for follower in scene.others("followers") {
        town.follow(follower, &id).await;
    }
    for followee in scene.others("following") {
        town.follow(&id, followee).await;
    }
    for author in scene.others("likes") {
        let post = scene.post(author).await;
        town.like(&id, &post.id).await;
    }
    for owner in scene.others("groups") {
        let group = town.create_group(owner, "runners").await;
        town.join(&id, &group).await;
    }
    let accounts = town.accounts();
    scene.record(accounts.delete_account(&me, &NAME.parse().unwrap())).await;
}
