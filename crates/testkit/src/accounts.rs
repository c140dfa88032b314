//! Accounts of a town: people who sign up as they would anywhere, and those who run the place.

use std::net::IpAddr;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{
    Accounts, Caller, LoginSettings, RateSettings, Settings, SignUp, SignedIn,
};
use roundtable_model::entities::{EmailLock, HandleLock, NickLock, User};
use roundtable_model::table::{ManualClock, SharedBackend, Store};
use roundtable_model::{Email, Entity, Role, Secret, rekey};

use crate::{Town, Yielding, rows};

impl Town {
    /// Settings for tests: passwords are hashed in no time, and nobody is too quick.
    pub fn settings() -> Settings {
        let login =
            LoginSettings { hash_memory_kib: 8, hash_passes: 1, ..LoginSettings::default() };
        let many = 1_000_000;
        let rates = RateSettings {
            writes_burst: many,
            writes_per_minute: many,
            sign_ups_burst: many,
            sign_ups_per_hour: many,
        };
        Settings { login, rates, ..Settings::default() }
    }

    /// A town, and the same town over a store that [keeps its callers waiting](Yielding).
    pub async fn and_slow() -> (Self, Self) {
        // The beginning of an hour, so that everything counted by the quarter begins with it.
        let clock = Arc::new(ManualClock::at_ms(1_738_000_800_000));
        let backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let (quick, slow) = (Store::shared(backend.clone()), Store::new(Yielding::shared(backend)));
        let town = Self::on(quick, clock.clone(), Self::settings(), 0).await;
        (town, Self::on(slow, clock, Self::settings(), 1).await)
    }

    /// The accounts of this town.
    pub fn accounts(&self) -> Accounts {
        Accounts::new(self.ground().clone())
    }

    /// What somebody fills in to sign up.
    pub fn form(&self, name: &str) -> SignUp {
        SignUp {
            email: self.email(name),
            password: self.password(name),
            nickname: name.parse().unwrap(),
            handle: None,
            invitation: None,
            full_name: None,
            language: None,
        }
    }

    /// Somebody signs up; unlike those who move in, they have an id that nobody chose.
    pub async fn sign_up(&self, name: &str) -> SignedIn {
        self.accounts().register(&self.form(name), Some(self.address()), None).await.unwrap()
    }

    /// Somebody's e-mail address.
    pub fn email(&self, name: &str) -> Email {
        format!("{name}@example.com").parse().unwrap()
    }

    /// The password somebody signs up with.
    pub fn password(&self, name: &str) -> Secret {
        Secret::new(format!("{name} has a secret"))
    }

    /// Where people of this town are.
    pub fn address(&self) -> IpAddr {
        IpAddr::from([192, 0, 2, 1])
    }

    /// Somebody gets a role, in their profile and as a caller.
    pub async fn employ(&self, name: &str, role: Role) -> Caller {
        let core = self.ground().core();
        let before = core.profile(&self.id(name)).strong().get().await.unwrap().unwrap();
        let after = User { roles: vec![Role::User, role], ..before.clone() };
        core.table().update(rekey(&before, &after).unwrap()).await.unwrap();
        self.staff(name, role)
    }

    /// The rows of failed sign-ins, as [`Town::rows`].
    pub async fn login_rows(&self, partition: &str) -> Vec<String> {
        rows::of(self.ground().logins().table(), partition, "").await
    }

    /// Nobody else can be called as somebody who moves in.
    pub(crate) async fn lock_names(&self, user: &User) {
        if !User::named(&user.status) {
            return;
        }
        let table = self.ground().core().table();
        let (user_id, created_at) = (user.id.clone(), user.created_at);
        if let Some(email) = user.email.clone() {
            let lock = EmailLock { email, user_id: user_id.clone(), created_at };
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
