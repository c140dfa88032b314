//! All reads that show messages.

use futures::FutureExt;
use roundtable_domain::{Caller, LiveSource as _};
use roundtable_model::RoomId;
use roundtable_model::table::Order;
use roundtable_testkit::SecretTown;
use tokio::task::unconstrained;

use super::reads::Reader;

impl Reader<'_> {
    pub(crate) async fn rooms(&mut self, caller: &Caller) {
        let Reader { secrets: SecretTown { town, rooms: ids, .. }, .. } = *self;
        let (rooms, messages) = (town.rooms(), town.messages());
        self.list("my rooms", async |page| rooms.mine(caller, &page).await).await;
        self.note("rooms", rooms.rooms(caller, ids).await);
        for id in ids {
            self.note(format!("room {id}"), rooms.room(caller, id).await);
            self.list(format!("in {id}"), async |page| rooms.members(caller, id, &page).await)
                .await;
            for order in [Order::Ascending, Order::Descending] {
                self.list(format!("said in {id}"), async |page| {
                    messages.list(caller, id, order, &page).await
                })
                .await;
            }
            for message in self.secrets.message_ids(id).await {
                let said = messages.messages(caller, &[(id.clone(), message)]).await;
                self.note(format!("one in {id}"), said);
            }
            self.read_live(caller, id).await;
        }
    }

    /// Reads the live messages from the beginning to the end.
    async fn read_live(&mut self, caller: &Caller, id: &RoomId) {
        let town = &self.secrets.town;
        let (messages, bus) = (town.messages(), town.new_bus());
        let beginning = "00000000000000000000000000".parse().unwrap();
        let mut live = match messages.live(&bus, caller, id, Some(&beginning)).await {
            Ok(live) => live,
            refused => return self.note(format!("live {id}"), refused),
        };
        while let Some(heard) = unconstrained(live.next()).now_or_never() {
            let is_end = heard.is_err();
            self.note(format!("heard in {id}"), heard);
            if is_end {
                return;
            }
        }
    }
}
