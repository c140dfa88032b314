//! Companies and offers.

use roundtable_interface::ClientInfo;
use serde_json::{Value, json};

use crate::api_town::{ApiTown, fields};

/// R17, R29: only open offers are found by tag.
#[tokio::test]
async fn an_offer_is_found_by_its_tag_until_it_is_closed() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let company = "mutation { createCompany(name: \"Bakery\") { id ownerId name } }";
    let company = api.run("ana", company).await["createCompany"].take();
    assert_eq!(company["ownerId"], "ana");
    let offer = |tag: &str| {
        format!(
            "mutation {{ createOffer(input: {{ companyId: {}, title: \"Bread\", tags: [\"{tag}\"] }})
                {{ id status }} }}",
            company["id"]
        )
    };
    let open = api.run("ana", &offer("bread")).await["createOffer"].take();
    assert_eq!(open["status"], "open");
    assert_eq!(api.error_code("bo", &offer("bread")).await, "FORBIDDEN");
    let tagged = "{ listOffers(tag: \"bread\") { items { title company { name } } } }";
    let found = api.run_as(ClientInfo::default(), tagged).await["listOffers"].take();
    assert_eq!(found["items"], json!([{ "title": "Bread", "company": { "name": "Bakery" } }]));
    let close = format!("mutation {{ closeOffer(offerId: {}) {{ status }} }}", open["id"]);
    assert_eq!(api.run("ana", &close).await["closeOffer"]["status"], "closed");
    assert_eq!(api.run("bo", tagged).await["listOffers"]["items"], json!([]));
    let of = format!(
        "{{ getCompany(id: {c}) {{ offers {{ items {{ title }} }} }} getOffer(id: {o}) {{ status }}
            listOffers(companyId: {c}) {{ items {{ title }} }} }}",
        c = company["id"],
        o = open["id"]
    );
    let found = api.run("bo", &of).await;
    assert_eq!(fields(&found["getCompany"]["offers"], "title"), ["Bread"]);
    assert_eq!(fields(&found["listOffers"], "title"), ["Bread"]);
    assert_eq!(found["getOffer"]["status"], "closed");
}

#[tokio::test]
async fn offers_are_listed_by_company_or_by_tag() {
    let api = ApiTown::of(["ana"]).await;
    assert_eq!(api.error_code("ana", "{ listOffers { items { id } } }").await, "BAD_REQUEST");
    let missing = "{ getCompany(id: \"none\") { id } getOffer(id: \"none\") { id } }";
    let found = api.run("ana", missing).await;
    assert_eq!((&found["getCompany"], &found["getOffer"]), (&Value::Null, &Value::Null));
}
