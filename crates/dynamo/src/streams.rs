//! Reads a table's stream. DynamoDB reads by iterators that expire; the contract reads by sequence.
//! Iterators are cached by their position, so that the next read takes one request.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use aws_sdk_dynamodbstreams::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodbstreams::operation::get_records::{GetRecordsError, GetRecordsOutput};
use aws_sdk_dynamodbstreams::types::{Record, ShardIteratorType};
use parking_lot::Mutex;
use roundtable_table::{
    Change, Error, Result, Sequence, ShardInfo, StreamPage, StreamRead, StreamStart,
    TableDefinition,
};

use crate::Dynamo;
use crate::errors::{code, code_of, to_error};
use crate::retry::deadline;
use crate::shards::in_order;
use crate::values::from_stream;

/// The principal that removes expired items.
const SWEEPER: &str = "dynamodb.amazonaws.com";
/// DynamoDB accepts no shorter sequence numbers, and DynamoDB Local pads its own.
const SEQUENCE_DIGITS_MIN: usize = 21;
/// Empty responses to skip at a new position: they are normal even if changes follow.
const EMPTY_MAX: usize = 4;

/// A position in a shard, as a cache key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct IteratorPosition {
    arn: String,
    shard: String,
    start: IteratorStart,
}

/// [`StreamStart`] as part of a cache key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum IteratorStart {
    Oldest,
    Latest,
    After(Sequence),
}

impl IteratorStart {
    /// Returns the sequence after which to start, if there is one.
    fn sequence(&self) -> Option<Sequence> {
        match self {
            Self::After(sequence) => Some(sequence.clone()),
            Self::Oldest | Self::Latest => None,
        }
    }
}

/// Caches stream ARNs by table, and iterators by position.
#[derive(Debug, Default)]
pub(crate) struct StreamCache {
    arns: Mutex<HashMap<String, String>>,
    iterators: Mutex<HashMap<IteratorPosition, (String, Instant)>>,
}

impl StreamCache {
    /// DynamoDB's iterators expire after fifteen minutes.
    const ITERATOR_LIFETIME: Duration = Duration::from_mins(14);
    /// "Latest" moves on: a later reader must not get changes from long before its request.
    const LATEST_LIFETIME: Duration = Duration::from_mins(1);
    /// Above this many entries, expired iterators are removed.
    const PRUNE_ABOVE: usize = 1_000;

    /// Removes a table's stream: a new table of the same name has another.
    pub(crate) fn forget(&self, table: &str) {
        if let Some(arn) = self.arns.lock().remove(table) {
            self.iterators.lock().retain(|position, _| position.arn != arn);
        }
    }

    fn iterator(&self, position: &IteratorPosition) -> Option<String> {
        let iterators = self.iterators.lock();
        let (iterator, cached_at) = iterators.get(position)?;
        (cached_at.elapsed() < Self::lifetime(position)).then(|| iterator.clone())
    }

    fn insert(&self, position: IteratorPosition, iterator: String) {
        let mut iterators = self.iterators.lock();
        if iterators.len() >= Self::PRUNE_ABOVE {
            iterators
                .retain(|position, (_, cached_at)| cached_at.elapsed() < Self::lifetime(position));
        }
        iterators.insert(position, (iterator, Instant::now()));
    }

    fn drop_iterator(&self, position: &IteratorPosition) {
        self.iterators.lock().remove(position);
    }

    const fn lifetime(position: &IteratorPosition) -> Duration {
        match position.start {
            IteratorStart::Latest => Self::LATEST_LIFETIME,
            _ => Self::ITERATOR_LIFETIME,
        }
    }
}

impl Dynamo {
    pub(crate) async fn shards_of(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>> {
        // A stream outlives its table by a day. The shards must be those of the current table,
        // which another process may have created again.
        let cached = self.streams.arns.lock().get(&table.name).cloned();
        let arn = self.find_stream(table).await?;
        if cached.is_some_and(|cached| cached != arn) {
            self.streams.forget(&table.name);
        }
        self.streams.arns.lock().insert(table.name.clone(), arn.clone());
        let mut listed = Vec::new();
        let mut after = None;
        loop {
            let request = self.stream_client.describe_stream().stream_arn(&arn);
            let response = request.set_exclusive_start_shard_id(after).send().await;
            let response = response.map_err(|error| to_error(&error, &table.name))?;
            let Some(stream) = response.stream_description else { break };
            listed.extend(stream.shards.unwrap_or_default());
            after = stream.last_evaluated_shard_id;
            if after.is_none() {
                break;
            }
        }
        Ok(in_order(listed))
    }

    async fn find_stream(&self, table: &TableDefinition) -> Result<String> {
        let arn = self.description(&table.name).await?.latest_stream_arn;
        arn.ok_or_else(|| Error::Unexpected {
            detail: format!("table {:?} has no stream", table.name),
        })
    }

    async fn stream_arn(&self, table: &TableDefinition) -> Result<String> {
        if let Some(arn) = self.streams.arns.lock().get(&table.name) {
            return Ok(arn.clone());
        }
        let arn = self.find_stream(table).await?;
        self.streams.arns.lock().insert(table.name.clone(), arn.clone());
        Ok(arn)
    }

    pub(crate) async fn read_shard(
        &self,
        table: &TableDefinition,
        read: &StreamRead,
    ) -> Result<StreamPage> {
        let position = IteratorPosition {
            arn: self.stream_arn(table).await?,
            shard: read.shard.clone(),
            start: match &read.start {
                StreamStart::Oldest => IteratorStart::Oldest,
                StreamStart::Latest => IteratorStart::Latest,
                StreamStart::After(sequence) => IteratorStart::After(sequence.clone()),
            },
        };
        let deadline = deadline(read.wait);
        let cached = self.streams.iterator(&position);
        let mut may_refresh = cached.is_some();
        let mut empty_left = if cached.is_some() { 1 } else { EMPTY_MAX };
        let mut iterator = match cached {
            Some(iterator) => iterator,
            None => self.new_iterator(table, &position).await?,
        };
        loop {
            let response = match self.records(&iterator, read.limit).await {
                Ok(response) => response,
                Err(error) if may_refresh && is_outdated(&error) => {
                    may_refresh = false;
                    iterator = self.new_iterator(table, &position).await?;
                    continue;
                }
                Err(error) => return Err(self.to_stream_error(&error, table, &position)),
            };
            let next = match (&response.next_shard_iterator, response.records()) {
                (Some(next), []) => next.clone(),
                _ => return self.stream_page(table, read, position, iterator, response),
            };
            iterator = next;
            empty_left = empty_left.saturating_sub(1);
            if empty_left > 0 {
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let next = position.start.sequence();
                self.streams.insert(position, iterator);
                return Ok(StreamPage { next, ..StreamPage::default() });
            }
            tokio::time::sleep(left.min(self.config.stream_poll_interval)).await;
        }
    }

    async fn records(
        &self,
        iterator: &str,
        limit: usize,
    ) -> Result<GetRecordsOutput, SdkError<GetRecordsError>> {
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        self.stream_client.get_records().shard_iterator(iterator).limit(limit).send().await
    }

    async fn new_iterator(
        &self,
        table: &TableDefinition,
        position: &IteratorPosition,
    ) -> Result<String> {
        let request = self
            .stream_client
            .get_shard_iterator()
            .stream_arn(&position.arn)
            .shard_id(&position.shard);
        let request = match &position.start {
            IteratorStart::Oldest => request.shard_iterator_type(ShardIteratorType::TrimHorizon),
            IteratorStart::Latest => request.shard_iterator_type(ShardIteratorType::Latest),
            IteratorStart::After(sequence) => request
                .shard_iterator_type(ShardIteratorType::AfterSequenceNumber)
                .sequence_number(format!("{:0>SEQUENCE_DIGITS_MIN$}", sequence.trimmed())),
        };
        let response =
            request.send().await.map_err(|error| self.to_stream_error(&error, table, position))?;
        response.shard_iterator.ok_or_else(|| Error::Unexpected {
            detail: format!("no iterator for shard {:?}", position.shard),
        })
    }

    /// Converts a response that has changes, or ends its shard.
    fn stream_page(
        &self,
        table: &TableDefinition,
        read: &StreamRead,
        position: IteratorPosition,
        used: String,
        response: GetRecordsOutput,
    ) -> Result<StreamPage> {
        let mut page = StreamPage {
            next: position.start.sequence(),
            ended: response.next_shard_iterator.is_none(),
            ..StreamPage::default()
        };
        for record in response.records.unwrap_or_default() {
            let change = to_change(table, record)?;
            page.next = Some(change.sequence.clone());
            // Servers other than Amazon's may report writes that changed nothing.
            if change.old == change.new {
                continue;
            }
            page.evaluated += 1;
            if read.matches(change.old.as_ref(), change.new.as_ref()) {
                page.changes.push(change);
            }
        }
        if let (Some(iterator), Some(last)) = (response.next_shard_iterator, &page.next) {
            self.streams.insert(
                IteratorPosition { start: IteratorStart::After(last.clone()), ..position.clone() },
                iterator,
            );
        }
        if position.start == IteratorStart::Latest {
            // Another reader of the latest changes may not have seen these yet.
            self.streams.insert(position, used);
        } else if position.start.sequence() != page.next {
            self.streams.drop_iterator(&position);
        }
        Ok(page)
    }

    fn to_stream_error<E, R>(
        &self,
        error: &SdkError<E, R>,
        table: &TableDefinition,
        position: &IteratorPosition,
    ) -> Error
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        R: std::fmt::Debug,
    {
        let after = match &position.start {
            IteratorStart::After(sequence) => sequence.to_string(),
            IteratorStart::Oldest | IteratorStart::Latest => {
                format!("the beginning of shard {:?}", position.shard)
            }
        };
        match code_of(error) {
            Some(code::TRIMMED) => Error::StreamTrimmed { table: table.name.clone(), after },
            // "Invalid SequenceNumber for the shard": the shard never held it.
            Some(code::VALIDATION) if matches!(position.start, IteratorStart::After(_)) => {
                Error::StreamTrimmed { table: table.name.clone(), after }
            }
            Some(code::TABLE_MISSING) => {
                // The shard is gone, or the table was created again and has another stream.
                self.streams.forget(&table.name);
                Error::StreamTrimmed { table: table.name.clone(), after }
            }
            _ => to_error(error, &table.name),
        }
    }
}

fn is_outdated<R>(error: &SdkError<GetRecordsError, R>) -> bool {
    matches!(code_of(error), Some(code::ITERATOR_EXPIRED | code::TRIMMED))
}

fn to_change(table: &TableDefinition, record: Record) -> Result<Change> {
    let unexpected = |what: &str| Error::Unexpected {
        detail: format!("a change of {:?} without {what}", table.name),
    };
    let principal = record.user_identity.as_ref().and_then(|user| user.principal_id.as_deref());
    let swept = principal == Some(SWEEPER);
    let record = record.dynamodb.ok_or_else(|| unexpected("content"))?;
    let sequence = record.sequence_number.ok_or_else(|| unexpected("a sequence number"))?;
    let at_ms = record.approximate_creation_date_time.and_then(|at| at.to_millis().ok());
    let keys = from_stream(record.keys.unwrap_or_default())?;
    let image = |wire: Option<HashMap<_, _>>| {
        wire.filter(|wire| !wire.is_empty()).map(from_stream).transpose()
    };
    let at_ms = at_ms.and_then(|ms| u64::try_from(ms).ok()).unwrap_or(0);
    let (old, new) = (image(record.old_image)?, image(record.new_image)?);
    // Puts and updates delete an expired item before DynamoDB does.
    let was_expired = old.as_ref().is_some_and(|old| table.is_expired(old, at_ms / 1000));
    Ok(Change {
        sequence: Sequence::parse(&sequence)?,
        at_ms,
        key: table.key.read(&keys).ok_or_else(|| unexpected("its key"))?,
        expired: new.is_none() && (swept || was_expired),
        old,
        new,
    })
}
