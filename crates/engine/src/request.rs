//! Requests to the writer thread, and their admission while the store takes few writes or none.

use std::sync::Arc;

use bytes::Bytes;
use roundtable_table::{Capacity, Error, Result, TableDefinition, Write, WriteOutput};
use tokio::sync::oneshot;

use crate::catalog::TableEntry;
use crate::pauses::Obstacle;
use crate::record::EngineRow;
use crate::shared::SharedState;
use crate::view::ReadAhead;

pub(crate) type ReplySender<T> = oneshot::Sender<Result<T>>;

/// A write on its way to the writer thread.
#[derive(Debug)]
pub(crate) struct PendingWrite {
    pub(crate) entry: Arc<TableEntry>,
    pub(crate) key: Bytes,
    pub(crate) write: Write,
    /// The value that the caller's thread read for the key.
    pub(crate) read_ahead: ReadAhead,
}

/// A transaction's idempotency token and the fingerprint of its writes.
#[derive(Debug)]
pub(crate) struct TransactionToken {
    pub(crate) key: Bytes,
    pub(crate) fingerprint: [u8; 32],
}

/// A request to the writer thread.
#[derive(Debug)]
pub(crate) enum WriterRequest {
    Single(Box<PendingWrite>, ReplySender<WriteOutput>),
    Batch(Vec<PendingWrite>, ReplySender<Capacity>),
    Transaction(Vec<PendingWrite>, Option<TransactionToken>, ReplySender<Capacity>),
    CreateTable(TableDefinition, ReplySender<()>),
    DeleteTable(String, ReplySender<()>),
    Rows(Vec<EngineRow>, ReplySender<()>),
    /// Adds the items of these keys to the order of their table; without keys, marks it as complete.
    Order(Arc<TableEntry>, Vec<Bytes>, ReplySender<()>),
    /// Removes the items that are expired; replies with their number.
    Expire(Arc<TableEntry>, Vec<Bytes>, ReplySender<usize>),
    /// Deletes the tokens that have expired.
    ForgetTokens(Vec<Bytes>, ReplySender<()>),
    /// Freezes the active run for the checkpointer.
    Freeze(ReplySender<()>),
    /// Writes an empty record, to find out whether the log can be appended to again.
    Retry(ReplySender<()>),
}

impl WriterRequest {
    /// Returns whether it does nothing but delete, and check what must hold for that.
    fn only_deletes(&self) -> bool {
        let deletes =
            |each: &PendingWrite| matches!(each.write, Write::Delete(_) | Write::Check(_));
        match self {
            Self::Single(write, _) => deletes(write),
            Self::Batch(writes, _) | Self::Transaction(writes, ..) => writes.iter().all(deletes),
            _ => false,
        }
    }

    /// Replies that it was not carried out.
    fn refuse(self, error: Error) {
        match self {
            Self::Single(_, reply) => drop(reply.send(Err(error))),
            Self::Batch(_, reply) | Self::Transaction(.., reply) => drop(reply.send(Err(error))),
            Self::Expire(.., reply) => drop(reply.send(Err(error))),
            Self::CreateTable(_, reply)
            | Self::DeleteTable(_, reply)
            | Self::Rows(_, reply)
            | Self::Order(.., reply)
            | Self::ForgetTokens(_, reply)
            | Self::Freeze(reply)
            | Self::Retry(reply) => drop(reply.send(Err(error))),
        }
    }
}

/// A request in the queue of the writer thread.
#[derive(Debug)]
pub(crate) struct QueuedRequest {
    pub(crate) request: WriterRequest,
    /// It is carried out even while the space of the disk is kept in reserve.
    pub(crate) is_essential: bool,
}

impl QueuedRequest {
    /// Returns the request, unless it is refused for now and has its reply.
    pub(crate) fn admit(self, shared: &SharedState) -> Option<WriterRequest> {
        if shared.pauses.any()
            && self.is_refused(shared)
            && let Some(refusal) = shared.refusal()
        {
            self.request.refuse(refusal);
            return None;
        }
        Some(self.request)
    }

    fn is_refused(&self, shared: &SharedState) -> bool {
        // These need no space, or are to show whether there is some again.
        if matches!(self.request, WriterRequest::Freeze(_) | WriterRequest::Retry(_)) {
            return false;
        }
        let pauses = &shared.pauses;
        let is_full = pauses.has(Obstacle::Tree) && shared.is_memory_full();
        is_full || pauses.has(Obstacle::Log) || !(self.is_essential || self.request.only_deletes())
    }
}
