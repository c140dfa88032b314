//! The requests for help of a user, as author or helper, in one order.

use roundtable_table::Item;

use super::merged::MergedListing;
use crate::entities::{AssistHelper, AssistThread};
use crate::entity::TYPE;
use crate::{Core, Entity, FromItem, Result, ThreadId, UserId};

/// A request for help that a user takes part in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssistEntry {
    /// The user asks for help.
    Asks(AssistThread),
    /// The user was asked.
    Helps(AssistHelper),
}

/// A query for the requests for help that a user takes part in.
pub type Assists<'a> = MergedListing<'a, AssistEntry>;

impl AssistEntry {
    pub const fn thread_id(&self) -> &ThreadId {
        match self {
            Self::Asks(thread) => &thread.thread_id,
            Self::Helps(helper) => &helper.thread_id,
        }
    }

    fn from_item(item: &Item) -> Result<Self> {
        if item.text(TYPE) == Some(AssistHelper::SHAPE.name) {
            return Ok(Self::Helps(AssistHelper::from_item(item)?));
        }
        Ok(Self::Asks(AssistThread::from_item(item)?))
    }
}

pub(super) fn of<'a>(core: &'a Core, user: &UserId) -> Assists<'a> {
    MergedListing::new(core, "assists", user, |_| true, AssistEntry::from_item)
}
