//! Pages of queries and scans. Expired items are looked at by DynamoDB but not by the caller, so a
//! page is read on until it holds as many live ones as were asked for.

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use roundtable_table::{
    Capacity, Condition, Item, Order, Page, Path, Position, Query, Result, Scalar, Scan, SortRange,
    TableDefinition,
};

use crate::errors::refusal;
use crate::expiry::expired;
use crate::expression::Expressions;
use crate::values::{Wire, from_wire, position_from_wire, position_to_wire};
use crate::view::View;
use crate::{Dynamo, cost};

/// How many requests one page may take: behind thousands of expired items it ends early.
const REQUESTS_MAX: usize = 32;

/// One reading of a table or index, page by page.
pub(crate) struct Reading<'a> {
    pub(crate) table: &'a TableDefinition,
    pub(crate) index: Option<&'a str>,
    pub(crate) source: Source<'a>,
    pub(crate) filter: Option<&'a Condition>,
    pub(crate) view: View,
    pub(crate) strong: bool,
}

/// What is read.
pub(crate) enum Source<'a> {
    Partition { partition: &'a Scalar, range: &'a SortRange, order: Order },
    Everything { segment: Option<(u32, u32)> },
}

/// One answer of DynamoDB, expired items left out.
pub(crate) struct Piece {
    /// As fetched, not yet cut to what the caller asked for.
    pub(crate) items: Vec<Item>,
    /// How many live items were looked at.
    pub(crate) evaluated: usize,
    /// How many items DynamoDB looked at.
    pub(crate) scanned: usize,
    /// Where it ended, if there may be more.
    pub(crate) last: Option<Wire>,
    pub(crate) capacity: Capacity,
}

/// The common part of both answers.
struct Answer {
    items: Vec<Wire>,
    scanned: i32,
    last: Option<Wire>,
    capacity: Capacity,
}

impl Dynamo {
    pub(crate) async fn query_page(&self, table: &TableDefinition, query: &Query) -> Result<Page> {
        let source = Source::Partition {
            partition: &query.partition,
            range: &query.sort,
            order: query.order,
        };
        let reading = Reading {
            table,
            index: query.index.as_deref(),
            source,
            filter: query.filter.as_ref(),
            view: view(table, query.index.as_deref(), &query.projection),
            strong: query.strong,
        };
        self.fill(&reading, query.limit, query.start.as_ref()).await
    }

    pub(crate) async fn scan_page(&self, table: &TableDefinition, scan: &Scan) -> Result<Page> {
        let reading = Reading {
            table,
            index: scan.index.as_deref(),
            source: Source::Everything { segment: scan.segment },
            filter: scan.filter.as_ref(),
            view: view(table, scan.index.as_deref(), &scan.projection),
            strong: scan.strong,
        };
        self.fill(&reading, scan.limit, scan.start.as_ref()).await
    }

    async fn fill(
        &self,
        reading: &Reading<'_>,
        limit: Option<usize>,
        start: Option<&Position>,
    ) -> Result<Page> {
        let (table, index) = (reading.table, reading.index);
        let start = start.map(|at| position_to_wire(table, index, at)).transpose()?;
        let mut page = nothing();
        let mut last = start;
        for _ in 0..REQUESTS_MAX {
            let wanted = limit.map(|limit| limit - page.evaluated);
            let piece = self.piece(reading, wanted, last).await?;
            page.items.extend(piece.items.into_iter().map(|item| reading.view.show(item)));
            page.evaluated += piece.evaluated;
            page.capacity += piece.capacity;
            last = piece.last;
            // An answer with fewer than asked for is as large as a page may be.
            let full = wanted.is_none_or(|wanted| piece.evaluated >= wanted);
            let cut = wanted.is_some_and(|wanted| piece.scanned < wanted);
            if last.is_none() || full || cut {
                break;
            }
        }
        page.next = last.map(|last| position_from_wire(table, index, last)).transpose()?;
        Ok(page)
    }

    /// Asks DynamoDB once.
    pub(crate) async fn piece(
        &self,
        reading: &Reading<'_>,
        limit: Option<usize>,
        start: Option<Wire>,
    ) -> Result<Piece> {
        let now = self.now_seconds();
        let limit = limit.map(|limit| i32::try_from(limit).unwrap_or(i32::MAX));
        let answer = match &reading.source {
            Source::Partition { partition, range, order } => {
                self.ask_partition(reading, (partition, range, *order), limit, start, now).await?
            }
            Source::Everything { segment } => {
                self.ask_everything(reading, *segment, limit, start, now).await?
            }
        };
        let scanned = usize::try_from(answer.scanned).unwrap_or(0).max(answer.items.len());
        let fetched = answer.items.len();
        let mut items = Vec::with_capacity(fetched);
        for wire in answer.items {
            let item = from_wire(wire)?;
            if !reading.table.is_expired(&item, now) {
                items.push(item);
            }
        }
        let evaluated = scanned - (fetched - items.len());
        Ok(Piece { items, evaluated, scanned, last: answer.last, capacity: answer.capacity })
    }

    async fn ask_partition(
        &self,
        reading: &Reading<'_>,
        (partition, range, order): (&Scalar, &SortRange, Order),
        limit: Option<i32>,
        start: Option<Wire>,
        now: u64,
    ) -> Result<Answer> {
        let mut expressions = Expressions::default();
        let key = reading.table.key_of(reading.index)?;
        let answer = self
            .client
            .query()
            .table_name(&reading.table.name)
            .set_index_name(reading.index.map(str::to_owned))
            .key_condition_expression(expressions.key_condition(key, partition, range))
            .set_filter_expression(reading.filter(&mut expressions, now))
            .set_projection_expression(expressions.projection(&reading.view.asked))
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .scan_index_forward(order == Order::Ascending)
            .consistent_read(reading.strong)
            .set_limit(limit)
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| refusal(&error, &reading.table.name))?;
        Ok(Answer {
            items: answer.items.unwrap_or_default(),
            scanned: answer.scanned_count,
            last: answer.last_evaluated_key.filter(|last| !last.is_empty()),
            capacity: cost::read(&answer.consumed_capacity),
        })
    }

    async fn ask_everything(
        &self,
        reading: &Reading<'_>,
        segment: Option<(u32, u32)>,
        limit: Option<i32>,
        start: Option<Wire>,
        now: u64,
    ) -> Result<Answer> {
        let mut expressions = Expressions::default();
        let segment = segment.map(|(segment, total)| (segment.cast_signed(), total.cast_signed()));
        let answer = self
            .client
            .scan()
            .table_name(&reading.table.name)
            .set_index_name(reading.index.map(str::to_owned))
            .set_filter_expression(reading.filter(&mut expressions, now))
            .set_projection_expression(expressions.projection(&reading.view.asked))
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .consistent_read(reading.strong)
            .set_segment(segment.map(|(segment, _)| segment))
            .set_total_segments(segment.map(|(_, total)| total))
            .set_limit(limit)
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| refusal(&error, &reading.table.name))?;
        Ok(Answer {
            items: answer.items.unwrap_or_default(),
            scanned: answer.scanned_count,
            last: answer.last_evaluated_key.filter(|last| !last.is_empty()),
            capacity: cost::read(&answer.consumed_capacity),
        })
    }
}

impl Reading<'_> {
    /// The filter as DynamoDB gets it: expired items pass, so that they can be counted, and are
    /// dropped here. A query cannot filter on its own key; where that is the ttl, expired items
    /// that the filter leaves out count as looked at.
    fn filter(&self, expressions: &mut Expressions, now: u64) -> Option<String> {
        let filter = self.filter?;
        let key = self.table.key_of(self.index).ok()?;
        let ttl = self.table.ttl.as_deref().filter(|ttl| !key.names(ttl));
        let seen = match ttl.and_then(|_| expired(self.table, now)) {
            Some(expired) => Condition::Any(vec![expired, filter.clone()]),
            None => filter.clone(),
        };
        expressions.condition(&seen)
    }
}

fn view(table: &TableDefinition, index: Option<&str>, projection: &[Path]) -> View {
    View::new(table, index, projection, false)
}

const fn nothing() -> Page {
    Page { items: Vec::new(), next: None, evaluated: 0, capacity: Capacity::ZERO }
}
