//! Companies and offers, through the services and as rows (R4, R17, R29, R30, R32).

use roundtable_domain::limits::{NAME_CHARS_MAX, TAGS_MAX, TITLE_CHARS_MAX};
use roundtable_domain::{
    Caller, Code, NewOffer, Offers, Page, PageInput, Refusal, Settings, ShardCount, ShardSettings,
};
use roundtable_model::entities::Offer;
use roundtable_model::{CompanyId, OfferId, OfferStatus, RequestId, Role, Shards, Tag, UserStatus};
use roundtable_testkit::Town;

fn page(limit: usize) -> PageInput {
    PageInput { limit: Some(limit), after: None }
}

fn titles(page: Page<Offer>) -> Vec<String> {
    page.into_items().into_iter().map(|offer| offer.title).collect()
}

fn new(company: &CompanyId, title: &str, tags: &[&str]) -> NewOffer {
    let tags = tags.iter().map(|tag| tag.parse().unwrap()).collect();
    NewOffer { company_id: company.clone(), title: title.to_owned(), tags }
}

async fn tagged(town: &Town, viewer: Option<&Caller>, tag: &str) -> Vec<String> {
    let tag: Tag = tag.parse().unwrap();
    titles(town.offers().tagged(viewer, &tag, &page(100)).await.unwrap())
}

/// R17, R29: an offer and its tags are one transaction, and it is found by id, company and tag.
#[tokio::test]
async fn an_offer_is_found_by_id_company_and_tag() {
    let town = Town::of(["ana"]).await;
    let company = town.company("ana", " Ana's shoes ").await;
    let offer = town.offer("ana", &company, "Repairs", &["shoes", "Running", "SHOES"]).await;
    assert_eq!(
        town.rows(&format!("COMPANY#{company}"), "").await,
        [format!("COMPANY#{company} ownerId=ana name=Ana's shoes")]
    );
    let id = &offer.id;
    assert_eq!(
        town.rows(&format!("OFFER#{id}"), "").await,
        [format!("OFFER#{id} companyId={company} title=Repairs tags=[shoes,Running] status=open")]
    );
    assert_eq!(town.rows("TAG#shoes", "").await, [format!("Offer#{id} title=Repairs")]);
    assert_eq!(town.rows("TAG#running", "").await, [format!("Offer#{id} title=Repairs")]);
    let offers = town.offers();
    assert_eq!(offers.offer(None, id).await.unwrap(), offer);
    assert_eq!(titles(offers.of(None, &company, &page(9)).await.unwrap()), ["Repairs"]);
    assert_eq!(tagged(&town, None, "#RUNNING").await, ["Repairs"]);
    let found = town.companies().company(None, &company).await.unwrap();
    assert_eq!((found.name.as_str(), &found.owner_id), ("Ana's shoes", &town.id("ana")));
    let nowhere: CompanyId = "nowhere".parse().unwrap();
    let twice = [company.clone(), nowhere, company.clone()];
    let each = town.companies().companies(None, &twice).await.unwrap();
    assert_eq!(
        each,
        [Some(found.clone()), None, Some(found)],
        "each in its place, as often as asked"
    );
}

/// R17: only the owner creates offers, and invalid input is refused.
#[tokio::test]
async fn only_the_owner_creates_offers() {
    let town = Town::of(["ana", "bo", "mo", "sid"]).await;
    let mo = town.grant_role("mo", Role::Moderator).await;
    let company = town.company("ana", "shoes").await;
    let offers = town.offers();
    for other in [town.caller("bo"), mo] {
        let refused = offers.create(&other, new(&company, "mine", &[]), None).await.unwrap_err();
        assert_eq!(refused.code(), Code::Forbidden);
    }
    let ana = town.caller("ana");
    let nowhere: CompanyId = "nowhere".parse().unwrap();
    let refused = offers.create(&ana, new(&nowhere, "x", &[]), None).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    for title in ["", " ", &"x".repeat(TITLE_CHARS_MAX + 1)] {
        let refused = offers.create(&ana, new(&company, title, &[]), None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest);
    }
    let tags: Vec<String> = (0..=TAGS_MAX).map(|n| format!("t{n}")).collect();
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    let refused = offers.create(&ana, new(&company, "x", &tags), None).await.unwrap_err();
    assert_eq!(refused.code(), Code::BadRequest);
    offers.create(&ana, new(&company, "as many as may be", &tags[1..]), None).await.unwrap();
    for name in ["", "  ", &"x".repeat(NAME_CHARS_MAX + 1)] {
        let refused = town.companies().create(&ana, name, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest);
    }
    town.set_status("sid", UserStatus::Suspended).await;
    let refused = town.companies().create(&town.caller("sid"), "x", None).await.unwrap_err();
    assert_eq!(refused.code(), Code::Forbidden);
}

/// R17: a closed offer is visible, but no longer found by tag.
#[tokio::test]
async fn a_closed_offer_is_not_found_by_tag() {
    let town = Town::of(["ana", "bo"]).await;
    let company = town.company("ana", "shoes").await;
    let (old, _) = (
        town.offer("ana", &company, "old", &["shoes"]).await,
        town.offer("ana", &company, "new", &["shoes"]).await,
    );
    let (offers, ana) = (town.offers(), town.caller("ana"));
    let refused = offers.close(&town.caller("bo"), &old.id, None).await.unwrap_err();
    assert_eq!(refused.code(), Code::Forbidden);
    let closed = offers.close(&ana, &old.id, None).await.unwrap();
    assert_eq!(closed.status, OfferStatus::Closed);
    assert_eq!(tagged(&town, Some(&ana), "shoes").await, ["new"]);
    assert_eq!(town.rows("TAG#shoes", "").await.len(), 1);
    assert_eq!(titles(offers.of(None, &company, &page(9)).await.unwrap()), ["old", "new"]);
    assert_eq!(offers.offer(None, &old.id).await.unwrap(), closed);
    assert_eq!(offers.close(&ana, &old.id, None).await.unwrap(), closed, "twice is once");
    let nowhere: OfferId = "nowhere".parse().unwrap();
    let refused = offers.close(&ana, &nowhere, None).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
}

/// R17: staff can close offers, with an audit entry; former staff cannot.
#[tokio::test]
async fn staff_close_offers() {
    let town = Town::of(["ana", "mo", "fay"]).await;
    let mo = town.grant_role("mo", Role::Moderator).await;
    let company = town.company("ana", "shoes").await;
    let offer = town.offer("ana", &company, "stolen", &["shoes"]).await;
    let former = town.staff("fay", Role::Moderator);
    let refused = town.offers().close(&former, &offer.id, None).await.unwrap_err();
    assert_eq!(refused.code(), Code::Forbidden);
    town.offers().close(&mo, &offer.id, None).await.unwrap();
    assert!(tagged(&town, None, "shoes").await.is_empty());
    assert!(town.audit_trail().await.iter().any(|line| line.starts_with("mo closeOffer")));
}

/// R17, I9: companies and offers are hidden with their owner, in every read.
#[tokio::test]
async fn offers_are_hidden_with_their_owner() {
    let town = Town::of(["ana", "bo", "bex", "bob", "mo"]).await;
    let mo = town.grant_role("mo", Role::Moderator).await;
    let company = town.company("ana", "shoes").await;
    let offer = town.offer("ana", &company, "repairs", &["shoes"]).await.id;
    town.block("ana", "bex").await;
    town.block("bob", "ana").await;
    let sees = async |viewer: Option<&Caller>| {
        let (companies, offers) = (town.companies(), town.offers());
        let ways = [
            companies.company(viewer, &company).await.is_ok(),
            companies.companies(viewer, std::slice::from_ref(&company)).await.unwrap()[0].is_some(),
            offers.offer(viewer, &offer).await.is_ok(),
            offers.offers(viewer, std::slice::from_ref(&offer)).await.unwrap()[0].is_some(),
            offers.of(viewer, &company, &page(9)).await.is_ok(),
            tagged(&town, viewer, "shoes").await.len() == 1,
        ];
        assert!(ways.iter().all(|way| *way == ways[0]), "{viewer:?}: {ways:?}");
        ways[0]
    };
    assert!(sees(None).await && sees(Some(&town.caller("bo"))).await);
    assert!(!sees(Some(&town.caller("bex"))).await && !sees(Some(&town.caller("bob"))).await);
    let refused = town.offers().close(&town.caller("bex"), &offer, None).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound, "as what does not exist");
    town.set_status("ana", UserStatus::Suspended).await;
    assert!(!sees(None).await && !sees(Some(&town.caller("bo"))).await);
    assert!(sees(Some(&mo)).await, "staff decide about it");
    town.set_status("ana", UserStatus::Deleted).await;
    assert!(!sees(None).await && !sees(Some(&mo)).await);
}

async fn all(
    offers: &Offers,
    size: usize,
    read: impl AsyncFn(&Offers, PageInput) -> Page<Offer>,
) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let found = read(offers, PageInput { limit: Some(size), after: after.take() }).await;
        assert!(found.items.len() == size || found.next.is_none(), "pages are full");
        after.clone_from(&found.next);
        all.extend(titles(found));
        if after.is_none() {
            return all;
        }
    }
}

/// R29, R30: by company and by tag, over shards, in full pages although some are hidden.
#[tokio::test]
async fn offers_are_listed_by_company_and_tag() {
    let shards =
        ShardSettings { tags: ShardCount(Shards::new(3).unwrap()), ..ShardSettings::default() };
    let town = Town::with(Settings { shards, ..Town::settings() }, ["ana", "sid"]).await;
    let (anas, sids) = (town.company("ana", "shoes").await, town.company("sid", "socks").await);
    let mut titles = Vec::new();
    for n in 0..9 {
        let title = format!("{n}");
        town.offer("ana", &anas, &title, &["feet"]).await;
        town.offer("sid", &sids, "socks", &["feet"]).await;
        titles.push(title);
    }
    town.set_status("sid", UserStatus::Suspended).await;
    let (offers, tag) = (town.offers(), "feet".parse().unwrap());
    for size in [1, 4, 100] {
        let by_company =
            all(&offers, size, async |offers, page| offers.of(None, &anas, &page).await.unwrap());
        assert_eq!(by_company.await, titles);
        let by_tag = all(&offers, size, async |offers, page| {
            offers.tagged(None, &tag, &page).await.unwrap()
        });
        assert_eq!(by_tag.await, titles);
    }
}

/// R32, I8: a repeated request has the effect of one, and returns the current outcome.
#[tokio::test]
async fn requests_are_idempotent() {
    let town = Town::of(["ana"]).await;
    let (companies, offers, ana) = (town.companies(), town.offers(), town.caller("ana"));
    let [found, make, close]: [RequestId; 3] =
        ["found", "make", "close"].map(|id| id.parse().unwrap());
    let company = companies.create(&ana, "shoes", Some(&found)).await.unwrap();
    assert_eq!(companies.create(&ana, "shoes", Some(&found)).await.unwrap(), company);
    let other = companies.create(&ana, "socks", Some(&found)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    let input = new(&company.id, "repairs", &["shoes"]);
    let offer = offers.create(&ana, input.clone(), Some(&make)).await.unwrap();
    assert_eq!(offers.create(&ana, input.clone(), Some(&make)).await.unwrap(), offer);
    let closed = offers.close(&ana, &offer.id, Some(&close)).await.unwrap();
    assert_eq!(offers.close(&ana, &offer.id, Some(&close)).await.unwrap(), closed);
    assert_eq!(offers.create(&ana, input, Some(&make)).await.unwrap(), closed, "as it is now");
    assert_eq!(titles(offers.of(None, &company.id, &page(9)).await.unwrap()), ["repairs"]);
}

/// R17: a user suspended concurrently creates no offer and leaves no tag reference behind.
#[tokio::test]
async fn a_concurrent_suspension_prevents_an_offer() {
    let mut answers = Vec::new();
    for gap in 1.. {
        let town = Town::of(["ana", "mo"]).await;
        let mo = town.grant_role("mo", Role::Moderator).await;
        let company = town.company("ana", "shoes").await;
        let (accounts, recipient) = (town.accounts(), town.id("ana"));
        let operation =
            async move || drop(accounts.suspend(&mo, &recipient, "rude", None).await.unwrap());
        let (context, meanwhile) = town.interleave(gap, operation);
        let input = new(&company, "repairs", &["shoes"]);
        let made = Offers::new(context).create(&town.caller("ana"), input, None).await;
        if !meanwhile.happened() {
            break;
        }
        assert_eq!(town.rows("TAG#shoes", "").await.len(), usize::from(made.is_ok()));
        answers.push(made.is_ok());
    }
    assert_eq!(answers.pop(), Some(true), "the gap behind the commit");
    assert!(answers.len() > 1 && answers.iter().all(|answer| !answer), "{answers:?}");
}

/// R17: an offer closed twice concurrently is closed once, in every interleaving.
#[tokio::test]
async fn an_offer_closed_twice_concurrently_is_closed_once() {
    for gap in 1.. {
        let town = Town::of(["ana", "mo"]).await;
        let mo = town.grant_role("mo", Role::Moderator).await;
        let company = town.company("ana", "shoes").await;
        let offer = town.offer("ana", &company, "repairs", &["shoes"]).await.id;
        let (offers, id) = (town.offers(), offer.clone());
        let operation = async move || drop(offers.close(&mo, &id, None).await.unwrap());
        let (context, meanwhile) = town.interleave(gap, operation);
        let closed = Offers::new(context).close(&town.caller("ana"), &offer, None).await.unwrap();
        assert_eq!(closed.status, OfferStatus::Closed);
        assert!(town.rows("TAG#shoes", "").await.is_empty());
        if !meanwhile.happened() {
            break;
        }
    }
}
