//! Single items: of a type of the table, readable, and under their own key (I3).

use roundtable_model::entities::{Invitation, Like, Session};
use roundtable_model::table::{Attributes, Item, Put, Value};
use roundtable_model::{Entity, samples};

use crate::town::{Town, follow, like, lines, read};

fn moved(item: &Item, partition: &str, sort: &str) -> Put {
    Put::new(item.with("PK", partition).with("SK", sort))
}

#[tokio::test]
async fn an_item_of_another_type_is_found_and_left() {
    let town = Town::new().await;
    let unknown: Attributes = [("PK", "POST#p9"), ("SK", "LIKE#ana"), ("type", "Lyke")]
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .into();
    town.core().put(Put::new(unknown)).await.unwrap();
    // A follow where a like should be, without its index keys.
    let stray: Item = follow("ana", "bo").item();
    let stray: Item =
        stray.iter().filter(|(name, _)| !name.starts_with("GSI")).map(owned).collect();
    town.core().put(moved(&stray, "POST#p9", "LIKE#bo")).await.unwrap();
    // A like that lacks what a like has.
    let torn: Item = like("bo").item();
    let torn: Item = torn.iter().filter(|(name, _)| *name != "likeType").map(owned).collect();
    town.core().put(Put::new(torn)).await.unwrap();
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        [
            "I3 POST#p1 / LIKE#bo: expected Like with LikeType in likeType; found nothing",
            "I3 POST#p9 / LIKE#ana: expected an entity of this table; found an item of type \"Lyke\"",
            "I3 POST#p9 / LIKE#bo: expected Follow at USER#ana / FOLLOWING#bo; \
             found it under this key, where no query looks for it",
        ]
    );
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!((repaired.repaired_count, repaired.unrepaired.len()), (0, 3));
    assert!(
        repaired
            .unrepaired
            .iter()
            .all(|left| left.finding.unrepairable_reason() == Some(&*left.reason))
    );
}

fn owned((name, value): (&str, roundtable_model::table::ValueRef<'_>)) -> (String, Value) {
    (name.to_owned(), value.to_value())
}

/// Versions that did not list invitations wrote them without an index key.
#[tokio::test]
async fn an_invitation_need_not_be_listed() {
    let town = Town::new().await;
    let before = Invitation { listed_for: None, ..samples::invitation() };
    assert!(before.index_keys().iter().all(Option::is_none));
    town.put(&before).await;
    assert!(lines(&town.check().await).is_empty());
}

#[tokio::test]
async fn entities_of_another_table_are_found() {
    let town = Town::new().await;
    let session = Session { user_id: read("ana"), ..samples::session() };
    town.ops().put(Put::new(session.item().with("ttl", u64::MAX))).await.unwrap();
    town.ops().put(samples::job().put()).await.unwrap();
    let lease: Attributes = [("PK", "LEASES#counters#gg_core"), ("SK", "SHARD#log")]
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .into();
    town.ops().put(Put::new(lease)).await.unwrap();
    town.tables.logins.table().put(Put::new(like("ana").item())).await.unwrap();
    let report = town.check().await;
    let found = lines(&report);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].ends_with("expected an entity of this table; found an item of type \"Like\""));
    assert!(found[1].ends_with("found an item of type \"Session\""), "{found:?}");
    assert!(report.notes.iter().any(|note| note == "pending jobs: 1"), "{report:?}");
}

/// A fact that no query finds does not count, so the counters are right without it.
#[tokio::test]
async fn a_stray_fact_does_not_count() {
    let town = Town::new().await;
    let stray: Like = like("bo");
    town.core().put(moved(&stray.item(), "POST#p1", "LIKE#dora")).await.unwrap();
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        ["I3 POST#p1 / LIKE#dora: expected Like at POST#p1 / LIKE#bo; \
          found it under this key, where no query looks for it"]
    );
}
