//! The comparison of index and table.

use roundtable_model::table::Put;
use roundtable_model::{Entity as _, samples};
use roundtable_search::{IndexComparison, IndexDifference, IndexLocation, compare};

use super::{indexer, town};

/// R58: `verify` compares index and table.
#[tokio::test]
async fn index_and_table_are_compared() {
    let (town, directory) = (town().await, tempfile::tempdir().unwrap());
    let location = IndexLocation::Directory(directory.path().to_owned());
    let table = town.context().core().table();
    let compared = async || compare(&location, table).await.unwrap().0;
    assert_eq!(compared().await, IndexComparison::Missing);
    for n in 0..30 {
        town.post("ana", &format!("stork {n} #bird")).await;
    }
    let mut index = indexer(&town, directory.path());
    index.catch_up().await.unwrap();
    drop(index);
    let IndexComparison::Compared { documents, differences } = compared().await else { panic!() };
    assert_eq!((documents, differences), (5 + 30 + 30, Vec::new()));
    let changed = town.post("ana", "stork").await;
    table.put(Put::new(samples::goal().item())).await.unwrap();
    let IndexComparison::Compared { differences, .. } = compared().await else { panic!() };
    let missing = |key: String| IndexDifference { key, problem: "is not indexed" };
    let goal = samples::goal();
    let mut expected = vec![
        missing(format!("Goal#{}#{}", goal.user_id, goal.id)),
        missing(format!("Post#{}", changed.id)),
    ];
    expected.sort_by(|one, other| one.key.cmp(&other.key));
    let mut found = differences;
    found.sort_by(|one, other| one.key.cmp(&other.key));
    assert_eq!(found, expected);
}
