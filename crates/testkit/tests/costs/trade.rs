//! Companies, offers and uploads.

use roundtable_domain::{NewOffer, NewUpload, OfferChange};
use roundtable_model::{CompanyId, samples};
use roundtable_testkit::Town;

use crate::book::CostBook;
use crate::expression::number;
use crate::scene::{ANA, Scene};

pub(crate) async fn record(book: &mut CostBook) {
    book.mutation("createCompany", &[], async |scene| {
        let (companies, me, request) = (scene.town.companies(), scene.ana(), scene.request());
        scene.record(companies.create(&me, &samples::company().name, request.as_ref())).await;
    })
    .await;
    book.mutation("createOffer", &[number("tags", 2.0)], async |scene| {
        let new = new_offer(scene, company(scene).await);
        let (offers, me, request) = (scene.town.offers(), scene.ana(), scene.request());
        scene.record(offers.create(&me, new, request.as_ref())).await;
    })
    .await;
    book.mutation("updateCompany", &[], async |scene| {
        let id = company(scene).await;
        let (companies, me, request) = (scene.town.companies(), scene.ana(), scene.request());
        scene.record(companies.update(&me, &id, "Hill tours", request.as_ref())).await;
    })
    .await;
    book.mutation("updateOffer", &[number("tags", 2.0)], async |scene| {
        let new = new_offer(scene, company(scene).await);
        let (offers, me, request) = (scene.town.offers(), scene.ana(), scene.request());
        let offer = offers.create(&me, new, None).await.unwrap();
        let change = OfferChange { title: Some("Hill tours".into()), tags: None };
        scene.record(offers.update(&me, &offer.id, change, request.as_ref())).await;
    })
    .await;
    book.mutation("closeOffer", &[number("tags", 2.0)], async |scene| {
        let new = new_offer(scene, company(scene).await);
        let (offers, me, request) = (scene.town.offers(), scene.ana(), scene.request());
        let offer = offers.create(&me, new, None).await.unwrap();
        scene.record(offers.close(&me, &offer.id, request.as_ref())).await;
    })
    .await;
    book.mutation("createUpload", &[], async |scene| {
        let bytes = Town::picture().len() as u64;
        let new = NewUpload { content_type: "image/png".into(), bytes, purpose: None };
        let (media, me, request) = (scene.town.media(), scene.ana(), scene.request());
        scene.record(media.create_upload(&me, &new, request.as_ref())).await;
    })
    .await;
    book.mutation("completeUpload", &[], async |scene| {
        let key = scene.town.send_picture(ANA).await;
        let (media, me, request) = (scene.town.media(), scene.ana(), scene.request());
        scene.record(media.complete_upload(&me, &key, request.as_ref())).await;
    })
    .await;
}

async fn company(scene: &Scene) -> CompanyId {
    scene.town.company(ANA, &samples::company().name).await
}

fn new_offer(scene: &Scene, company_id: CompanyId) -> NewOffer {
    NewOffer { company_id, title: samples::offer().title, tags: scene.tags() }
}
