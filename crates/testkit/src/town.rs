//! A store with users in it, and the services on top.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{
    Caller, Context, ContextParts, Entropy, Follows, LiveBus, Search, Settings,
};
use roundtable_model::entities::{Follow, User};
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{Entity, IdGenerator, Role, Time, UserId, UserStatus, samples};

use crate::{CurrentSearchIndex, MemoryMediaStore, rows};

/// The initial time of every town: a Monday in January 2025.
const BEGIN_MS: u64 = 1_737_991_800_000;

/// Users, and the context of their services.
#[derive(Debug)]
pub struct Town {
    clock: Arc<ManualClock>,
    context: Context,
    media_store: Arc<MemoryMediaStore>,
    search_index: Arc<CurrentSearchIndex>,
}

impl Town {
    /// Creates a town with these users, in memory.
    pub async fn of<const N: usize>(names: [&str; N]) -> Self {
        Self::with(Self::settings(), names).await
    }

    pub async fn with<const N: usize>(settings: Settings, names: [&str; N]) -> Self {
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let store = Store::new(Reference::new(clock.clone()));
        let town = Self::on(store, clock, settings, 0).await;
        for name in names {
            town.add_user(name, |_| {}).await;
        }
        town
    }

    /// Opens a town on a store; `process` distinguishes processes that use the store at the same
    /// time or one after the other.
    pub async fn on(
        store: Store,
        clock: Arc<ManualClock>,
        settings: Settings,
        process: u8,
    ) -> Self {
        let parts = ContextParts {
            store,
            clock: clock.clone(),
            ids: IdGenerator::new(clock.clone(), [7 + process; 32]),
            entropy: Entropy::seeded([8 + process; 32]),
            settings,
            fingerprint_key: [9; 32],
        };
        let context = Context::open(parts).await.unwrap();
        let search_index = Arc::new(CurrentSearchIndex::of(context.clone()));
        Self { context, clock, media_store: Arc::default(), search_index }
    }

    /// Adds a user with a default profile, changed by `change`. Mo and mia are moderators, ada is an
    /// admin; they act as such with [`Town::staff`].
    pub async fn add_user(&self, name: &str, change: impl FnOnce(&mut User)) {
        let mut user = User {
            id: name.parse().unwrap(),
            nickname: name.parse().unwrap(),
            email: Some(format!("{name}@example.com").parse().unwrap()),
            handle: None,
            roles: usual_roles(name),
            status: UserStatus::Active,
            is_private: false,
            profile_image: None,
            version: 1,
            created_at: self.context.now(),
            updated_at: self.context.now(),
            ..samples::user()
        };
        change(&mut user);
        self.context.core().table().put(user.create()).await.unwrap();
        self.lock_names(&user).await;
    }

    pub const fn context(&self) -> &Context {
        &self.context
    }

    pub const fn clock(&self) -> &Arc<ManualClock> {
        &self.clock
    }

    pub const fn media_store(&self) -> &Arc<MemoryMediaStore> {
        &self.media_store
    }

    /// Shares a media store with another town.
    #[must_use]
    pub fn with_media_store(self, media_store: Arc<MemoryMediaStore>) -> Self {
        Self { media_store, ..self }
    }

    pub fn advance_ms(&self, ms: u64) {
        self.clock.advance_ms(ms);
    }

    pub fn now(&self) -> Time {
        self.context.now()
    }

    pub fn id(&self, name: &str) -> UserId {
        name.parse().unwrap()
    }

    /// A user who has just signed in.
    pub fn caller(&self, name: &str) -> Caller {
        Caller::user(self.id(name)).with_password_at(self.now())
    }

    /// A user with a role who has just signed in.
    pub fn staff(&self, name: &str, role: Role) -> Caller {
        Caller::with_roles(self.id(name), &[role]).with_password_at(self.now())
    }

    /// Returns the live bus of a new process.
    pub fn new_bus(&self) -> LiveBus {
        LiveBus::new(self.context.clone())
    }

    pub fn search(&self) -> Search {
        Search::new(self.context.clone(), self.search_index.clone())
    }

    pub fn follows(&self) -> Follows {
        Follows::new(self.context.clone())
    }

    pub async fn follow(&self, follower: &str, followee: &str) -> Follow {
        let (follower, followee) = (self.caller(follower), self.id(followee));
        self.follows().follow(&follower, &followee, None).await.unwrap()
    }

    /// Returns the items of a partition with this sort key prefix, each as one line: the sort key,
    /// then the other fields without times and versions.
    pub async fn rows(&self, partition: &str, prefix: &str) -> Vec<String> {
        rows::of(self.context.core().table(), partition, prefix).await
    }
}

/// The roles that the profile of a user of the cast has.
fn usual_roles(name: &str) -> Vec<Role> {
    match name {
        "mo" | "mia" => vec![Role::User, Role::Moderator],
        "ada" => vec![Role::User, Role::Admin],
        _ => vec![Role::User],
    }
}
