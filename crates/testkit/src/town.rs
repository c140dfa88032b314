//! A town with people in it.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{Caller, Chance, Follows, Ground, Parts, Settings};
use roundtable_model::entities::{Follow, User};
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{Entity, Ids, Role, Time, UserId, UserStatus, samples};

use crate::{Shelf, rows};

/// When every town begins: a Monday in January 2025.
const BEGIN_MS: u64 = 1_737_991_800_000;

/// People, and everything they stand on.
#[derive(Debug)]
pub struct Town {
    clock: Arc<ManualClock>,
    ground: Ground,
    shelf: Arc<Shelf>,
}

impl Town {
    /// A town of these people, in memory.
    pub async fn of<const N: usize>(names: [&str; N]) -> Self {
        Self::with(Self::settings(), names).await
    }

    /// A town with other settings.
    pub async fn with<const N: usize>(settings: Settings, names: [&str; N]) -> Self {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let store = Store::new(Reference::new(clock.clone()));
        let town = Self::on(store, clock, settings, 0).await;
        for name in names {
            town.move_in(name, |_| {}).await;
        }
        town
    }

    /// The town that a store holds, or will: `process` tells apart those who stand on it at the same
    /// time, or one after the other.
    pub async fn on(
        store: Store,
        clock: Arc<ManualClock>,
        settings: Settings,
        process: u8,
    ) -> Self {
        let parts = Parts {
            store,
            clock: clock.clone(),
            ids: Ids::new(clock.clone(), [7 + process; 32]),
            chance: Chance::seeded([8 + process; 32]),
            settings,
            fingerprint_key: [9; 32],
        };
        Self { ground: Ground::open(parts).await.unwrap(), clock, shelf: Arc::default() }
    }

    /// One more person, with a profile that differs from most in what `change` does to it.
    pub async fn move_in(&self, name: &str, change: impl FnOnce(&mut User)) {
        let mut user = User {
            id: name.parse().unwrap(),
            nickname: name.parse().unwrap(),
            email: Some(format!("{name}@example.com").parse().unwrap()),
            handle: None,
            roles: vec![Role::User],
            status: UserStatus::Active,
            is_private: false,
            profile_image: None,
            version: 1,
            created_at: self.ground.now(),
            updated_at: self.ground.now(),
            ..samples::user()
        };
        change(&mut user);
        self.ground.core().table().put(user.create()).await.unwrap();
        self.lock_names(&user).await;
    }

    /// What the services stand on.
    pub const fn ground(&self) -> &Ground {
        &self.ground
    }

    /// The clock, which moves only when told to.
    pub const fn clock(&self) -> &Arc<ManualClock> {
        &self.clock
    }

    /// Where its files are.
    pub const fn shelf(&self) -> &Arc<Shelf> {
        &self.shelf
    }

    /// The same, with its files on a shelf that others know, too.
    #[must_use]
    pub fn sharing(self, shelf: Arc<Shelf>) -> Self {
        Self { shelf, ..self }
    }

    /// Lets time pass.
    pub fn pass_ms(&self, ms: u64) {
        self.clock.advance_ms(ms);
    }

    /// Now.
    pub fn now(&self) -> Time {
        self.ground.now()
    }

    /// Somebody's id.
    pub fn id(&self, name: &str) -> UserId {
        name.parse().unwrap()
    }

    /// Somebody, signed in.
    pub fn caller(&self, name: &str) -> Caller {
        Caller::user(self.id(name))
    }

    /// Somebody with a role, signed in.
    pub fn staff(&self, name: &str, role: Role) -> Caller {
        Caller::with_roles(self.id(name), &[role])
    }

    /// The follows of this town.
    pub fn follows(&self) -> Follows {
        Follows::new(self.ground.clone())
    }

    /// One follows the other.
    pub async fn follow(&self, follower: &str, followee: &str) -> Follow {
        let (follower, followee) = (self.caller(follower), self.id(followee));
        self.follows().follow(&follower, &followee, None).await.unwrap()
    }

    /// The items of a partition whose sort keys begin so, each as one line: the sort key, then what it
    /// says beyond its key, without times and versions.
    pub async fn rows(&self, partition: &str, prefix: &str) -> Vec<String> {
        rows::of(self.ground.core().table(), partition, prefix).await
    }
}
