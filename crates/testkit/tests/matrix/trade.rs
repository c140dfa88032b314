//! Rows about help threads, companies, offers and tags.

use std::collections::HashMap;

use roundtable_domain::{Caller, NewOffer, OfferChange, TaggedItem};
use roundtable_model::entities::{AssistMsg, Offer};
use roundtable_model::table::Order;
use roundtable_model::{CompanyId, OfferId};
use roundtable_testkit::Town;

use super::operations::{Answer, lists, page, shows};
use super::user_actions::person;

/// Like the main table. Ana has asked fay, bex and sue for help: bex is blocked now, and sue
/// suspended.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

call for help            | assistance.thread assistance.messages assistance.send                | -    ok   ok   404  404  404  404  404  404  404  403
call for help            | assistance.threads assistance.messages_by_id                         | -    ok   ok   no   no   no   no   no   no   no   403
call for help            | assistance.mine                                                      | -    ok   ok   no   no   no   no   no   no   no   403
profile                  | assistance.ask                                                       | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
private profile          | assistance.ask                                                       | -    400  ok   ok   404  ok   ok   ok   ok   ok   403
suspended profile        | assistance.ask                                                       | -    403  404  404  404  404  404  404  404  404  403
deleted profile          | assistance.ask                                                       | -    401  404  404  404  404  404  404  404  404  403

own account              | companies.create                                                     | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
offer                    | companies.company offers.of offers.offer                             | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
offer                    | companies.companies offers.offers offers.tagged tags.search          | ok   ok   ok   ok   no   ok   ok   ok   ok   ok   ok
offer                    | offers.create offers.update companies.update                         | -    ok   403  403  404  403  403  403  403  403  403
offer                    | companies.mine                                                       | -    ok   no   no   no   no   no   no   no   no   403
offer                    | offers.close                                                         | -    ok   403  403  404  403  403  403  ok   ok   403

suspended account's offer | companies.company offers.of offers.offer                            | 404  ok   404  404  404  404  404  404  ok   ok   404
suspended account's offer | companies.companies offers.offers offers.tagged tags.search         | no   ok   no   no   no   no   no   no   ok   ok   no
suspended account's offer | offers.create offers.update companies.update                        | -    403  404  404  404  404  404  404  403  403  403
suspended account's offer | offers.close                                                        | -    403  404  404  404  404  404  404  ok   ok   403

deleted account's offer  | companies.company offers.of offers.offer                             | 404  404  404  404  404  404  404  404  404  404  404
deleted account's offer  | companies.companies offers.offers offers.tagged tags.search          | no   no   no   no   no   no   no   no   no   no   no
deleted account's offer  | offers.create offers.close offers.update companies.update            | -    401  404  404  404  404  404  404  404  404  403
";

#[derive(Default)]
pub(crate) struct TradeFixture {
    said: Option<AssistMsg>,
    offers: HashMap<&'static str, (CompanyId, OfferId)>,
}

impl TradeFixture {
    pub(crate) async fn set(town: &Town) -> Self {
        let thread = town.ask_for_help("ana", &["fay", "bex", "sue"]).await.thread_id;
        let said = town.help("ana", &thread, "my knee").await;
        let mut trade = Self { said: Some(said), offers: HashMap::new() };
        let names = ["offer", "suspended account's offer", "deleted account's offer"];
        for (name, owner) in names.into_iter().zip(["ana", "sid", "dan"]) {
            let company = town.company(owner, "tours").await;
            let offer = town.offer(owner, &company, "a tour", &["town"]).await.id;
            trade.offers.insert(name, (company, offer));
        }
        trade
    }

    pub(crate) async fn answer(
        &self,
        town: &Town,
        operation: &str,
        object: &str,
        viewer: Option<&Caller>,
    ) -> Answer {
        match operation.split_once('.').unwrap().0 {
            "assistance" => self.help(town, operation, object, viewer).await,
            _ if operation == "companies.create" => match viewer {
                Some(caller) => {
                    shows(town.companies().create(caller, "mine", None).await, |_| true)
                }
                None => "-",
            },
            _ => self.trade(town, operation, object, viewer).await,
        }
    }

    async fn help(
        &self,
        town: &Town,
        operation: &str,
        object: &str,
        viewer: Option<&Caller>,
    ) -> Answer {
        let (assistance, said) = (town.assistance(), self.said.as_ref().unwrap());
        let thread = &said.thread_id;
        let Some(caller) = viewer else { return "-" };
        match operation {
            "assistance.ask" => {
                shows(assistance.ask(caller, &[person(object)], None).await, |_| true)
            }
            "assistance.send" => {
                shows(assistance.send(caller, thread, "well", None).await, |_| true)
            }
            "assistance.thread" => shows(assistance.thread(caller, thread).await, |_| true),
            "assistance.threads" => {
                let found = assistance.threads(caller, std::slice::from_ref(thread)).await;
                shows(found, |found| found.iter().flatten().any(|it| it.thread_id == *thread))
            }
            "assistance.messages_by_id" => {
                let found =
                    assistance.messages_by_id(caller, &[(thread.clone(), said.id.clone())]).await;
                shows(found, |found| found.iter().flatten().any(|it| it == said))
            }
            "assistance.messages" => {
                let order = Order::Ascending;
                let said = assistance.messages(caller, thread, order, &page()).await;
                lists(said, |message| message.text == "my knee")
            }
            "assistance.mine" => {
                lists(assistance.mine(caller, &page()).await, |it| it.thread_id == *thread)
            }
            other => panic!("no row handler for {other} of {object}"),
        }
    }

    async fn trade(
        &self,
        town: &Town,
        operation: &str,
        object: &str,
        viewer: Option<&Caller>,
    ) -> Answer {
        let (company, offer) = &self.offers[object];
        let (companies, offers) = (town.companies(), town.offers());
        let (tag, page) = ("town".parse().unwrap(), page());
        let is = |other: &Offer| other.id == *offer;
        match (operation, viewer) {
            ("companies.company", _) => shows(companies.company(viewer, company).await, |_| true),
            ("companies.companies", _) => {
                let found = companies.companies(viewer, std::slice::from_ref(company)).await;
                shows(found, |found| found.iter().any(Option::is_some))
            }
            ("offers.of", _) => lists(offers.of(viewer, company, &page).await, is),
            ("offers.offer", _) => shows(offers.offer(viewer, offer).await, |_| true),
            ("offers.offers", _) => {
                let found = offers.offers(viewer, std::slice::from_ref(offer)).await;
                shows(found, |found| found.iter().any(Option::is_some))
            }
            ("offers.tagged", _) => lists(offers.tagged(viewer, &tag, &page).await, is),
            ("tags.search", _) => {
                let found = town.tags().search(viewer, &tag, None, Order::Ascending, &page).await;
                lists(found, |one| matches!(one, TaggedItem::Offer(other) if is(other)))
            }
            ("offers.create", Some(caller)) => {
                let (company_id, title) = (company.clone(), String::from("another tour"));
                let new = NewOffer { company_id, title, tags: Vec::new() };
                shows(offers.create(caller, new, None).await, |_| true)
            }
            ("offers.close", Some(caller)) => {
                shows(offers.close(caller, offer, None).await, |_| true)
            }
            ("offers.update", Some(caller)) => {
                let title = Some(String::from("another tour"));
                let change = OfferChange { title, tags: None };
                shows(offers.update(caller, offer, change, None).await, |_| true)
            }
            ("companies.update", Some(caller)) => {
                shows(companies.update(caller, company, "walks", None).await, |_| true)
            }
            ("companies.mine", Some(caller)) => {
                lists(companies.mine(caller, &page).await, |one| one.id == *company)
            }
            (
                "offers.create" | "offers.close" | "offers.update" | "companies.update"
                | "companies.mine",
                None,
            ) => "-",
            (other, _) => panic!("no row handler for {other} of {object}"),
        }
    }
}
