//! Reading a table's stream. DynamoDB reads by iterators that go stale; the contract reads by
//! sequence. Iterators are remembered under the place they stand for, so that reading on is one
//! request.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use aws_sdk_dynamodbstreams::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodbstreams::operation::get_records::{GetRecordsError, GetRecordsOutput};
use aws_sdk_dynamodbstreams::types::{Record, ShardIteratorType};
use parking_lot::Mutex;
use roundtable_table::{
    Change, Error, Result, Sequence, Shard, StreamPage, StreamRead, StreamStart, TableDefinition,
};

use crate::Dynamo;
use crate::errors::{code, code_of, refusal};
use crate::retry::deadline;
use crate::shards::in_order;
use crate::values::from_stream;

/// Who removes items whose time is over.
const SWEEPER: &str = "dynamodb.amazonaws.com";
/// DynamoDB takes no shorter sequence numbers, and DynamoDB Local pads its own.
const SEQUENCE_DIGITS_MIN: usize = 21;
/// Empty answers are normal also where changes follow: so many are passed over at a new place.
const EMPTY_MAX: usize = 4;

/// A place in a shard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    arn: String,
    shard: String,
    start: Start,
}

/// Where in the shard: [`StreamStart`], as a key of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Start {
    Oldest,
    Latest,
    After(Sequence),
}

impl Start {
    /// The sequence it stands after, if it does.
    fn sequence(&self) -> Option<Sequence> {
        match self {
            Self::After(sequence) => Some(sequence.clone()),
            Self::Oldest | Self::Latest => None,
        }
    }
}

/// What is remembered of streams: their names, and iterators.
#[derive(Debug, Default)]
pub(crate) struct StreamMemory {
    arns: Mutex<HashMap<String, String>>,
    iterators: Mutex<HashMap<Place, (String, Instant)>>,
}

impl StreamMemory {
    /// DynamoDB forgets an iterator after fifteen minutes.
    const ITERATOR_LIFETIME: Duration = Duration::from_mins(14);
    /// "Latest" moves on: a later reader must not get what came long before it asked.
    const LATEST_LIFETIME: Duration = Duration::from_mins(1);
    /// Above this many, those out of date are dropped.
    const MANY: usize = 1_000;

    /// Forgets a table's stream: one made again under the same name has another.
    pub(crate) fn forget(&self, table: &str) {
        if let Some(arn) = self.arns.lock().remove(table) {
            self.iterators.lock().retain(|place, _| place.arn != arn);
        }
    }

    fn iterator(&self, place: &Place) -> Option<String> {
        let iterators = self.iterators.lock();
        let (iterator, kept) = iterators.get(place)?;
        (kept.elapsed() < Self::lifetime(place)).then(|| iterator.clone())
    }

    fn keep(&self, place: Place, iterator: String) {
        let mut iterators = self.iterators.lock();
        if iterators.len() >= Self::MANY {
            iterators.retain(|place, (_, kept)| kept.elapsed() < Self::lifetime(place));
        }
        iterators.insert(place, (iterator, Instant::now()));
    }

    fn drop_iterator(&self, place: &Place) {
        self.iterators.lock().remove(place);
    }

    const fn lifetime(place: &Place) -> Duration {
        match place.start {
            Start::Latest => Self::LATEST_LIFETIME,
            _ => Self::ITERATOR_LIFETIME,
        }
    }
}

impl Dynamo {
    pub(crate) async fn shards_of(&self, table: &TableDefinition) -> Result<Vec<Shard>> {
        // A stream outlives its table by a day. Whoever lists shards wants those of the table that
        // is there now, which another process may have made again.
        let known = self.streams.arns.lock().get(&table.name).cloned();
        let arn = self.find_stream(table).await?;
        if known.is_some_and(|known| known != arn) {
            self.streams.forget(&table.name);
        }
        self.streams.arns.lock().insert(table.name.clone(), arn.clone());
        let mut listed = Vec::new();
        let mut after = None;
        loop {
            let request = self.stream_client.describe_stream().stream_arn(&arn);
            let answer = request.set_exclusive_start_shard_id(after).send().await;
            let answer = answer.map_err(|error| refusal(&error, &table.name))?;
            let Some(stream) = answer.stream_description else { break };
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
        let place = Place {
            arn: self.stream_arn(table).await?,
            shard: read.shard.clone(),
            start: match &read.start {
                StreamStart::Oldest => Start::Oldest,
                StreamStart::Latest => Start::Latest,
                StreamStart::After(sequence) => Start::After(sequence.clone()),
            },
        };
        let deadline = deadline(read.wait);
        let known = self.streams.iterator(&place);
        let mut may_refresh = known.is_some();
        let mut empty_left = if known.is_some() { 1 } else { EMPTY_MAX };
        let mut iterator = match known {
            Some(iterator) => iterator,
            None => self.new_iterator(table, &place).await?,
        };
        loop {
            let answer = match self.records(&iterator, read.limit).await {
                Ok(answer) => answer,
                Err(error) if may_refresh && outdated(&error) => {
                    may_refresh = false;
                    iterator = self.new_iterator(table, &place).await?;
                    continue;
                }
                Err(error) => return Err(self.refused(&error, table, &place)),
            };
            let next = match (&answer.next_shard_iterator, answer.records()) {
                (Some(next), []) => next.clone(),
                _ => return self.stream_page(table, read, place, iterator, answer),
            };
            iterator = next;
            empty_left = empty_left.saturating_sub(1);
            if empty_left > 0 {
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let next = place.start.sequence();
                self.streams.keep(place, iterator);
                return Ok(StreamPage { next, ..StreamPage::default() });
            }
            tokio::time::sleep(left.min(self.config.stream_poll)).await;
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

    async fn new_iterator(&self, table: &TableDefinition, place: &Place) -> Result<String> {
        let request =
            self.stream_client.get_shard_iterator().stream_arn(&place.arn).shard_id(&place.shard);
        let request = match &place.start {
            Start::Oldest => request.shard_iterator_type(ShardIteratorType::TrimHorizon),
            Start::Latest => request.shard_iterator_type(ShardIteratorType::Latest),
            Start::After(sequence) => request
                .shard_iterator_type(ShardIteratorType::AfterSequenceNumber)
                .sequence_number(format!("{:0>SEQUENCE_DIGITS_MIN$}", sequence.trimmed())),
        };
        let answer = request.send().await.map_err(|error| self.refused(&error, table, place))?;
        answer.shard_iterator.ok_or_else(|| Error::Unexpected {
            detail: format!("no iterator for shard {:?}", place.shard),
        })
    }

    /// An answer that has changes, or ends its shard, as a page.
    fn stream_page(
        &self,
        table: &TableDefinition,
        read: &StreamRead,
        place: Place,
        used: String,
        answer: GetRecordsOutput,
    ) -> Result<StreamPage> {
        let mut page = StreamPage {
            next: place.start.sequence(),
            ended: answer.next_shard_iterator.is_none(),
            ..StreamPage::default()
        };
        for record in answer.records.unwrap_or_default() {
            let change = to_change(table, record)?;
            page.next = Some(change.sequence.clone());
            // Servers other than Amazon's may tell of writes that changed nothing.
            if change.old == change.new {
                continue;
            }
            page.evaluated += 1;
            if read.wants(change.old.as_ref(), change.new.as_ref()) {
                page.changes.push(change);
            }
        }
        if let (Some(iterator), Some(last)) = (answer.next_shard_iterator, &page.next) {
            self.streams
                .keep(Place { start: Start::After(last.clone()), ..place.clone() }, iterator);
        }
        if place.start == Start::Latest {
            // Another reader of the latest changes may not have seen these yet.
            self.streams.keep(place, used);
        } else if place.start.sequence() != page.next {
            self.streams.drop_iterator(&place);
        }
        Ok(page)
    }

    fn refused<E, R>(&self, error: &SdkError<E, R>, table: &TableDefinition, place: &Place) -> Error
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        R: std::fmt::Debug,
    {
        let after = match &place.start {
            Start::After(sequence) => sequence.to_string(),
            Start::Oldest | Start::Latest => format!("the beginning of shard {:?}", place.shard),
        };
        match code_of(error) {
            Some(code::TRIMMED) => Error::StreamTrimmed { table: table.name.clone(), after },
            // "Invalid SequenceNumber for the shard": it never held it.
            Some(code::VALIDATION) if matches!(place.start, Start::After(_)) => {
                Error::StreamTrimmed { table: table.name.clone(), after }
            }
            Some(code::TABLE_MISSING) => {
                // The shard is gone, or the table was made again and has another stream.
                self.streams.forget(&table.name);
                Error::StreamTrimmed { table: table.name.clone(), after }
            }
            _ => refusal(error, &table.name),
        }
    }
}

fn outdated<R>(error: &SdkError<GetRecordsError, R>) -> bool {
    matches!(code_of(error), Some(code::ITERATOR_EXPIRED | code::TRIMMED))
}

fn to_change(table: &TableDefinition, record: Record) -> Result<Change> {
    let unexpected = |what: &str| Error::Unexpected {
        detail: format!("a change of {:?} without {what}", table.name),
    };
    let who = record.user_identity.as_ref().and_then(|who| who.principal_id.as_deref());
    let swept = who == Some(SWEEPER);
    let record = record.dynamodb.ok_or_else(|| unexpected("content"))?;
    let sequence = record.sequence_number.ok_or_else(|| unexpected("a sequence number"))?;
    let at_ms = record.approximate_creation_date_time.and_then(|at| at.to_millis().ok());
    let keys = from_stream(record.keys.unwrap_or_default())?;
    let image = |wire: Option<HashMap<_, _>>| {
        wire.filter(|wire| !wire.is_empty()).map(from_stream).transpose()
    };
    let at_ms = at_ms.and_then(|ms| u64::try_from(ms).ok()).unwrap_or(0);
    let (old, new) = (image(record.old_image)?, image(record.new_image)?);
    // Writes that begin anew take an expired item away before DynamoDB does.
    let over = old.as_ref().is_some_and(|old| table.is_expired(old, at_ms / 1000));
    Ok(Change {
        sequence: Sequence::parse(&sequence)?,
        at_ms,
        key: table.key.read(&keys).ok_or_else(|| unexpected("its key"))?,
        expired: new.is_none() && (swept || over),
        old,
        new,
    })
}
