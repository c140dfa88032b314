//! All reads that show help threads, companies and offers.

use roundtable_model::EntityKind;
use roundtable_model::table::Order;
use roundtable_testkit::{SecretTown, SecretTrade};

use super::reads::Reader;

impl Reader<'_> {
    pub(crate) async fn trade(&mut self) {
        let Reader { secrets: SecretTown { town, trade, .. }, viewer, .. } = *self;
        let SecretTrade { threads, said, companies, offers } = trade;
        let tag = "town".parse().unwrap();
        for id in companies {
            self.note(format!("company {id}"), town.companies().company(viewer, id).await);
            self.list(format!("offers of {id}"), async |page| {
                town.offers().of(viewer, id, &page).await
            })
            .await;
        }
        self.note("companies", town.companies().companies(viewer, companies).await);
        for id in offers {
            self.note(format!("offer {id}"), town.offers().offer(viewer, id).await);
        }
        self.note("offers", town.offers().offers(viewer, offers).await);
        self.list("offers by tag", async |page| town.offers().tagged(viewer, &tag, &page).await)
            .await;
        for kind in EntityKind::ALL.iter().copied().map(Some).chain([None]) {
            for order in [Order::Ascending, Order::Descending] {
                self.list(format!("search {kind:?}"), async |page| {
                    town.tags().search(viewer, &tag, kind, order, &page).await
                })
                .await;
            }
        }
        let Some(caller) = viewer else { return };
        let assistance = town.assistance();
        for id in threads {
            self.note(format!("thread {id}"), assistance.thread(caller, id).await);
            for order in [Order::Ascending, Order::Descending] {
                self.list(format!("messages of {id}"), async |page| {
                    assistance.messages(caller, id, order, &page).await
                })
                .await;
            }
        }
        self.note("threads by their ids", assistance.threads(caller, threads).await);
        let places: Vec<_> = said.iter().map(|it| (it.thread_id.clone(), it.id.clone())).collect();
        self.note("what was said", assistance.messages_by_id(caller, &places).await);
        self.list("threads", async |page| assistance.mine(caller, &page).await).await;
    }
}
