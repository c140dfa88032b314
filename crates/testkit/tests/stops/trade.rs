//! Mutations of help threads, companies and offers.

use roundtable_domain::{Caller, Code, NewOffer, OfferChange};
use roundtable_model::{CompanyId, OfferId, RequestId, ThreadId, UserId};
use roundtable_testkit::{ActionOutcome, Town};

use crate::mutations::{Mutation, reduce};
use crate::stage::Stage;

/// Ana's thread, company and offer.
#[derive(Clone)]
pub(crate) struct TradeFixture {
    thread: ThreadId,
    company: CompanyId,
    offer: OfferId,
}

impl TradeFixture {
    pub(crate) async fn set(town: &Town) -> Self {
        let thread = town.ask_for_help("ana", &["bo", "cleo"]).await.thread_id;
        town.help("bo", &thread, "what is it?").await;
        let company = town.company("ana", "tours").await;
        let offer = town.offer("ana", &company, "a tour", &["town", "walk"]).await.id;
        Self { thread, company, offer }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum TradeMutation {
    Ask(Vec<UserId>),
    Send(ThreadId),
    Found,
    Offer(CompanyId),
    Close(OfferId),
    Rename(CompanyId),
    Change(OfferId),
}

impl TradeMutation {
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Ask(_) => "assistance.ask",
            Self::Send(_) => "assistance.send",
            Self::Found => "companies.create",
            Self::Offer(_) => "offers.create",
            Self::Close(_) => "offers.close",
            Self::Rename(_) => "companies.update",
            Self::Change(_) => "offers.update",
        }
    }

    pub(crate) async fn perform(
        &self,
        town: &Town,
        caller: &Caller,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        match self {
            Self::Ask(helpers) => reduce(town.assistance().ask(caller, helpers, request).await),
            Self::Send(thread) => {
                reduce(town.assistance().send(caller, thread, "my knee", request).await)
            }
            Self::Found => reduce(town.companies().create(caller, "shoes", request).await),
            Self::Offer(company) => {
                let tags = ["town", "night"].map(|tag| tag.parse().unwrap()).to_vec();
                let title = String::from("a tour at night");
                let new = NewOffer { company_id: company.clone(), title, tags };
                reduce(town.offers().create(caller, new, request).await)
            }
            Self::Close(offer) => reduce(town.offers().close(caller, offer, request).await),
            Self::Rename(company) => {
                reduce(town.companies().update(caller, company, "walks", request).await)
            }
            Self::Change(offer) => {
                let tags = ["town", "night"].map(|tag| tag.parse().unwrap()).to_vec();
                let title = Some(String::from("a tour at night"));
                let change = OfferChange { title, tags: Some(tags) };
                reduce(town.offers().update(caller, offer, change, request).await)
            }
        }
    }

    pub(crate) async fn assert_happened_once(&self, town: &Town, what: &str) {
        let core = town.context().core();
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
            Self::Rename(company) => {
                let found = core.company(company).get().await.unwrap().unwrap();
                assert_eq!(found.name, "walks", "{what}");
                return;
            }
            Self::Change(offer) => {
                let found = core.offer(offer).get().await.unwrap().unwrap();
                assert_eq!(found.title, "a tour at night", "{what}");
                for (tag, count) in [("walk", 0), ("night", 1), ("town", 1)] {
                    let references = town.rows(&format!("TAG#{tag}"), "Offer#").await;
                    assert_eq!(references.len(), count, "{what}: {tag}: {references:?}");
                }
                return;
            }
        };
        assert_eq!(there, expected, "{what}");
    }
}

pub(crate) fn trade_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let TradeFixture { thread, company, offer } = stage.trade.clone();
    let ana = town.caller("ana");
    let mutations = [
        TradeMutation::Ask(vec![town.id("bo"), town.id("cleo")]),
        TradeMutation::Send(thread),
        TradeMutation::Found,
        TradeMutation::Offer(company.clone()),
        TradeMutation::Close(offer.clone()),
        TradeMutation::Rename(company),
        TradeMutation::Change(offer),
    ];
    mutations.into_iter().map(|mutation| Mutation::Trade(ana.clone(), mutation)).collect()
}
