//! Help threads, companies, offers and tags of a town.

use roundtable_domain::{Assistance, Companies, NewOffer, Offers, Tags};
use roundtable_model::entities::{AssistMsg, AssistThread, Offer};
use roundtable_model::{CompanyId, ThreadId, UserId};

use crate::Town;

impl Town {
    pub fn assistance(&self) -> Assistance {
        Assistance::new(self.context().clone())
    }

    pub fn companies(&self) -> Companies {
        Companies::new(self.context().clone())
    }

    pub fn offers(&self) -> Offers {
        Offers::new(self.context().clone())
    }

    pub fn tags(&self) -> Tags {
        Tags::new(self.context().clone())
    }

    /// Opens a help thread and advances the clock by a second.
    pub async fn ask_for_help(&self, name: &str, helpers: &[&str]) -> AssistThread {
        let helpers: Vec<UserId> = helpers.iter().map(|helper| self.id(helper)).collect();
        let thread = self.assistance().ask(&self.caller(name), &helpers, None).await.unwrap();
        self.advance_ms(1_000);
        thread
    }

    /// Sends a message to a help thread and advances the clock by a second.
    pub async fn help(&self, name: &str, thread: &ThreadId, text: &str) -> AssistMsg {
        let said = self.assistance().send(&self.caller(name), thread, text, None).await.unwrap();
        self.advance_ms(1_000);
        said
    }

    pub async fn company(&self, owner: &str, name: &str) -> CompanyId {
        self.companies().create(&self.caller(owner), name, None).await.unwrap().id
    }

    /// Creates an offer and advances the clock by a second.
    pub async fn offer(
        &self,
        owner: &str,
        company: &CompanyId,
        title: &str,
        tags: &[&str],
    ) -> Offer {
        let tags = tags.iter().map(|tag| tag.parse().unwrap()).collect();
        let input = NewOffer { company_id: company.clone(), title: title.to_owned(), tags };
        let offer = self.offers().create(&self.caller(owner), input, None).await.unwrap();
        self.advance_ms(1_000);
        offer
    }
}
