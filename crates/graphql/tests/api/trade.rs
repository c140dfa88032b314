//! Companies and offers.

use roundtable_graphql::Client;
use serde_json::{Value, json};

use crate::stage::{Stage, each};

/// R17, R29: a company offers something, which is found by its tag until it is closed.
#[tokio::test]
async fn an_offer_is_found_by_its_tag_until_it_is_closed() {
    let stage = Stage::of(["ana", "bo"]).await;
    let company = "mutation { createCompany(name: \"Bakery\") { id ownerId name } }";
    let company = stage.ask("ana", company).await["createCompany"].take();
    assert_eq!(company["ownerId"], "ana");
    let offer = |tag: &str| {
        format!(
            "mutation {{ createOffer(input: {{ companyId: {}, title: \"Bread\", tags: [\"{tag}\"] }})
                {{ id status }} }}",
            company["id"]
        )
    };
    let open = stage.ask("ana", &offer("bread")).await["createOffer"].take();
    assert_eq!(open["status"], "open");
    assert_eq!(stage.refused("bo", &offer("bread")).await, "FORBIDDEN");
    let tagged = "{ listOffers(tag: \"bread\") { items { title company { name } } } }";
    let found = stage.ask_as(Client::default(), tagged).await["listOffers"].take();
    assert_eq!(found["items"], json!([{ "title": "Bread", "company": { "name": "Bakery" } }]));
    let close = format!("mutation {{ closeOffer(offerId: {}) {{ status }} }}", open["id"]);
    assert_eq!(stage.ask("ana", &close).await["closeOffer"]["status"], "closed");
    assert_eq!(stage.ask("bo", tagged).await["listOffers"]["items"], json!([]));
    let of = format!(
        "{{ getCompany(id: {c}) {{ offers {{ items {{ title }} }} }} getOffer(id: {o}) {{ status }}
            listOffers(companyId: {c}) {{ items {{ title }} }} }}",
        c = company["id"],
        o = open["id"]
    );
    let found = stage.ask("bo", &of).await;
    assert_eq!(each(&found["getCompany"]["offers"], "title"), ["Bread"]);
    assert_eq!(each(&found["listOffers"], "title"), ["Bread"]);
    assert_eq!(found["getOffer"]["status"], "closed");
}

#[tokio::test]
async fn offers_are_asked_for_by_company_or_by_tag() {
    let stage = Stage::of(["ana"]).await;
    assert_eq!(stage.refused("ana", "{ listOffers { items { id } } }").await, "BAD_REQUEST");
    let missing = "{ getCompany(id: \"none\") { id } getOffer(id: \"none\") { id } }";
    let found = stage.ask("ana", missing).await;
    assert_eq!((&found["getCompany"], &found["getOffer"]), (&Value::Null, &Value::Null));
}
