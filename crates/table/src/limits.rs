//! Every limit of the contract. They are DynamoDB's, so that everything the embedded engine accepts
//! can move to DynamoDB.

use std::fmt;

/// Size of an item, names and values together.
pub const ITEM_BYTES_MAX: usize = 400 * 1024;
pub const PARTITION_KEY_BYTES_MAX: usize = 2048;
pub const SORT_KEY_BYTES_MAX: usize = 1024;
pub const NAME_BYTES_MAX: usize = 65_535;
pub const KEY_NAME_BYTES_MAX: usize = 255;
/// Nesting depth of lists and maps; the item itself is the first level.
pub const NESTING_MAX: usize = 32;
pub const NUMBER_DIGITS_MAX: u32 = crate::number::NUMBER_DIGITS_MAX;
/// Writes (or reads) in one transaction.
pub const TRANSACTION_ITEMS_MAX: usize = 100;
/// Bytes of all items that one transaction writes or reads.
pub const TRANSACTION_BYTES_MAX: usize = 4 * 1024 * 1024;
pub const TOKEN_BYTES_MAX: usize = 36;
/// Duration for which a transaction's token is remembered.
pub const TOKEN_LIFETIME_MS: u64 = 10 * 60 * 1000;
pub const BATCH_GET_KEYS_MAX: usize = 100;
pub const BATCH_WRITE_ITEMS_MAX: usize = 25;
/// Bytes a query or scan reads before it ends its page.
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
pub const IN_OPERANDS_MAX: usize = 100;
/// Operators and functions in one condition or update: DynamoDB allows 300, and the `dynamo` backend
/// needs a few of them to hide expired items.
pub const OPERATORS_MAX: usize = 300 - EXPIRY_OPERATORS;
/// Operators of `NOT ttl BETWEEN … AND …`, joined to a condition with `AND`, and one to spare.
const EXPIRY_OPERATORS: usize = 4;
/// Bytes of one condition, update or projection as text, including the `dynamo` backend's additions.
pub const EXPRESSION_BYTES_MAX: usize = 4096;
pub const PATH_DEPTH_MAX: usize = NESTING_MAX;
pub const INDEXES_MAX: usize = 20;
/// Attributes that all indexes of a table include beside their keys, counted once per index. The ttl
/// counts too, because every index needs it.
pub const INCLUDED_ATTRIBUTES_MAX: usize = 100;
pub const TABLE_NAME_BYTES_MIN: usize = 3;
pub const TABLE_NAME_BYTES_MAX: usize = 255;
pub const SCAN_SEGMENTS_MAX: u32 = 1_000_000;
/// Partitions of one merge. Our own limit: DynamoDB has no merge.
pub const MERGE_PARTITIONS_MAX: usize = 100_000;
/// Items one merge may return. Our own limit.
pub const MERGE_ITEMS_MAX: usize = 1_000;
pub const STREAM_CHANGES_MAX: usize = 1000;

const _: () = assert!(ITEM_BYTES_MAX <= PAGE_BYTES_MAX, "a page must hold at least one item");
const _: () = assert!(ITEM_BYTES_MAX <= TRANSACTION_BYTES_MAX);
const _: () = assert!(BATCH_WRITE_ITEMS_MAX <= TRANSACTION_ITEMS_MAX);

/// A limit, named in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    ItemBytes,
    PartitionKeyBytes,
    SortKeyBytes,
    /// [`NAME_BYTES_MAX`] and [`KEY_NAME_BYTES_MAX`]
    NameBytes,
    Nesting,
    TransactionItems,
    TransactionBytes,
    TokenBytes,
    BatchGetKeys,
    BatchWriteItems,
    InOperands,
    Operators,
    ExpressionBytes,
    PathDepth,
    Indexes,
    IncludedAttributes,
    ScanSegments,
    MergePartitions,
    MergeItems,
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
