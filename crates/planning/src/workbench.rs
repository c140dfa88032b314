//! The tables as a data model for NoSQL Workbench: a facet for each entity, with a sample item.
//! Workbench requires one type for each attribute name of a table. Where entities differ, the first
//! type is used, and samples with another type omit the attribute.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use roundtable_model::shape::{EntityShape, Index, TableShape};
use roundtable_table::{Attributes, Item, Value};
use serde_json::{Map, Value as Json, json};

/// The creation date of the model, fixed so that the output is the same on every run.
const DATE: &str = "Jan 27, 2025, 03:30 PM";

/// Renders the model of `schema`; `samples` appear in the facets of their entities.
pub fn render(schema: &[&TableShape], samples: &[(&'static EntityShape, Item)]) -> String {
    let tables: Vec<Json> = schema.iter().map(|table| data_model(table, samples)).collect();
    let model = json!({
        "ModelName": "Roundtable",
        "ModelMetadata": {
            "Author": "roundtable table workbench",
            "DateCreated": DATE,
            "DateLastModified": DATE,
            "Description": "Generated from the schema. Do not edit; generate it again.",
            "AWSService": "Amazon DynamoDB",
            "Version": "3.0",
        },
        "DataModel": tables,
    });
    format!("{model:#}\n")
}

fn data_model(table: &TableShape, samples: &[(&'static EntityShape, Item)]) -> Json {
    let samples_of = |entity: &EntityShape| -> Vec<Attributes> {
        let own = samples.iter().filter(|(of, _)| of.name == entity.name);
        own.map(|(_, item)| item.to_attributes()).collect()
    };
    let mut types: BTreeMap<String, &'static str> = BTreeMap::new();
    for index in table.indexes {
        types.insert(String::from(index.partition_attribute()), "S");
        types.insert(String::from(index.sort_attribute()), "S");
    }
    let mut facets = Vec::new();
    for entity in table.entities {
        let mut samples = samples_of(entity);
        let mut shown = Vec::new();
        for sample in &mut samples {
            sample.retain(|name, value| {
                let kind = value.kind().name();
                is_primary(name) || *types.entry(name.clone()).or_insert(kind) == kind
            });
            shown.extend(sample.keys().filter(|name| !is_primary(name)).cloned());
        }
        shown.sort_unstable();
        shown.dedup();
        facets.push(facet(entity, &samples, &shown));
    }
    let attribute =
        |(name, kind): (&String, &&str)| json!({ "AttributeName": name, "AttributeType": kind });
    let indexes: Vec<Json> = table.indexes.iter().map(|index| global_index(*index)).collect();
    // If a table has facets, Workbench takes its items from them.
    json!({
        "TableName": table.name,
        "KeyAttributes": key(Index::Main),
        "NonKeyAttributes": types.iter().map(attribute).collect::<Vec<_>>(),
        "TableFacets": facets,
        "GlobalSecondaryIndexes": indexes,
        "DataAccess": { "MySql": {} },
        "BillingMode": "PAY_PER_REQUEST",
    })
}

fn facet(entity: &EntityShape, samples: &[Attributes], attributes: &[String]) -> Json {
    json!({
        "FacetName": entity.name,
        "KeyAttributeAlias": {
            "PartitionKeyAlias": entity.main().partition.text,
            "SortKeyAlias": entity.main().sort.text,
        },
        "TableData": samples.iter().map(entries).collect::<Vec<_>>(),
        "NonKeyAttributes": attributes,
        "DataAccess": { "MySql": {} },
    })
}

fn global_index(index: Index) -> Json {
    json!({
        "IndexName": index.name(),
        "KeyAttributes": key(index),
        "Projection": { "ProjectionType": "ALL" },
    })
}

fn key(index: Index) -> Json {
    json!({
        "PartitionKey": { "AttributeName": index.partition_attribute(), "AttributeType": "S" },
        "SortKey": { "AttributeName": index.sort_attribute(), "AttributeType": "S" },
    })
}

fn is_primary(name: &str) -> bool {
    name == Index::Main.partition_attribute() || name == Index::Main.sort_attribute()
}

/// Converts attributes to DynamoDB's JSON, as Workbench reads items.
fn entries(attributes: &Attributes) -> Json {
    let typed = attributes.iter().map(|(name, value)| (name.clone(), typed(value)));
    Json::Object(typed.collect::<Map<_, _>>())
}

fn typed(value: &Value) -> Json {
    let plain = match value {
        Value::S(text) => json!(text),
        Value::N(number) => json!(number.to_string()),
        Value::B(bytes) => json!(BASE64.encode(bytes)),
        Value::Bool(truth) => json!(truth),
        Value::Null => json!(true),
        Value::L(values) => values.iter().map(typed).collect(),
        Value::M(map) => entries(map),
        Value::Ss(texts) => json!(texts),
        Value::Ns(numbers) => numbers.iter().map(ToString::to_string).collect(),
        Value::Bs(blobs) => blobs.iter().map(|bytes| BASE64.encode(bytes)).collect(),
    };
    Json::Object(Map::from_iter([(String::from(value.kind().name()), plain)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_schema::{entity, table};
    use roundtable_table::item;

    fn model() -> Json {
        let page = table("gg_core")
            .entity(entity("User", "id: UserId", "USER#{id}", "PROFILE#{id}"))
            .entity(entity("Post", "id: PostId", "POST#{id}", "POST"))
            .shape();
        let user = item! {
            "PK" => "USER#ana", "SK" => "PROFILE#ana", "type" => "User", "GSI1PK" => "USER#ana",
            "GSI1SK" => "ENTITY#User", "level" => 3, "tags" => Value::texts(["a", "b"]),
        };
        let post = item! {
            "PK" => "POST#1", "SK" => "POST", "type" => "Post",
            "level" => "high", "media" => Value::map([("bytes", Value::from(vec![1_u8, 2]))]),
            "list" => Value::L(vec![Value::Null, Value::Bool(false)]),
            "scores" => Value::numbers([1, 2]),
        };
        let samples = [(page.entities[0], user), (page.entities[1], post)];
        serde_json::from_str(&render(&[page], &samples)).unwrap()
    }

    #[test]
    fn each_entity_has_a_facet_with_its_sample() {
        let facets = &model()["DataModel"][0]["TableFacets"];
        assert_eq!(facets.as_array().unwrap().len(), 2);
        assert_eq!(facets[0]["FacetName"], "User");
        assert_eq!(facets[0]["KeyAttributeAlias"]["PartitionKeyAlias"], "USER#{id}");
        assert_eq!(facets[0]["KeyAttributeAlias"]["SortKeyAlias"], "PROFILE#{id}");
        assert_eq!(
            facets[0]["NonKeyAttributes"],
            json!(["GSI1PK", "GSI1SK", "level", "tags", "type"])
        );
        assert_eq!(
            facets[0]["TableData"],
            json!([{
                "PK": { "S": "USER#ana" }, "SK": { "S": "PROFILE#ana" }, "type": { "S": "User" },
                "GSI1PK": { "S": "USER#ana" }, "GSI1SK": { "S": "ENTITY#User" },
                "level": { "N": "3" }, "tags": { "SS": ["a", "b"] },
            }])
        );
    }

    #[test]
    fn every_type_of_value_is_written_as_dynamodb_does() {
        let item = &model()["DataModel"][0]["TableFacets"][1]["TableData"][0];
        assert_eq!(item["media"], json!({ "M": { "bytes": { "B": "AQI=" } } }));
        assert_eq!(item["list"], json!({ "L": [{ "NULL": true }, { "BOOL": false }] }));
        assert_eq!(item["scores"], json!({ "NS": ["1", "2"] }));
    }

    #[test]
    fn an_attribute_has_one_type_in_a_table() {
        let facets = &model()["DataModel"][0]["TableFacets"];
        assert_eq!(facets[0]["TableData"][0]["level"], json!({ "N": "3" }));
        assert_eq!(facets[1]["TableData"][0].get("level"), None);
        assert_eq!(facets[1]["NonKeyAttributes"], json!(["list", "media", "scores", "type"]));
    }

    #[test]
    fn the_table_lists_keys_indexes_and_every_attribute_once() {
        let model = model();
        assert_eq!(model["ModelName"], "Roundtable");
        let table = &model["DataModel"][0];
        assert_eq!(table["TableName"], "gg_core");
        assert_eq!(
            table["KeyAttributes"]["SortKey"],
            json!({ "AttributeName": "SK", "AttributeType": "S" })
        );
        let indexes = table["GlobalSecondaryIndexes"].as_array().unwrap();
        let names: Vec<_> = indexes.iter().map(|index| &index["IndexName"]).collect();
        assert_eq!(names, ["GSI1", "GSI2", "GSI3"]);
        assert_eq!(indexes[0]["KeyAttributes"]["PartitionKey"]["AttributeName"], "GSI1PK");
        assert_eq!(indexes[0]["Projection"]["ProjectionType"], "ALL");
        let attributes = table["NonKeyAttributes"].as_array().unwrap();
        let typed: Vec<_> = attributes
            .iter()
            .map(|each| format!("{}:{}", each["AttributeName"], each["AttributeType"]))
            .collect();
        for key in [r#""GSI3SK":"S""#, r#""level":"N""#, r#""tags":"SS""#, r#""media":"M""#] {
            assert_eq!(typed.iter().filter(|each| *each == key).count(), 1, "{key} in {typed:?}");
        }
        assert!(typed.iter().all(|each| !each.starts_with("\"PK\"")));
        assert_eq!(table["BillingMode"], "PAY_PER_REQUEST");
    }
}
