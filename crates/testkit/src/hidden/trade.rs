//! Secrets in calls for help, companies and offers.

use roundtable_model::entities::AssistMsg;
use roundtable_model::{CompanyId, OfferId, ThreadId};

use super::{Hidden, all_but};

/// What there is.
#[derive(Debug, Default)]
pub struct Wares {
    /// Calls for help.
    pub threads: Vec<ThreadId>,
    /// What was said there.
    pub said: Vec<AssistMsg>,
    /// Companies.
    pub companies: Vec<CompanyId>,
    /// Offers, open and closed.
    pub offers: Vec<OfferId>,
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
