//! A store with the cast, before a history begins.

use std::sync::Arc;

use roundtable_domain::{NewMedia, Settings, TableNames};
use roundtable_model::entities::{Goal, Task};
use roundtable_model::table::{ManualClock, SharedBackend, Store};
use roundtable_model::{Entity, GoalId, GroupId, Role, Shards, TaskId, samples};
use roundtable_testkit::Town;

use crate::cast::{Club, Name};
use crate::faulty_backend::FaultyBackend;

/// The initial time of every history: a Monday in January 2025.
pub(crate) const BEGIN_MS: u64 = 1_737_991_800_000;

#[derive(Clone, Debug)]
pub(crate) struct PopulatedStore {
    pub(crate) backend: SharedBackend,
    pub(crate) tables: TableNames,
    /// The true time, which the store uses.
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) clubs: [GroupId; 2],
    pub(crate) kind: Kind,
    /// True if everything is compared at the end.
    pub(crate) is_thorough: bool,
}

/// A variant of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A single process uses it.
    Own,
    /// Processes learn of each other's writes only by the stream.
    Shared,
    /// It loses copies.
    Lossy,
}

pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_ms(BEGIN_MS))
}

impl PopulatedStore {
    /// Adds the users and the groups.
    pub(crate) async fn populated(
        backend: SharedBackend,
        tables: TableNames,
        clock: Arc<ManualClock>,
    ) -> Self {
        let settings = Settings { tables: tables.clone(), ..Town::settings() };
        let store = Store::shared(backend.clone());
        let town = Town::on(store, clock.clone(), settings, 0).await;
        for name in Name::ALL {
            town.add_user(name.as_str(), |user| {
                user.is_private = name.begins_private();
                // A user whose followers are spread over several partitions.
                if name == Name::Bo {
                    user.follower_shards = Shards::new(3).unwrap();
                }
            })
            .await;
            let goal = Goal { user_id: name.id(), id: goal_of(name), ..samples::goal() };
            let table = town.context().core().table();
            table.put(goal.create()).await.unwrap();
            let (user_id, goal_id) = (goal.user_id, goal.id);
            let task = Task { user_id, goal_id, id: task_of(name), ..samples::task() };
            table.put(task.create()).await.unwrap();
            town.add_upload(name.as_str(), picture_of(name)).await;
        }
        town.grant_role("mo", Role::Moderator).await;
        town.add_user("ada", |_| {}).await;
        town.grant_role("ada", Role::Admin).await;
        let runners = town.create_group(Club::Runners.owner().as_str(), "Runners").await;
        let bakers = town.create_private_group(Club::Bakers.owner().as_str(), "Bakers").await;
        Self {
            backend,
            tables,
            clock,
            clubs: [runners, bakers],
            kind: Kind::Own,
            is_thorough: false,
        }
    }

    /// The same data on another backend.
    pub(crate) fn held_by(&self, backend: SharedBackend) -> Self {
        self.clock.set_ms(BEGIN_MS + 1_000);
        Self { backend, ..self.clone() }
    }

    pub(crate) fn faulty_backend(&self) -> FaultyBackend {
        let faulty_backend = FaultyBackend::on(self.backend.clone(), self.clock.clone());
        match self.kind {
            Kind::Own => faulty_backend,
            Kind::Shared => faulty_backend.shared(),
            Kind::Lossy => faulty_backend.lossy(),
        }
    }
}

/// A user's file, which can be used once.
pub(crate) fn picture_of(name: Name) -> NewMedia {
    NewMedia {
        s3_key: format!("u/{name}/hill").parse().unwrap(),
        content_type: "image/jpeg".into(),
        width: Some(640),
        height: Some(480),
    }
}

pub(crate) fn goal_of(name: Name) -> GoalId {
    format!("goal-{name}").parse().unwrap()
}

pub(crate) fn task_of(name: Name) -> TaskId {
    format!("task-{name}").parse().unwrap()
}
