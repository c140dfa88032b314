//! What is left of a deleted account's calls for help, companies and offers: nothing (R16, R17).

use roundtable_domain::{Assistance, Caller, Companies, NewOffer, Offers};
use roundtable_model::entities::{AssistHelper, AssistMsg, AssistThread, Company, Offer, TagRef};
use roundtable_model::{CompanyId, ThreadId, UserId};
use roundtable_streams::{Purge, Runner};
use roundtable_testkit::Town;

use crate::cast::Cast;
use crate::facts::{all, everything};
use crate::stage::Stage;

fn id(name: &str) -> UserId {
    name.parse().unwrap()
}

fn caller(name: &str) -> Caller {
    Caller::user(id(name))
}

/// Somebody asks others for help, and everybody says a lot.
async fn ask(stage: &Stage, name: &str, helpers: &[&str]) -> ThreadId {
    let assistance = Assistance::new(stage.ground.clone());
    let ids: Vec<UserId> = helpers.iter().map(|helper| id(helper)).collect();
    let thread = assistance.ask(&caller(name), &ids, None).await.unwrap().thread_id;
    for speaker in helpers.iter().chain([&name]) {
        for n in 0..60 {
            stage.clock.advance_ms(1_000);
            let text = format!("{speaker} says {n}");
            assistance.send(&caller(speaker), &thread, &text, None).await.unwrap();
        }
    }
    thread
}

/// Somebody's company, with many offers; one of them is closed.
async fn trade(stage: &Stage, name: &str) -> CompanyId {
    let (companies, offers) =
        (Companies::new(stage.ground.clone()), Offers::new(stage.ground.clone()));
    let company = companies.create(&caller(name), "shoes", None).await.unwrap().id;
    for n in 0..25 {
        stage.clock.advance_ms(1_000);
        let tags = ["feet", "shoes"].map(|tag| tag.parse().unwrap()).to_vec();
        let new = NewOffer { company_id: company.clone(), title: format!("{n}"), tags };
        let offer = offers.create(&caller(name), new, None).await.unwrap();
        if n == 7 {
            offers.close(&caller(name), &offer.id, None).await.unwrap();
        }
    }
    company
}

/// R16: threads go with whoever asked, and what a helper said goes with the helper.
#[tokio::test]
async fn nothing_is_left_of_what_was_said() {
    let stage = Stage::reference().await;
    let cast = Cast::new(&stage).await;
    let own = ask(&stage, "quentin", &["bo", "cleo"]).await;
    let others = ask(&stage, "bo", &["quentin", "cleo"]).await;
    let assistance = Assistance::new(stage.ground.clone());
    let asked = [id("quentin"), id("cleo")];
    let silent = assistance.ask(&caller("bo"), &asked, None).await.unwrap().thread_id;
    cast.delete_account("quentin").await;
    stage.runner().drain().await.unwrap();
    let items = everything(&stage.ground).await;
    let said: Vec<AssistMsg> = all(&items);
    assert!(said.iter().all(|message| message.thread_id != own), "with those of others in it");
    assert!(said.iter().all(|message| message.user_id != id("quentin")));
    assert_eq!(said.len(), 120, "others stay as they are");
    let threads: Vec<AssistThread> = all(&items);
    let mut threads: Vec<_> = threads.into_iter().map(|it| (it.thread_id, it.helper_ids)).collect();
    threads.sort();
    let mut left = vec![(others, vec![id("cleo")]), (silent, vec![id("cleo")])];
    left.sort();
    assert_eq!(threads, left, "also where they have said nothing");
    let helpers: Vec<AssistHelper> = all(&items);
    assert!(helpers.iter().all(|helper| helper.user_id == id("cleo")), "{helpers:?}");
    assert_eq!(helpers.len(), 2);
    assert_eq!(stage.runner().dead_letters().count().await.unwrap(), 0);
}

/// R17: companies go with their owner, and their offers with all their tags.
#[tokio::test]
async fn nothing_is_left_of_what_was_offered() {
    let stage = Stage::reference().await;
    let cast = Cast::new(&stage).await;
    trade(&stage, "quentin").await;
    let bos = trade(&stage, "bo").await;
    cast.delete_account("quentin").await;
    stage.runner().drain().await.unwrap();
    let items = everything(&stage.ground).await;
    let companies: Vec<Company> = all(&items);
    assert_eq!(companies.iter().map(|company| &company.id).collect::<Vec<_>>(), [&bos]);
    let offers: Vec<Offer> = all(&items);
    assert_eq!(offers.len(), 25);
    assert!(offers.iter().all(|offer| offer.company_id == bos));
    assert_eq!(all::<TagRef>(&items).len(), 48, "two for each that is open");
    assert_eq!(stage.runner().dead_letters().count().await.unwrap(), 0);
}

/// R17: an offer that no index tells of yet when its company's owner goes is found once it does, since
/// the company is still there to look under.
#[tokio::test]
async fn offers_that_an_index_does_not_tell_of_yet_go_too() {
    let (town, far) = Town::far_away(["quentin"]).await;
    let company = town.company("quentin", "shoes").await;
    far.indexes_fall_behind();
    let offer = town.offer("quentin", &company, "new shoes", &["feet"]).await.id;
    let quentin = town.caller("quentin");
    town.accounts().delete_account(&quentin, &"quentin".parse().unwrap()).await.unwrap();
    let purge = Purge::new(town.ground().clone());
    let runner = Runner::on(town.ground().clone(), [0; 32]).at_once();
    let runner = runner.with(purge.clone()).working(purge).build();
    runner.drain().await.unwrap();
    far.catch_up();
    // Long enough for every pass to come.
    for _ in 0..5 {
        town.pass_ms(200_000);
        runner.drain().await.unwrap();
    }
    let core = town.ground().core();
    assert!(core.offer(&offer).get().await.unwrap().is_none(), "nobody would find it again");
    assert!(core.company(&company).get().await.unwrap().is_none());
    assert!(town.rows("TAG#feet", "").await.is_empty());
    assert_eq!(runner.dead_letters().count().await.unwrap(), 0);
}
