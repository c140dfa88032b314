//! A backend over an unreliable network: writes are throttled, transactions conflict, and answers get
//! lost, as DynamoDB's may.

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_model::table::{
    Backend, BackendDecorator, BatchWrite, CancelReason, Capabilities, Capacity, Delete, Error,
    Put, Result, SharedBackend, TableDefinition, Transaction, Update, WriteOutput,
};

/// One transaction in this many conflicts with another.
const CONFLICTS: u32 = 30;
/// One write in this many meets each other fault.
const FAULTS: u32 = 100;

/// A backend whose writes may fail although nothing is wrong with them. Reads do not fail.
#[derive(Debug)]
pub struct UnreliableBackend {
    backend: SharedBackend,
    random: Mutex<SmallRng>,
}

/// The fate of a write on its way.
#[derive(Clone, Copy, Debug)]
enum NetworkFault {
    /// It is refused, and nothing happens.
    Throttled,
    /// It happens, and its answer is lost.
    LostAnswer,
}

impl UnreliableBackend {
    pub fn new(backend: SharedBackend, seed: u64) -> Self {
        Self { backend, random: Mutex::new(SmallRng::seed_from_u64(seed)) }
    }

    async fn write<T>(&self, write: impl Future<Output = Result<T>>) -> Result<T> {
        match self.fault() {
            Some(NetworkFault::Throttled) => Err(unavailable("throttled")),
            Some(NetworkFault::LostAnswer) => {
                write.await?;
                Err(unavailable("the answer got lost"))
            }
            None => write.await,
        }
    }

    fn fault(&self) -> Option<NetworkFault> {
        match self.random.lock().random_range(0..FAULTS) {
            0 => Some(NetworkFault::Throttled),
            1 => Some(NetworkFault::LostAnswer),
            _ => None,
        }
    }
}

fn unavailable(detail: &str) -> Error {
    Error::Unavailable { detail: format!("{detail}, on purpose") }
}

#[async_trait]
impl BackendDecorator for UnreliableBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.backend
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { transaction_conflicts: true, ..self.backend.capabilities() }
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        self.write(self.backend.put(table, put)).await
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        self.write(self.backend.update(table, update)).await
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        self.write(self.backend.delete(table, delete)).await
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        self.write(self.backend.batch_write(table, writes)).await
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        if self.random.lock().random_ratio(1, CONFLICTS) {
            let reasons = transaction.writes.iter().map(|_| Some(CancelReason::Conflict)).collect();
            return Err(Error::Cancelled { reasons });
        }
        self.write(self.backend.transact_write(transaction)).await
    }
}
