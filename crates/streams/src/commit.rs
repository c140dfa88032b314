//! Writes effects to the store: in one transaction with the checkpoint, or group by group and then
//! the checkpoint. Either way a batch takes effect once.

use futures::stream::{self, StreamExt, TryStreamExt};
use roundtable_model::entities::Checkpoint;
use roundtable_model::table::limits::TRANSACTION_ITEMS_MAX;
use roundtable_model::table::{
    CancelReason, Error, Put, Sequence, Store, TableWrite, Transaction, Write,
};
use roundtable_model::{Entity, ProcessorName, StreamShard};

use crate::runner_state::RunnerState;
use crate::{Effects, Result};

/// Items that the effects of one batch may touch. The checkpoint takes one more place in the
/// transaction.
pub(crate) const EFFECTS_MAX: usize = TRANSACTION_ITEMS_MAX - 1;
const GROUPS_AT_ONCE_MAX: usize = 8;

/// The stored checkpoint of one processor on one shard.
#[derive(Clone, Debug)]
pub(crate) struct LaneCheckpoint {
    processor: ProcessorName,
    shard: StreamShard,
    pub(crate) saved: Option<Sequence>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum CheckpointOutcome {
    Done,
    /// Another reader has moved the checkpoint. Load it again.
    Lost,
}

impl LaneCheckpoint {
    pub(crate) async fn load(
        shared: &RunnerState,
        processor: &ProcessorName,
        shard: &StreamShard,
    ) -> Result<Self> {
        let found = shared.context.ops().checkpoint(processor, shard).get().await?;
        let saved = found.map(|checkpoint| Sequence::parse(&checkpoint.sequence)).transpose();
        let (processor, shard) = (processor.clone(), shard.clone());
        Ok(Self { processor, shard, saved: saved.map_err(Error::from)? })
    }

    /// Returns the write that moves the checkpoint to `sequence`, on the condition that no other
    /// reader has moved it.
    fn put_at(&self, shared: &RunnerState, sequence: &Sequence) -> Put {
        let checkpoint = Checkpoint {
            processor: self.processor.clone(),
            stream_shard: self.shard.clone(),
            sequence: sequence.as_str().to_owned(),
            updated_at: shared.context.now(),
        };
        match &self.saved {
            Some(saved) => {
                checkpoint.put().when(Checkpoint::SEQUENCE.is(&saved.as_str().to_owned()))
            }
            None => checkpoint.create(),
        }
    }

    pub(crate) async fn save(
        &mut self,
        shared: &RunnerState,
        sequence: &Sequence,
    ) -> Result<CheckpointOutcome> {
        match shared.context.ops().table().put(self.put_at(shared, sequence)).await {
            Ok(_) => {
                self.saved = Some(sequence.clone());
                Ok(CheckpointOutcome::Done)
            }
            Err(Error::ConditionFailed { .. }) => Ok(CheckpointOutcome::Lost),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the effects of all changes up to `sequence` and moves the checkpoint there.
    pub(crate) async fn commit(
        &mut self,
        shared: &RunnerState,
        effects: Effects,
        sequence: &Sequence,
    ) -> Result<CheckpointOutcome> {
        if shared.commits_with_checkpoint() {
            return self.commit_with(shared, effects.into_writes(), sequence).await;
        }
        let store = shared.context.store();
        stream::iter(effects.into_groups())
            .map(|group| write_group(store, group))
            .buffer_unordered(GROUPS_AT_ONCE_MAX)
            .try_collect::<()>()
            .await?;
        self.save(shared, sequence).await
    }

    /// Applies `writes` and moves the checkpoint to `sequence` in one transaction.
    pub(crate) async fn commit_with(
        &mut self,
        shared: &RunnerState,
        writes: Vec<TableWrite>,
        sequence: &Sequence,
    ) -> Result<CheckpointOutcome> {
        let transaction = Transaction { writes, token: None }
            .with(shared.context.ops().table(), self.put_at(shared, sequence));
        match shared.context.store().transact(transaction).await {
            Ok(_) => {
                self.saved = Some(sequence.clone());
                Ok(CheckpointOutcome::Done)
            }
            Err(Error::Cancelled { reasons })
                if matches!(reasons.last(), Some(Some(CancelReason::ConditionFailed { .. }))) =>
            {
                Ok(CheckpointOutcome::Lost)
            }
            Err(error) => Err(error.into()),
        }
    }
}

async fn write_group(store: &Store, group: Vec<TableWrite>) -> Result<()> {
    // A single write costs half of what it costs in a transaction.
    match <[TableWrite; 1]>::try_from(group) {
        Ok([TableWrite { table: definition, write }]) => {
            let table = store.table_as(definition);
            match write {
                Write::Put(put) => drop(table.put(put).await?),
                Write::Update(update) => drop(table.update(update).await?),
                Write::Delete(delete) => drop(table.delete(delete).await?),
                // A group with a check alone writes nothing.
                Write::Check(_) => {}
            }
        }
        Err(group) => drop(store.transact(Transaction { writes: group, token: None }).await?),
    }
    Ok(())
}
