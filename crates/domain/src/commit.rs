//! The one way a service writes: everything of a mutation in one transaction, each write with a name
//! by which its refusal is told.

use std::time::Duration;

use roundtable_model::table::{CancelReason, Error, Table, Transaction, Write};

use crate::once::{Request, Tried};
use crate::{Failure, Ground};

/// How often a transaction that met another one is tried again before the service hears of it.
const TRIES_MAX: u32 = 6;
/// How long the first of these waits, doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(10);

/// The name of the write that remembers a request.
const REQUEST: &str = "request";

/// A mutation's writes.
#[derive(Debug)]
pub struct Commit<'a> {
    ground: &'a Ground,
    transaction: Transaction,
    names: Vec<&'static str>,
}

/// Why nothing was written.
#[derive(Debug)]
pub enum Rejected {
    /// The conditions of these writes did not hold.
    Refused(Refused),
    /// The store failed.
    Failed(Failure),
}

/// The writes whose conditions did not hold.
#[derive(Debug, Default)]
pub struct Refused(Vec<&'static str>);

impl Refused {
    /// Whether the write called `name` is among them.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }
}

impl Ground {
    /// Begins a mutation's writes.
    pub fn commit(&self) -> Commit<'_> {
        Commit { ground: self, transaction: Transaction::new(), names: Vec::new() }
    }
}

impl Ground {
    /// Everything is as it was asked to be. The request is remembered all the same: sent again when it
    /// is otherwise, it must not change that.
    pub(crate) async fn nothing_to_do<O: serde::Serialize, T>(
        &self,
        request: Option<&Request>,
        outcome: &O,
        answer: T,
    ) -> Result<Tried<T>, Failure> {
        self.commit().remembering(request, outcome)?.done(answer).await
    }
}

impl Commit<'_> {
    /// Adds a write to the core table.
    #[must_use]
    pub fn with(self, name: &'static str, write: impl Into<Write>) -> Self {
        let table = self.ground.core().table().clone();
        self.to(&table, name, write)
    }

    /// Adds a write to the core table, if there is one.
    #[must_use]
    pub fn with_any(
        self,
        name: &'static str,
        writes: impl IntoIterator<Item = impl Into<Write>>,
    ) -> Self {
        writes.into_iter().fold(self, |commit, write| commit.with(name, write))
    }

    /// Adds a write to another table.
    #[must_use]
    pub fn to(mut self, table: &Table, name: &'static str, write: impl Into<Write>) -> Self {
        self.transaction = self.transaction.with(table, write);
        self.names.push(name);
        self
    }

    /// Remembers the request with its outcome, so that its repetition has no further effect.
    pub(crate) fn remembering<O: serde::Serialize>(
        self,
        request: Option<&Request>,
        outcome: &O,
    ) -> Result<Self, Failure> {
        match request {
            Some(request) => {
                let write = request.remember(self.ground, outcome)?;
                Ok(self.with(REQUEST, write))
            }
            None => Ok(self),
        }
    }

    /// Writes everything; where a condition did not hold, the mutation looks again.
    pub(crate) async fn done<T>(self, outcome: T) -> Result<Tried<T>, Failure> {
        match self.run().await {
            Ok(()) => Ok(Tried::Done(outcome)),
            Err(Rejected::Refused(_)) => Ok(Tried::Again),
            Err(Rejected::Failed(failure)) => Err(failure),
        }
    }

    /// Writes everything, or nothing. A transaction that only met another one is tried again.
    pub async fn run(self) -> Result<(), Rejected> {
        if self.transaction.writes.is_empty() {
            // Everything is as it was asked to be, and nobody asked to remember it.
            return Ok(());
        }
        let mut wait = FIRST_WAIT;
        for tries in 1.. {
            match self.ground.store().transact(self.transaction.clone()).await {
                Ok(_) => return Ok(()),
                Err(Error::Cancelled { reasons }) => {
                    let refused = self.refused(reasons)?;
                    if !refused.0.is_empty() {
                        return Err(Rejected::Refused(refused));
                    }
                    if tries == TRIES_MAX {
                        return Err(Rejected::Failed(Failure::Busy));
                    }
                    tokio::time::sleep(wait).await;
                    wait *= 2;
                }
                Err(error) => return Err(Rejected::Failed(error.into())),
            }
        }
        Err(Rejected::Failed(Failure::Busy))
    }

    /// The refused writes by name; none when the transaction only met another one.
    fn refused(&self, reasons: Vec<Option<CancelReason>>) -> Result<Refused, Rejected> {
        let mut refused = Refused::default();
        for (name, reason) in self.names.iter().zip(reasons) {
            match reason {
                None | Some(CancelReason::Conflict | CancelReason::Throttled) => {}
                Some(CancelReason::ConditionFailed { .. }) => refused.0.push(name),
                Some(CancelReason::Invalid(invalid)) => {
                    return Err(Rejected::Failed(Error::from(invalid).into()));
                }
                Some(other) => return Err(Rejected::Failed(Failure::Internal(other.to_string()))),
            }
        }
        Ok(refused)
    }
}

impl From<Failure> for Rejected {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}
