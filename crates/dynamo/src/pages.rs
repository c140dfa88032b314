//! Pages of queries and scans. DynamoDB counts expired items and the caller does not, so a page is
//! filled by further requests until it has as many live items as requested.

use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use roundtable_table::{
    Capacity, Condition, Item, ItemPage, Order, Path, Position, Query, Result, Scalar, Scan,
    SortRange, TableDefinition,
};

use crate::errors::to_error;
use crate::expiry::expired;
use crate::expression::Expressions;
use crate::read_projection::ReadProjection;
use crate::values::{WireItem, from_wire, position_from_wire, position_to_wire};
use crate::{Dynamo, cost};

/// Most requests per page: among thousands of expired items it ends early.
const REQUESTS_MAX: usize = 32;

/// A query or scan of a table or index.
pub(crate) struct PageRequest<'a> {
    pub(crate) table: &'a TableDefinition,
    pub(crate) index: Option<&'a str>,
    pub(crate) source: PageSource<'a>,
    pub(crate) filter: Option<&'a Condition>,
    pub(crate) projection: ReadProjection,
    pub(crate) strong: bool,
}

pub(crate) enum PageSource<'a> {
    Partition { partition: &'a Scalar, range: &'a SortRange, order: Order },
    Everything { segment: Option<(u32, u32)> },
}

/// One response of DynamoDB without its expired items.
pub(crate) struct PageChunk {
    /// As fetched, not yet projected.
    pub(crate) items: Vec<Item>,
    /// Number of live items read.
    pub(crate) evaluated: usize,
    /// Number of items DynamoDB read.
    pub(crate) scanned: usize,
    /// The last key, if there may be more.
    pub(crate) last: Option<WireItem>,
    pub(crate) capacity: Capacity,
}

/// The common part of query and scan responses.
struct PageResponse {
    items: Vec<WireItem>,
    scanned: i32,
    last: Option<WireItem>,
    capacity: Capacity,
}

impl Dynamo {
    pub(crate) async fn query_page(
        &self,
        table: &TableDefinition,
        query: &Query,
    ) -> Result<ItemPage> {
        let source = PageSource::Partition {
            partition: &query.partition,
            range: &query.sort,
            order: query.order,
        };
        let request = PageRequest {
            table,
            index: query.index.as_deref(),
            source,
            filter: query.filter.as_ref(),
            projection: read_projection(table, query.index.as_deref(), &query.projection),
            strong: query.strong,
        };
        self.fill(&request, query.limit, query.start.as_ref()).await
    }

    pub(crate) async fn scan_page(&self, table: &TableDefinition, scan: &Scan) -> Result<ItemPage> {
        let request = PageRequest {
            table,
            index: scan.index.as_deref(),
            source: PageSource::Everything { segment: scan.segment },
            filter: scan.filter.as_ref(),
            projection: read_projection(table, scan.index.as_deref(), &scan.projection),
            strong: scan.strong,
        };
        self.fill(&request, scan.limit, scan.start.as_ref()).await
    }

    async fn fill(
        &self,
        request: &PageRequest<'_>,
        limit: Option<usize>,
        start: Option<&Position>,
    ) -> Result<ItemPage> {
        let (table, index) = (request.table, request.index);
        let start = start.map(|at| position_to_wire(table, index, at)).transpose()?;
        let mut page = empty_page();
        let mut last = start;
        for _ in 0..REQUESTS_MAX {
            let wanted = limit.map(|limit| limit - page.evaluated);
            let chunk = self.read_chunk(request, wanted, last).await?;
            page.items.extend(chunk.items.into_iter().map(|item| request.projection.apply(item)));
            page.evaluated += chunk.evaluated;
            page.capacity += chunk.capacity;
            last = chunk.last;
            // A response with fewer items than requested has reached the size limit of a page.
            let full = wanted.is_none_or(|wanted| chunk.evaluated >= wanted);
            let cut = wanted.is_some_and(|wanted| chunk.scanned < wanted);
            if last.is_none() || full || cut {
                break;
            }
        }
        page.next = last.map(|last| position_from_wire(table, index, last)).transpose()?;
        Ok(page)
    }

    pub(crate) async fn read_chunk(
        &self,
        request: &PageRequest<'_>,
        limit: Option<usize>,
        start: Option<WireItem>,
    ) -> Result<PageChunk> {
        let now = self.now_seconds();
        let limit = limit.map(|limit| i32::try_from(limit).unwrap_or(i32::MAX));
        let response = match &request.source {
            PageSource::Partition { partition, range, order } => {
                self.query_partition(request, (partition, range, *order), limit, start, now).await?
            }
            PageSource::Everything { segment } => {
                self.scan_everything(request, *segment, limit, start, now).await?
            }
        };
        let scanned = usize::try_from(response.scanned).unwrap_or(0).max(response.items.len());
        let fetched = response.items.len();
        let mut items = Vec::with_capacity(fetched);
        for wire in response.items {
            let item = from_wire(wire)?;
            if !request.table.is_expired(&item, now) {
                items.push(item);
            }
        }
        let evaluated = scanned - (fetched - items.len());
        Ok(PageChunk {
            items,
            evaluated,
            scanned,
            last: response.last,
            capacity: response.capacity,
        })
    }

    async fn query_partition(
        &self,
        request: &PageRequest<'_>,
        (partition, range, order): (&Scalar, &SortRange, Order),
        limit: Option<i32>,
        start: Option<WireItem>,
        now: u64,
    ) -> Result<PageResponse> {
        let mut expressions = Expressions::default();
        let key = request.table.key_of(request.index)?;
        let response = self
            .client
            .query()
            .table_name(&request.table.name)
            .set_index_name(request.index.map(str::to_owned))
            .key_condition_expression(expressions.key_condition(key, partition, range))
            .set_filter_expression(request.filter(&mut expressions, now))
            .set_projection_expression(expressions.projection(&request.projection.requested))
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .scan_index_forward(order == Order::Ascending)
            .consistent_read(request.strong)
            .set_limit(limit)
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| to_error(&error, &request.table.name))?;
        Ok(PageResponse {
            items: response.items.unwrap_or_default(),
            scanned: response.scanned_count,
            last: response.last_evaluated_key.filter(|last| !last.is_empty()),
            capacity: cost::read(&response.consumed_capacity),
        })
    }

    async fn scan_everything(
        &self,
        request: &PageRequest<'_>,
        segment: Option<(u32, u32)>,
        limit: Option<i32>,
        start: Option<WireItem>,
        now: u64,
    ) -> Result<PageResponse> {
        let mut expressions = Expressions::default();
        let segment = segment.map(|(segment, total)| (segment.cast_signed(), total.cast_signed()));
        let response = self
            .client
            .scan()
            .table_name(&request.table.name)
            .set_index_name(request.index.map(str::to_owned))
            .set_filter_expression(request.filter(&mut expressions, now))
            .set_projection_expression(expressions.projection(&request.projection.requested))
            .set_expression_attribute_names(expressions.names())
            .set_expression_attribute_values(expressions.values())
            .consistent_read(request.strong)
            .set_segment(segment.map(|(segment, _)| segment))
            .set_total_segments(segment.map(|(_, total)| total))
            .set_limit(limit)
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| to_error(&error, &request.table.name))?;
        Ok(PageResponse {
            items: response.items.unwrap_or_default(),
            scanned: response.scanned_count,
            last: response.last_evaluated_key.filter(|last| !last.is_empty()),
            capacity: cost::read(&response.consumed_capacity),
        })
    }
}

impl PageRequest<'_> {
    /// Renders the filter so that expired items pass it: they must be counted, and are dropped here.
    /// A query cannot filter on its own key; if that is the ttl, expired items that the filter leaves
    /// out count as read.
    fn filter(&self, expressions: &mut Expressions, now: u64) -> Option<String> {
        let filter = self.filter?;
        let key = self.table.key_of(self.index).ok()?;
        let ttl = self.table.ttl.as_deref().filter(|ttl| !key.contains(ttl));
        let extended = match ttl.and_then(|_| expired(self.table, now)) {
            Some(expired) => Condition::Any(vec![expired, filter.clone()]),
            None => filter.clone(),
        };
        expressions.condition(&extended)
    }
}

fn read_projection(
    table: &TableDefinition,
    index: Option<&str>,
    projection: &[Path],
) -> ReadProjection {
    ReadProjection::new(table, index, projection, false)
}

const fn empty_page() -> ItemPage {
    ItemPage { items: Vec::new(), next: None, evaluated: 0, capacity: Capacity::ZERO }
}
