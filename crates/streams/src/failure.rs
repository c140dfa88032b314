//! Why something was not done, told apart by what helps: waiting, looking again, or a person.

use std::fmt;

use roundtable_model::table::{self, CancelReason};
use roundtable_model::{Error, Misfit};

/// Why a change was not processed, or a page of a job not done.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// Others kept changing the same things.
    #[error("others are changing this at the moment")]
    Busy,
    /// What was found cannot be worked with.
    #[error("{0}")]
    Broken(String),
}

/// What helps against a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Waiting: the store is away or busy, and nothing is wrong with the work itself.
    Wait,
    /// Looking again: somebody else changed what it was based on.
    Again,
    /// Nothing the program knows of. It is tried a few times all the same.
    None,
}

impl Failure {
    /// Something that cannot be worked with.
    pub fn broken(what: impl fmt::Display) -> Self {
        Self::Broken(format!("{what}"))
    }

    pub(crate) fn remedy(&self) -> Remedy {
        match self {
            Self::Store(Error::Table(error)) => of_table(error),
            Self::Busy => Remedy::Again,
            Self::Store(_) | Self::Broken(_) => Remedy::None,
        }
    }
}

fn of_table(error: &table::Error) -> Remedy {
    match error {
        table::Error::Unavailable { .. }
        | table::Error::WritesStopped { .. }
        | table::Error::Io { .. } => Remedy::Wait,
        table::Error::ConditionFailed { .. } => Remedy::Again,
        table::Error::Cancelled { reasons } => {
            let reasons = || reasons.iter().flatten();
            if reasons().any(|reason| matches!(reason, CancelReason::Invalid(_))) {
                Remedy::None
            } else if reasons().any(|reason| matches!(reason, CancelReason::Throttled)) {
                Remedy::Wait
            } else {
                Remedy::Again
            }
        }
        _ => Remedy::None,
    }
}

impl From<table::Error> for Failure {
    fn from(error: table::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<Misfit> for Failure {
    fn from(misfit: Misfit) -> Self {
        Self::broken(misfit)
    }
}

impl From<roundtable_domain::GroupError> for Failure {
    fn from(error: roundtable_domain::GroupError) -> Self {
        match error {
            roundtable_domain::GroupError::Failed(failure) => failure.into(),
            other => Self::broken(other),
        }
    }
}

impl From<roundtable_domain::QuestError> for Failure {
    fn from(error: roundtable_domain::QuestError) -> Self {
        match error {
            roundtable_domain::QuestError::Failed(failure) => failure.into(),
            other => Self::broken(other),
        }
    }
}

impl From<roundtable_domain::ModerationError> for Failure {
    fn from(error: roundtable_domain::ModerationError) -> Self {
        match error {
            roundtable_domain::ModerationError::Failed(failure) => failure.into(),
            other => Self::broken(other),
        }
    }
}

impl From<roundtable_domain::PromotionError> for Failure {
    fn from(error: roundtable_domain::PromotionError) -> Self {
        match error {
            roundtable_domain::PromotionError::Failed(failure) => failure.into(),
            other => Self::broken(other),
        }
    }
}

impl From<roundtable_domain::WebhookError> for Failure {
    fn from(error: roundtable_domain::WebhookError) -> Self {
        match error {
            roundtable_domain::WebhookError::Failed(failure) => failure.into(),
            other => Self::broken(other),
        }
    }
}

impl From<roundtable_domain::Failure> for Failure {
    fn from(failure: roundtable_domain::Failure) -> Self {
        match failure {
            roundtable_domain::Failure::Store(error) => Self::Store(error),
            roundtable_domain::Failure::Busy => Self::Busy,
            other => Self::broken(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wrong_with_the_work_itself_counts_against_it() {
        let away = table::Error::Unavailable { detail: "no route".into() };
        assert_eq!(Failure::from(away).remedy(), Remedy::Wait);
        let raced = table::Error::ConditionFailed { item: None };
        assert_eq!(Failure::from(raced).remedy(), Remedy::Again);
        let cancelled = |reason| table::Error::Cancelled { reasons: vec![None, Some(reason)] };
        assert_eq!(Failure::from(cancelled(CancelReason::Conflict)).remedy(), Remedy::Again);
        assert_eq!(Failure::from(cancelled(CancelReason::Throttled)).remedy(), Remedy::Wait);
        assert_eq!(Failure::broken("no such attribute").remedy(), Remedy::None);
        let met = roundtable_domain::Failure::Busy;
        assert_eq!(Failure::from(met.clone()).remedy(), Remedy::Again);
        let quest = roundtable_domain::QuestError::Failed(met);
        assert_eq!(Failure::from(quest).remedy(), Remedy::Again);
    }
}
