//! A store with the cast in it, before anything happens.

use std::sync::Arc;

use roundtable_domain::{NewMedia, Settings, TableNames};
use roundtable_model::entities::{Goal, Task};
use roundtable_model::table::{ManualClock, SharedBackend, Store};
use roundtable_model::{Entity, GoalId, GroupId, Role, Shards, TaskId, samples};
use roundtable_testkit::Town;

use crate::cast::{Club, Name};
use crate::mishaps::Mishaps;

/// When every history begins: a Monday in January 2025.
pub(crate) const BEGIN_MS: u64 = 1_737_991_800_000;

/// A store with the cast in it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) backend: SharedBackend,
    pub(crate) tables: TableNames,
    /// The true time, which the store lives by.
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) clubs: [GroupId; 2],
    pub(crate) kind: Kind,
    /// Whether everything is looked at in the end that can be.
    pub(crate) is_thorough: bool,
}

/// What is special about a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing: one process has it for its own.
    Own,
    /// Processes are told of each other's writes by the stream alone.
    Shared,
    /// It loses what is copied into feeds.
    Lossy,
}

/// The clock that a place can be made with.
pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_ms(BEGIN_MS))
}

impl Place {
    /// Everybody moves in, and the clubs are founded.
    pub(crate) async fn populated(
        backend: SharedBackend,
        tables: TableNames,
        clock: Arc<ManualClock>,
    ) -> Self {
        let settings = Settings { tables: tables.clone(), ..Town::settings() };
        let store = Store::shared(backend.clone());
        let town = Town::on(store, clock.clone(), settings, 0).await;
        for name in Name::ALL {
            town.move_in(name.as_str(), |user| {
                user.is_private = name.begins_private();
                // Somebody whose followers are spread over several partitions.
                if name == Name::Bo {
                    user.follower_shards = Shards::new(3).unwrap();
                }
            })
            .await;
            let goal = Goal { user_id: name.id(), id: goal_of(name), ..samples::goal() };
            let table = town.ground().core().table();
            table.put(goal.create()).await.unwrap();
            let (user_id, goal_id) = (goal.user_id, goal.id);
            let task = Task { user_id, goal_id, id: task_of(name), ..samples::task() };
            table.put(task.create()).await.unwrap();
            town.arrived(name.as_str(), picture_of(name)).await;
        }
        town.employ("mo", Role::Moderator).await;
        town.move_in("ada", |_| {}).await;
        town.employ("ada", Role::Admin).await;
        let runners = town.found(Club::Runners.owner().as_str(), "Runners").await;
        let bakers = town.found_private(Club::Bakers.owner().as_str(), "Bakers").await;
        Self {
            backend,
            tables,
            clock,
            clubs: [runners, bakers],
            kind: Kind::Own,
            is_thorough: false,
        }
    }

    /// The same place, as another store holds it.
    pub(crate) fn held_by(&self, backend: SharedBackend) -> Self {
        self.clock.set_ms(BEGIN_MS + 1_000);
        Self { backend, ..self.clone() }
    }

    /// The store as it is reached.
    pub(crate) fn mishaps(&self) -> Mishaps {
        let mishaps = Mishaps::on(self.backend.clone(), self.clock.clone());
        match self.kind {
            Kind::Own => mishaps,
            Kind::Shared => mishaps.shared(),
            Kind::Lossy => mishaps.lossy(),
        }
    }
}

/// A file of somebody, which can become part of one thing.
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
