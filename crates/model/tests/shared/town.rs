//! An empty town in memory, for tests of the model alone.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{Core, Shards, UserId};

/// A Monday in January 2025, at the time of most samples.
const NOW_MS: u64 = 1_737_991_800_000;

/// The core table, empty.
pub(crate) async fn town() -> Core {
    let store = Store::new(Reference::new(Arc::new(ManualClock::at_ms(NOW_MS))));
    let definition = Core::SHAPE.definition(Core::SHAPE.name);
    Core::on(store.create_table(definition).await.unwrap())
}

pub(crate) fn user_id(id: &str) -> UserId {
    id.parse().unwrap()
}

pub(crate) fn shards(count: u16) -> Shards {
    Shards::new(count).unwrap()
}
