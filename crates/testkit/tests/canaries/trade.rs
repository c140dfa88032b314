//! Secrets in calls for help, companies and offers, and everything that shows them.

use roundtable_model::entities::AssistMsg;
use roundtable_model::table::Order;
use roundtable_model::{CompanyId, EntityKind, OfferId, ThreadId};

use super::reads::Reader;
use super::secrets::{Hidden, all_but};

/// What there is.
#[derive(Default)]
pub(crate) struct Wares {
    threads: Vec<ThreadId>,
    said: Vec<AssistMsg>,
    companies: Vec<CompanyId>,
    offers: Vec<OfferId>,
}

impl Hidden {
    /// Calls for help, before some of those who have a part in them block each other or go.
    pub(crate) async fn help(&mut self) {
        let anas = self.town.ask_for_help("ana", &["fay", "gus", "bex", "bob", "sue", "dan"]).await;
        let there = ["ana", "fay", "gus"];
        // Bex is blocked by ana, and bob has blocked her: neither sees her thread any more.
        let said: [(&str, &'static str, &[&'static str]); 6] = [
            ("ana", "help-of-ana", &there),
            ("fay", "help-of-fay", &there),
            ("bex", "help-of-bex", &["fay", "gus"]),
            ("bob", "help-of-bob", &["fay", "gus"]),
            ("sue", "help-of-sue", &[]),
            ("dan", "help-of-dan", &[]),
        ];
        for (name, word, seen_by) in said {
            let secret = self.secret(word, seen_by);
            let said = self.town.help(name, &anas.thread_id, &secret).await;
            self.wares.said.push(said);
        }
        self.wares.threads.push(anas.thread_id);
        for (name, word) in [("sid", "help-of-suspended"), ("dan", "help-of-deleted")] {
            let thread = self.town.ask_for_help(name, &["fay", "mo"]).await.thread_id;
            let secret = self.secret(word, &[]);
            let said = self.town.help(name, &thread, &secret).await;
            self.wares.said.push(said);
            self.wares.threads.push(thread);
        }
    }

    /// Companies with an offer that is open and one that is not.
    pub(crate) async fn trade(&mut self) {
        let anas = all_but(&["bex", "bob"]);
        let owners: [(&str, [&'static str; 3], &[&'static str]); 3] = [
            ("ana", ["company", "open-offer", "closed-offer"], &anas),
            ("sid", ["sids-company", "sids-offer", "sids-closed"], &["sid", "mo", "ada"]),
            ("dan", ["dans-company", "dans-offer", "dans-closed"], &[]),
        ];
        for (name, [company, open, closed], seen_by) in owners {
            let secret = self.secret(company, seen_by);
            let company = self.town.company(name, &secret).await;
            for (word, is_open) in [(open, true), (closed, false)] {
                let secret = self.secret(word, seen_by);
                let offer = self.town.offer(name, &company, &secret, &["town"]).await.id;
                if !is_open {
                    let caller = self.town.caller(name);
                    self.town.offers().close(&caller, &offer, None).await.unwrap();
                }
                self.wares.offers.push(offer);
            }
            self.wares.companies.push(company);
        }
    }
}

impl Reader<'_> {
    /// Everything about them that somebody can read.
    pub(crate) async fn trade(&mut self) {
        let Reader { hidden: Hidden { town, wares, .. }, viewer, .. } = *self;
        let Wares { threads, said, companies, offers } = wares;
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
            self.list(format!("search {kind:?}"), async |page| {
                town.tags().search(viewer, &tag, kind, &page).await
            })
            .await;
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
        for AssistMsg { thread_id, id, .. } in said {
            self.note(format!("message {id}"), assistance.message(caller, thread_id, id).await);
        }
        self.list("threads", async |page| assistance.mine(caller, &page).await).await;
    }
}
