//! The errors of processing, classified by their remedy: waiting, retrying, or human help.

use std::fmt;

use roundtable_domain::ServiceError;
use roundtable_model::table::{self, CancelReason};
use roundtable_model::{Error, InvalidValue};

pub(crate) type Result<T, E = ProcessingError> = std::result::Result<T, E>;

/// The reason that a change was not processed, or that a page of a job failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProcessingError {
    #[error(transparent)]
    Store(#[from] Error),
    /// Other writers kept changing the same items.
    #[error("other writers keep changing the same items; try again later")]
    Busy,
    /// The stored data cannot be processed.
    #[error("{0}")]
    Unprocessable(String),
}

/// The kind of an error, which decides how it is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorClass {
    /// The store is unreachable or throttling. Waiting helps, and the work itself is not at fault.
    Unavailable,
    /// Another writer changed the items that the work was based on. Reading them again helps.
    Conflict,
    /// No known remedy. The work is retried a few times anyway.
    Other,
}

impl ProcessingError {
    pub fn unprocessable(reason: impl fmt::Display) -> Self {
        Self::Unprocessable(reason.to_string())
    }

    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Self::Store(Error::Table(error)) => table_error_class(error),
            Self::Busy => ErrorClass::Conflict,
            // It waits for the upgrade of this process.
            Self::Store(Error::NewerShape { .. }) => ErrorClass::Unavailable,
            Self::Store(_) | Self::Unprocessable(_) => ErrorClass::Other,
        }
    }
}

fn table_error_class(error: &table::Error) -> ErrorClass {
    match error {
        table::Error::Unavailable { .. }
        | table::Error::Denied { .. }
        | table::Error::WritesPaused { .. }
        | table::Error::WritesStopped { .. }
        | table::Error::Io { .. } => ErrorClass::Unavailable,
        table::Error::ConditionFailed { .. } => ErrorClass::Conflict,
        table::Error::Cancelled { reasons } => {
            let reasons = || reasons.iter().flatten();
            if reasons().any(|reason| matches!(reason, CancelReason::Invalid(_))) {
                ErrorClass::Other
            } else if reasons().any(|reason| matches!(reason, CancelReason::Throttled)) {
                ErrorClass::Unavailable
            } else {
                ErrorClass::Conflict
            }
        }
        _ => ErrorClass::Other,
    }
}

impl From<table::Error> for ProcessingError {
    fn from(error: table::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<InvalidValue> for ProcessingError {
    fn from(error: InvalidValue) -> Self {
        Self::unprocessable(error)
    }
}

impl From<roundtable_domain::GroupError> for ProcessingError {
    fn from(error: roundtable_domain::GroupError) -> Self {
        match error {
            roundtable_domain::GroupError::Failed(error) => error.into(),
            other => Self::unprocessable(other),
        }
    }
}

impl From<roundtable_domain::QuestError> for ProcessingError {
    fn from(error: roundtable_domain::QuestError) -> Self {
        match error {
            roundtable_domain::QuestError::Failed(error) => error.into(),
            other => Self::unprocessable(other),
        }
    }
}

impl From<roundtable_domain::ModerationError> for ProcessingError {
    fn from(error: roundtable_domain::ModerationError) -> Self {
        match error {
            roundtable_domain::ModerationError::Failed(error) => error.into(),
            other => Self::unprocessable(other),
        }
    }
}

impl From<roundtable_domain::PromotionError> for ProcessingError {
    fn from(error: roundtable_domain::PromotionError) -> Self {
        match error {
            roundtable_domain::PromotionError::Failed(error) => error.into(),
            other => Self::unprocessable(other),
        }
    }
}

impl From<roundtable_domain::WebhookError> for ProcessingError {
    fn from(error: roundtable_domain::WebhookError) -> Self {
        match error {
            roundtable_domain::WebhookError::Failed(error) => error.into(),
            other => Self::unprocessable(other),
        }
    }
}

impl From<ServiceError> for ProcessingError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Store(error) => Self::Store(error),
            ServiceError::Busy => Self::Busy,
            ServiceError::OutcomeUnknown { source } => source.into(),
            throttled @ ServiceError::Throttled => {
                table::Error::Unavailable { detail: throttled.to_string() }.into()
            }
            other => Self::unprocessable(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unavailability_and_conflicts_are_told_apart_from_other_errors() {
        let unavailable = table::Error::Unavailable { detail: "no route".into() };
        assert_eq!(ProcessingError::from(unavailable).class(), ErrorClass::Unavailable);
        let raced = table::Error::ConditionFailed { item: None };
        assert_eq!(ProcessingError::from(raced).class(), ErrorClass::Conflict);
        let cancelled = |reason| table::Error::Cancelled { reasons: vec![None, Some(reason)] };
        assert_eq!(
            ProcessingError::from(cancelled(CancelReason::Conflict)).class(),
            ErrorClass::Conflict
        );
        assert_eq!(
            ProcessingError::from(cancelled(CancelReason::Throttled)).class(),
            ErrorClass::Unavailable
        );
        assert_eq!(ProcessingError::unprocessable("no such attribute").class(), ErrorClass::Other);
        let busy = ServiceError::Busy;
        assert_eq!(ProcessingError::from(busy.clone()).class(), ErrorClass::Conflict);
        let quest = roundtable_domain::QuestError::Failed(busy);
        assert_eq!(ProcessingError::from(quest).class(), ErrorClass::Conflict);
        let source = table::Error::Unavailable { detail: "no answer".into() };
        for waits in [ServiceError::OutcomeUnknown { source }, ServiceError::Throttled] {
            assert_eq!(ProcessingError::from(waits).class(), ErrorClass::Unavailable);
        }
    }
}
