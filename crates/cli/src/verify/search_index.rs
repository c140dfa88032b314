//! Compares the search index of an embedded store with its table.

use roundtable_domain::Context;
use roundtable_search::{IndexComparison, IndexLocation, IndexSettings, Indexer, compare};

/// Returns the documents that differ. With `catches_up`, the index reads the stream to its end first, as a
/// server has it do. An index that does not exist, or cannot be used, is built by the next server.
pub(super) async fn compare_index(
    context: Context,
    location: IndexLocation,
    catches_up: bool,
) -> Result<Vec<(String, String)>, String> {
    let table = context.core().table().clone();
    let comparison = async || compare(&location, &table).await.map_err(|error| error.to_string());
    let (mut compared, _) = comparison().await?;
    if catches_up && compared != IndexComparison::Missing {
        let settings = IndexSettings::default();
        let mut indexer = Indexer::of_stream(context.clone(), location.clone(), settings);
        indexer.catch_up().await.map_err(|error| error.to_string())?;
        drop(indexer);
        (compared, _) = comparison().await?;
    }
    Ok(match compared {
        IndexComparison::Missing => Vec::new(),
        IndexComparison::Compared { differences, .. } => {
            let each = differences.into_iter();
            each.map(|it| (format!("search index: {}", it.key), it.problem.to_owned())).collect()
        }
    })
}
