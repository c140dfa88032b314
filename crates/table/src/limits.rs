//! Every limit of the contract, named once. They are DynamoDB's, so what the embedded engine accepts
//! also fits the day the application moves.

use std::fmt;

/// Largest item, names and values together.
pub const ITEM_BYTES_MAX: usize = 400 * 1024;
/// Longest partition key value.
pub const PARTITION_KEY_BYTES_MAX: usize = 2048;
/// Longest sort key value.
pub const SORT_KEY_BYTES_MAX: usize = 1024;
/// Longest attribute name.
pub const NAME_BYTES_MAX: usize = 65_535;
/// Longest name of a key attribute.
pub const KEY_NAME_BYTES_MAX: usize = 255;
/// Deepest nesting of lists and maps; the item itself is the first level.
pub const NESTING_MAX: usize = 32;
/// Significant digits of a number.
pub const NUMBER_DIGITS_MAX: u32 = crate::number::NUMBER_DIGITS_MAX;
/// Writes (or reads) in one transaction.
pub const TRANSACTION_ITEMS_MAX: usize = 100;
/// Bytes of all items that one transaction writes, or one transactional read finds.
pub const TRANSACTION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest idempotency token of a transaction.
pub const TOKEN_BYTES_MAX: usize = 36;
/// How long a transaction's token is remembered.
pub const TOKEN_LIFETIME_MS: u64 = 10 * 60 * 1000;
/// Keys in one batch read.
pub const BATCH_GET_KEYS_MAX: usize = 100;
/// Writes in one batch.
pub const BATCH_WRITE_ITEMS_MAX: usize = 25;
/// Bytes a query or scan looks at before it ends its page.
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Operands of one `IN`.
pub const IN_OPERANDS_MAX: usize = 100;
/// Operators and functions in one condition or update: DynamoDB takes 300, and the `dynamo` backend
/// needs a few of them to hide expired items.
pub const OPERATORS_MAX: usize = 300 - EXPIRY_OPERATORS;
/// Operators of `NOT ttl BETWEEN … AND …`, joined to a condition with `AND`, and one to spare.
const EXPIRY_OPERATORS: usize = 4;
/// Bytes of one condition, update or projection as text, with what the `dynamo` backend adds to it.
pub const EXPRESSION_BYTES_MAX: usize = 4096;
/// Elements of one document path.
pub const PATH_DEPTH_MAX: usize = NESTING_MAX;
/// Secondary indexes of one table.
pub const INDEXES_MAX: usize = 20;
/// Attributes that all the indexes of a table include beside their keys, counted once for each index.
/// The ttl is among them, because every index needs it.
pub const INCLUDED_ATTRIBUTES_MAX: usize = 100;
/// Shortest table or index name.
pub const TABLE_NAME_BYTES_MIN: usize = 3;
/// Longest table or index name.
pub const TABLE_NAME_BYTES_MAX: usize = 255;
/// Segments a scan can be split into.
pub const SCAN_SEGMENTS_MAX: u32 = 1_000_000;
/// Partitions one merge may span (ours; DynamoDB has no merge).
pub const MERGE_PARTITIONS_MAX: usize = 100_000;
/// Items one merge may return (ours).
pub const MERGE_ITEMS_MAX: usize = 1_000;
/// Changes one read of the stream returns.
pub const STREAM_CHANGES_MAX: usize = 1000;

const _: () = assert!(ITEM_BYTES_MAX <= PAGE_BYTES_MAX, "a page must hold at least one item");
const _: () = assert!(ITEM_BYTES_MAX <= TRANSACTION_BYTES_MAX);
const _: () = assert!(BATCH_WRITE_ITEMS_MAX <= TRANSACTION_ITEMS_MAX);

/// The name of a limit, for errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// [`ITEM_BYTES_MAX`]
    ItemBytes,
    /// [`PARTITION_KEY_BYTES_MAX`]
    PartitionKeyBytes,
    /// [`SORT_KEY_BYTES_MAX`]
    SortKeyBytes,
    /// [`NAME_BYTES_MAX`] and [`KEY_NAME_BYTES_MAX`]
    NameBytes,
    /// [`NESTING_MAX`]
    Nesting,
    /// [`TRANSACTION_ITEMS_MAX`]
    TransactionItems,
    /// [`TRANSACTION_BYTES_MAX`]
    TransactionBytes,
    /// [`TOKEN_BYTES_MAX`]
    TokenBytes,
    /// [`BATCH_GET_KEYS_MAX`]
    BatchGetKeys,
    /// [`BATCH_WRITE_ITEMS_MAX`]
    BatchWriteItems,
    /// [`IN_OPERANDS_MAX`]
    InOperands,
    /// [`OPERATORS_MAX`]
    Operators,
    /// [`EXPRESSION_BYTES_MAX`]
    ExpressionBytes,
    /// [`PATH_DEPTH_MAX`]
    PathDepth,
    /// [`INDEXES_MAX`]
    Indexes,
    /// [`INCLUDED_ATTRIBUTES_MAX`]
    IncludedAttributes,
    /// [`SCAN_SEGMENTS_MAX`]
    ScanSegments,
    /// [`MERGE_PARTITIONS_MAX`]
    MergePartitions,
    /// [`MERGE_ITEMS_MAX`]
    MergeItems,
    /// [`STREAM_CHANGES_MAX`]
    StreamChanges,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ItemBytes => "bytes of an item",
            Self::PartitionKeyBytes => "bytes of a partition key",
            Self::SortKeyBytes => "bytes of a sort key",
            Self::NameBytes => "bytes of a name",
            Self::Nesting => "levels of nesting",
            Self::TransactionItems => "items in a transaction",
            Self::TransactionBytes => "bytes in a transaction",
            Self::TokenBytes => "bytes of a transaction token",
            Self::BatchGetKeys => "keys in a batch read",
            Self::BatchWriteItems => "writes in a batch",
            Self::InOperands => "operands of IN",
            Self::Operators => "operators in an expression",
            Self::ExpressionBytes => "bytes of an expression",
            Self::PathDepth => "elements of a document path",
            Self::Indexes => "indexes of a table",
            Self::IncludedAttributes => "attributes included in indexes",
            Self::ScanSegments => "segments of a scan",
            Self::MergePartitions => "partitions of a merge",
            Self::MergeItems => "items of a merge",
            Self::StreamChanges => "changes in one read of the stream",
        })
    }
}
