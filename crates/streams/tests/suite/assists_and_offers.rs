//! A deleted account's assist threads, companies and offers are removed completely (R16, R17).

use roundtable_domain::{Assistance, Caller, Companies, NewOffer, Offers};
use roundtable_model::entities::{AssistHelper, AssistMsg, AssistThread, Company, Offer, TagRef};
use roundtable_model::{CompanyId, ThreadId, UserId};
use roundtable_streams::{Purge, Runner};
use roundtable_testkit::Town;

use crate::cast::Cast;
use crate::facts::{all, everything};
use crate::test_store::TestStore;

fn id(name: &str) -> UserId {
    name.parse().unwrap()
}

fn caller(name: &str) -> Caller {
    Caller::user(id(name))
}

/// A user opens an assist thread in which everyone writes many messages.
async fn ask(store: &TestStore, name: &str, helpers: &[&str]) -> ThreadId {
    let assistance = Assistance::new(store.context.clone());
    let ids: Vec<UserId> = helpers.iter().map(|helper| id(helper)).collect();
    let thread = assistance.ask(&caller(name), &ids, None).await.unwrap().thread_id;
    for speaker in helpers.iter().chain([&name]) {
        for n in 0..60 {
            store.clock.advance_ms(1_000);
            let text = format!("{speaker} says {n}");
            assistance.send(&caller(speaker), &thread, &text, None).await.unwrap();
        }
    }
    thread
}

/// A company with many offers, one of them closed.
async fn trade(store: &TestStore, name: &str) -> CompanyId {
    let (companies, offers) =
        (Companies::new(store.context.clone()), Offers::new(store.context.clone()));
    let company = companies.create(&caller(name), "shoes", None).await.unwrap().id;
    for n in 0..25 {
        store.clock.advance_ms(1_000);
        let tags = ["feet", "shoes"].map(|tag| tag.parse().unwrap()).to_vec();
        let new = NewOffer { company_id: company.clone(), title: format!("{n}"), tags };
        let offer = offers.create(&caller(name), new, None).await.unwrap();
        if n == 7 {
            offers.close(&caller(name), &offer.id, None).await.unwrap();
        }
    }
    company
}

/// R16: threads go with their creator, and a helper's messages with the helper.
#[tokio::test]
async fn a_deleted_account_leaves_no_assist_threads_or_messages() {
    let store = TestStore::reference().await;
    let cast = Cast::new(&store).await;
    let own = ask(&store, "quentin", &["bo", "cleo"]).await;
    let others = ask(&store, "bo", &["quentin", "cleo"]).await;
    let assistance = Assistance::new(store.context.clone());
    let helpers_asked = [id("quentin"), id("cleo")];
    let silent = assistance.ask(&caller("bo"), &helpers_asked, None).await.unwrap().thread_id;
    cast.delete_account("quentin").await;
    store.runner().drain().await.unwrap();
    let items = everything(&store.context).await;
    let said: Vec<AssistMsg> = all(&items);
    assert!(
        said.iter().all(|message| message.thread_id != own),
        "with the messages of others in it"
    );
    assert!(said.iter().all(|message| message.user_id != id("quentin")));
    assert_eq!(said.len(), 120, "other posts stay");
    let threads: Vec<AssistThread> = all(&items);
    let mut threads: Vec<_> = threads.into_iter().map(|it| (it.thread_id, it.helper_ids)).collect();
    threads.sort();
    let mut left = vec![(others, vec![id("cleo")]), (silent, vec![id("cleo")])];
    left.sort();
    assert_eq!(threads, left, "also without messages");
    let helpers: Vec<AssistHelper> = all(&items);
    assert!(helpers.iter().all(|helper| helper.user_id == id("cleo")), "{helpers:?}");
    assert_eq!(helpers.len(), 2);
    assert_eq!(store.runner().dead_letters().count().await.unwrap(), 0);
}

/// R17: companies go with their owner, and offers with all their tags.
#[tokio::test]
async fn a_deleted_account_leaves_no_companies_or_offers() {
    let store = TestStore::reference().await;
    let cast = Cast::new(&store).await;
    trade(&store, "quentin").await;
    let bos = trade(&store, "bo").await;
    cast.delete_account("quentin").await;
    store.runner().drain().await.unwrap();
    let items = everything(&store.context).await;
    let companies: Vec<Company> = all(&items);
    assert_eq!(companies.iter().map(|company| &company.id).collect::<Vec<_>>(), [&bos]);
    let offers: Vec<Offer> = all(&items);
    assert_eq!(offers.len(), 25);
    assert!(offers.iter().all(|offer| offer.company_id == bos));
    assert_eq!(all::<TagRef>(&items).len(), 48, "two for each open offer");
    assert_eq!(store.runner().dead_letters().count().await.unwrap(), 0);
}

/// R17: the company is kept until the index shows all its offers, so that a late offer is found,
/// too.
#[tokio::test]
async fn offers_missing_from_a_lagging_index_are_removed_too() {
    let (town, far) = Town::on_lagging_store(["quentin"]).await;
    let company = town.company("quentin", "shoes").await;
    far.indexes_fall_behind();
    let offer = town.offer("quentin", &company, "new shoes", &["feet"]).await.id;
    let quentin = town.caller("quentin");
    town.accounts().delete_account(&quentin, &"quentin".parse().unwrap()).await.unwrap();
    let purge = Purge::new(town.context().clone());
    let runner = Runner::builder(town.context().clone(), [0; 32]).without_delays();
    let runner = runner.with(purge.clone()).with_job_handler(purge).build();
    runner.drain().await.unwrap();
    far.catch_up();
    // Long enough for every pass.
    for _ in 0..5 {
        town.advance_ms(200_000);
        runner.drain().await.unwrap();
    }
    let core = town.context().core();
    assert!(core.offer(&offer).get().await.unwrap().is_none(), "it must not be orphaned");
    assert!(core.company(&company).get().await.unwrap().is_none());
    assert!(town.rows("TAG#feet", "").await.is_empty());
    assert_eq!(runner.dead_letters().count().await.unwrap(), 0);
}
