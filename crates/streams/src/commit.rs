//! How effects reach the store: with the checkpoint in one transaction, or each for itself and the
//! checkpoint behind them. Either way a batch has its effect once.

use futures::stream::{self, StreamExt, TryStreamExt};
use roundtable_model::entities::Checkpoint;
use roundtable_model::table::limits::TRANSACTION_ITEMS_MAX;
use roundtable_model::table::{
    CancelReason, Error, Put, Sequence, Store, TableWrite, Transaction, Write,
};
use roundtable_model::{Entity, Processor as Name, StreamShard};

use crate::shared::Shared;
use crate::{Effects, Failure};

/// Items that the effects of one batch may touch: the checkpoint is one more.
pub(crate) const EFFECTS_MAX: usize = TRANSACTION_ITEMS_MAX - 1;
/// Groups written at the same time.
const GROUPS_AT_ONCE: usize = 8;

/// How far a processor has read a shard, as the store has it.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    processor: Name,
    shard: StreamShard,
    pub(crate) saved: Option<Sequence>,
}

/// Whether a commit was this reader's to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Committed {
    Done,
    /// Another reader has moved the checkpoint: look where it is now.
    Lost,
}

impl Mark {
    pub(crate) async fn load(
        shared: &Shared,
        processor: &Name,
        shard: &StreamShard,
    ) -> Result<Self, Failure> {
        let found = shared.ground.ops().checkpoint(processor, shard).get().await?;
        let saved = found.map(|checkpoint| Sequence::parse(&checkpoint.sequence)).transpose();
        let (processor, shard) = (processor.clone(), shard.clone());
        Ok(Self { processor, shard, saved: saved.map_err(Error::from)? })
    }

    /// The write that moves the checkpoint to `sequence`, unless somebody else has moved it.
    fn moved(&self, shared: &Shared, sequence: &Sequence) -> Put {
        let checkpoint = Checkpoint {
            processor: self.processor.clone(),
            stream_shard: self.shard.clone(),
            sequence: sequence.as_str().to_owned(),
            updated_at: shared.ground.now(),
        };
        match &self.saved {
            Some(saved) => {
                checkpoint.put().when(Checkpoint::SEQUENCE.is(&saved.as_str().to_owned()))
            }
            None => checkpoint.create(),
        }
    }

    /// Moves the checkpoint alone.
    pub(crate) async fn save(
        &mut self,
        shared: &Shared,
        sequence: &Sequence,
    ) -> Result<Committed, Failure> {
        match shared.ground.ops().table().put(self.moved(shared, sequence)).await {
            Ok(_) => {
                self.saved = Some(sequence.clone());
                Ok(Committed::Done)
            }
            Err(Error::ConditionFailed { .. }) => Ok(Committed::Lost),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the effects of everything up to `sequence`, and moves the checkpoint there.
    pub(crate) async fn commit(
        &mut self,
        shared: &Shared,
        effects: Effects,
        sequence: &Sequence,
    ) -> Result<Committed, Failure> {
        if shared.commits_together() {
            return self.commit_with(shared, effects.into_writes(), sequence).await;
        }
        let store = shared.ground.store();
        stream::iter(effects.into_groups())
            .map(|group| write_group(store, group))
            .buffer_unordered(GROUPS_AT_ONCE)
            .try_collect::<()>()
            .await?;
        self.save(shared, sequence).await
    }

    /// Writes this, and moves the checkpoint to `sequence`, in one transaction.
    pub(crate) async fn commit_with(
        &mut self,
        shared: &Shared,
        writes: Vec<TableWrite>,
        sequence: &Sequence,
    ) -> Result<Committed, Failure> {
        let transaction = Transaction { writes, token: None }
            .with(shared.ground.ops().table(), self.moved(shared, sequence));
        match shared.ground.store().transact(transaction).await {
            Ok(_) => {
                self.saved = Some(sequence.clone());
                Ok(Committed::Done)
            }
            Err(Error::Cancelled { reasons })
                if matches!(reasons.last(), Some(Some(CancelReason::ConditionFailed { .. }))) =>
            {
                Ok(Committed::Lost)
            }
            Err(error) => Err(error.into()),
        }
    }
}

async fn write_group(store: &Store, group: Vec<TableWrite>) -> Result<(), Failure> {
    // One write alone costs half of what it costs in a transaction.
    match <[TableWrite; 1]>::try_from(group) {
        Ok([TableWrite { table, write }]) => {
            let alone = store.table_as(table.clone());
            match write {
                Write::Put(put) => drop(alone.put(put).await?),
                Write::Update(update) => drop(alone.update(update).await?),
                Write::Delete(delete) => drop(alone.delete(delete).await?),
                // Nothing is written on the condition of it.
                Write::Check(_) => {}
            }
        }
        Err(group) => drop(store.transact(Transaction { writes: group, token: None }).await?),
    }
    Ok(())
}
