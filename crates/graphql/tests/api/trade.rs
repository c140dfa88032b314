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

/// R29: the owner renames a company and changes an offer, which is found by its present tags.
#[tokio::test]
async fn companies_and_offers_are_changed_by_their_owner() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let create = "mutation { createCompany(name: \"Bakery\") { id } }";
    let company = api.run("ana", create).await["createCompany"]["id"].take();
    let offer = format!(
        "mutation {{ createOffer(input: {{ companyId: {company}, title: \"Bread\", tags: [\"bread\"] }})
            {{ id }} }}"
    );
    let offer = api.run("ana", &offer).await["createOffer"]["id"].take();
    let rename = format!(
        "mutation {{ updateCompany(companyId: {company}, name: \"Mill\", requestId: \"1\") {{ name }} }}"
    );
    let change = |fields: &str| {
        format!(
            "mutation {{ updateOffer(input: {{ offerId: {offer} {fields} }}) {{ title tags }} }}"
        )
    };
    let both = change(", title: \"Flour\", tags: [\"flour\"]");
    for document in [&rename, &both] {
        assert_eq!(api.error_code("bo", document).await, "FORBIDDEN");
    }
    assert_eq!(api.run("ana", &rename).await["updateCompany"]["name"], "Mill");
    let changed = api.run("ana", &both).await["updateOffer"].take();
    assert_eq!(changed, json!({ "title": "Flour", "tags": ["flour"] }));
    let same = api.run("ana", &change("")).await["updateOffer"].take();
    assert_eq!(same, changed);
    assert_eq!(api.error_code("ana", &change(", title: null")).await, "BAD_REQUEST");
    let tagged = |tag: &str| {
        format!("{{ listOffers(tag: \"{tag}\") {{ items {{ title company {{ name }} }} }} }}")
    };
    let found = api.run("bo", &tagged("flour")).await["listOffers"]["items"].take();
    assert_eq!(found, json!([{ "title": "Flour", "company": { "name": "Mill" } }]));
    assert_eq!(api.run("bo", &tagged("bread")).await["listOffers"]["items"], json!([]));
    assert_eq!(api.run("ana", &change(", tags: null")).await["updateOffer"]["tags"], json!([]));
    let mine = "{ listMyCompanies { items { name } } }";
    assert_eq!(fields(&api.run("ana", mine).await["listMyCompanies"], "name"), ["Mill"]);
    assert_eq!(api.run("bo", mine).await["listMyCompanies"]["items"], json!([]));
}

#[tokio::test]
async fn offers_are_listed_by_company_or_by_tag() {
    let api = ApiTown::of(["ana"]).await;
    assert_eq!(api.error_code("ana", "{ listOffers { items { id } } }").await, "BAD_REQUEST");
    let missing = "{ getCompany(id: \"none\") { id } getOffer(id: \"none\") { id } }";
    let found = api.run("ana", missing).await;
    assert_eq!((&found["getCompany"], &found["getOffer"]), (&Value::Null, &Value::Null));
}
