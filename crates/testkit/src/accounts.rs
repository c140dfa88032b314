//! Sign-ups, settings and roles of a town.

use std::net::IpAddr;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{
    Accounts, Caller, LoginSettings, RateSettings, Settings, SignUp, SignedInUser,
};
use roundtable_model::entities::{EmailLock, HandleLock, NickLock, User};
use roundtable_model::table::{ManualClock, SharedBackend, Store};
use roundtable_model::{Email, Entity, Role, Secret, rekey};

use crate::{Town, YieldingBackend, rows};

impl Town {
    /// Settings for tests: fast password hashing, and no rate limits.
    pub fn settings() -> Settings {
        let login =
            LoginSettings { hash_memory_kib: 8, hash_passes: 1, ..LoginSettings::default() };
        let many = 1_000_000;
        let rates = RateSettings {
            writes_burst: many,
            writes_per_minute: many,
            sign_ups_burst: many,
            sign_ups_per_hour: many,
            top_feeds_burst: many,
            top_feeds_per_hour: many,
        };
        Settings { login, rates, ..Settings::default() }
    }

    /// A town, and the same town over a backend that [yields](crate::YieldingBackend) at every
    /// operation.
    pub async fn with_slow_copy() -> (Self, Self) {
        // The start of an hour, so that quarters of an hour begin with it.
        let clock = Arc::new(ManualClock::at_ms(1_738_000_800_000));
        let backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let (quick, slow) =
            (Store::shared(backend.clone()), Store::new(YieldingBackend::shared(backend)));
        let town = Self::on(quick, clock.clone(), Self::settings(), 0).await;
        (town, Self::on(slow, clock, Self::settings(), 1).await)
    }

    pub fn accounts(&self) -> Accounts {
        Accounts::new(self.context().clone())
    }

    pub fn sign_up_form(&self, name: &str) -> SignUp {
        SignUp {
            email: self.email(name),
            password: self.password(name),
            nickname: name.parse().unwrap(),
            handle: None,
            invitation: None,
            full_name: None,
            language: None,
            identity: None,
        }
    }

    /// Signs a user up; unlike users added by [`Town::add_user`], this one gets a generated id.
    pub async fn sign_up(&self, name: &str) -> SignedInUser {
        self.accounts()
            .register(&self.sign_up_form(name), Some(self.address()), None)
            .await
            .unwrap()
    }

    pub fn email(&self, name: &str) -> Email {
        format!("{name}@example.com").parse().unwrap()
    }

    pub fn password(&self, name: &str) -> Secret {
        Secret::new(format!("{name} has a secret"))
    }

    /// The address that users sign up from.
    pub fn address(&self) -> IpAddr {
        IpAddr::from([192, 0, 2, 1])
    }

    /// Adds a role to a profile and returns a caller with it.
    pub async fn grant_role(&self, name: &str, role: Role) -> Caller {
        let core = self.context().core();
        let before = core.profile(&self.id(name)).strong().get().await.unwrap().unwrap();
        let after = User { roles: vec![Role::User, role], ..before.clone() };
        core.table().update(rekey(&before, &after).unwrap()).await.unwrap();
        self.staff(name, role)
    }

    /// Returns the rows of failed sign-ins, as [`Town::rows`] does.
    pub async fn login_rows(&self, partition: &str) -> Vec<String> {
        rows::of(self.context().logins().table(), partition, "").await
    }

    pub(crate) async fn lock_names(&self, user: &User) {
        if !User::holds_names(&user.status) {
            return;
        }
        let table = self.context().core().table();
        let (user_id, created_at) = (user.id.clone(), user.created_at);
        if let Some(email) = user.email.clone() {
            let lock = EmailLock { email, user_id: user_id.clone(), created_at, proved_at: None };
            table.put(lock.put()).await.unwrap();
        }
        if let Some(handle) = user.handle.clone() {
            let lock = HandleLock { handle, user_id: user_id.clone(), created_at };
            table.put(lock.put()).await.unwrap();
        }
        let lock = NickLock { nickname: user.nickname.clone(), user_id, created_at };
        table.put(lock.put()).await.unwrap();
    }
}
