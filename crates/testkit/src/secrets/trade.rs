//! Secrets in help threads, companies and offers.

use roundtable_model::entities::AssistMsg;
use roundtable_model::{CompanyId, OfferId, ThreadId};

use super::{SecretTown, viewers_except};

/// The ids of help threads, companies and offers.
#[derive(Debug, Default)]
pub struct SecretTrade {
    pub threads: Vec<ThreadId>,
    pub said: Vec<AssistMsg>,
    pub companies: Vec<CompanyId>,
    /// Open and closed ones.
    pub offers: Vec<OfferId>,
}

impl SecretTown {
    /// Opens help threads before users block each other or leave.
    pub(crate) async fn help(&mut self) {
        let anas = self.town.ask_for_help("ana", &["fay", "gus", "bex", "bob", "sue", "dan"]).await;
        let there = ["ana", "fay", "gus"];
        // Bex is blocked by ana, and bob has blocked her: neither can see her thread any more.
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
            self.trade.said.push(said);
        }
        self.trade.threads.push(anas.thread_id);
        for (name, word) in [("sid", "help-of-suspended"), ("dan", "help-of-deleted")] {
            let thread = self.town.ask_for_help(name, &["fay", "mo"]).await.thread_id;
            let secret = self.secret(word, &[]);
            let said = self.town.help(name, &thread, &secret).await;
            self.trade.said.push(said);
            self.trade.threads.push(thread);
        }
    }

    /// Creates companies with an open and a closed offer each.
    pub(crate) async fn trade(&mut self) {
        let anas = viewers_except(&["bex", "bob"]);
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
                self.trade.offers.push(offer);
            }
            self.trade.companies.push(company);
        }
    }
}
