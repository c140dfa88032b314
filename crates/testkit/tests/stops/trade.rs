//! Calls for help, companies and offers: what people do with them.

use roundtable_domain::{Caller, Code, NewOffer};
use roundtable_model::{CompanyId, OfferId, RequestId, ThreadId, UserId};
use roundtable_testkit::{Done, Town};

use crate::deeds::{Deed, told};
use crate::stage::Stage;

/// What there is: all of it is ana's.
#[derive(Clone)]
pub(crate) struct Wares {
    thread: ThreadId,
    company: CompanyId,
    offer: OfferId,
}

impl Wares {
    pub(crate) async fn set(town: &Town) -> Self {
        let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
        town.help("bo", &thread, "what is it?").await;
        let company = town.company("ana", "tours").await;
        let offer = town.offer("ana", &company, "a tour", &["town", "walk"]).await.id;
        Self { thread, company, offer }
    }
}

/// One of these deeds.
#[derive(Clone, Debug)]
pub(crate) enum Trade {
    Ask(Vec<UserId>),
    Send(ThreadId),
    Found,
    Offer(CompanyId),
    Close(OfferId),
}

impl Trade {
    /// The service and the method that does it.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Ask(_) => "assistance.ask",
            Self::Send(_) => "assistance.send",
            Self::Found => "companies.create",
            Self::Offer(_) => "offers.create",
            Self::Close(_) => "offers.close",
        }
    }

    pub(crate) async fn be_done(
        &self,
        town: &Town,
        caller: &Caller,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        match self {
            Self::Ask(helpers) => told(town.assistance().ask(caller, helpers, request).await),
            Self::Send(thread) => {
                told(town.assistance().send(caller, thread, "my knee", request).await)
            }
            Self::Found => told(town.companies().create(caller, "shoes", request).await),
            Self::Offer(company) => {
                let tags = ["town", "night"].map(|tag| tag.parse().unwrap()).to_vec();
                let title = String::from("a tour at night");
                let new = NewOffer { company_id: company.clone(), title, tags };
                told(town.offers().create(caller, new, request).await)
            }
            Self::Close(offer) => told(town.offers().close(caller, offer, request).await),
        }
    }

    /// What was stopped and done again is there once.
    pub(crate) async fn happened_once(&self, town: &Town, what: &str) {
        let core = town.ground().core();
        let ana = town.id("ana");
        let (there, expected) = match self {
            Self::Ask(helpers) => {
                for helper in helpers {
                    let edges = core.helping(helper).all().await.unwrap();
                    assert_eq!(edges.len(), 2, "{what}: threads that {helper} is led to");
                }
                (core.assists_of(&ana).all().await.unwrap().len(), 2)
            }
            Self::Send(thread) => (core.assist_messages(thread).all().await.unwrap().len(), 2),
            Self::Found => (core.companies_of(&ana).all().await.unwrap().len(), 2),
            Self::Offer(company) => (core.offers_of(company).all().await.unwrap().len(), 2),
            Self::Close(offer) => {
                let tours = town.rows("TAG#walk", "Offer#").await;
                assert!(tours.is_empty(), "{what}: {offer} is still found: {tours:?}");
                return;
            }
        };
        assert_eq!(there, expected, "{what}");
    }
}

/// What people do to help each other, and what they offer.
pub(crate) fn with_trade(stage: &Stage, town: &Town) -> Vec<Deed> {
    let Wares { thread, company, offer } = stage.wares.clone();
    let ana = town.caller("ana");
    let deeds = [
        Trade::Ask(vec![town.id("bo"), town.id("cleo")]),
        Trade::Send(thread),
        Trade::Found,
        Trade::Offer(company),
        Trade::Close(offer),
    ];
    deeds.into_iter().map(|deed| Deed::Trade(ana.clone(), deed)).collect()
}
