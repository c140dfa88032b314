//! The calls for help that somebody has a part in, in one order.

use roundtable_table::Item;

use super::merged::Merged;
use crate::entities::{AssistHelper, AssistThread};
use crate::entity::TYPE;
use crate::{Answer, Core, Entity, Result, ThreadId, UserId};

/// A call for help that somebody has a part in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssistEntry {
    /// They ask.
    Asks(AssistThread),
    /// They were asked.
    Helps(AssistHelper),
}

/// A question about the calls for help that somebody has a part in.
pub type Assists<'a> = Merged<'a, AssistEntry>;

impl AssistEntry {
    /// Which thread.
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
    Merged::new(core, "assists", user, |_| true, AssistEntry::from_item)
}
