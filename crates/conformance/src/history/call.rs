//! A call: the action of a task, its result, and both times. Plain data that prints readably.

use std::fmt;

use roundtable_table::{Condition, attribute, exists, not_exists};

/// The attributes of an item that histories use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image {
    /// Identifies the put that wrote it; unique in a history.
    pub stamp: Option<u64>,
    /// The sum of additions since that put.
    pub count: Option<i64>,
}

/// An item as a caller read it, or its absence.
pub type Seen = Option<Image>;

/// The condition of an edit on the existing item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    Absent,
    Present,
    /// The put of this stamp wrote it.
    Stamp(u64),
}

impl Precondition {
    pub fn holds(self, seen: Seen) -> bool {
        match self {
            Self::Absent => seen.is_none(),
            Self::Present => seen.is_some(),
            Self::Stamp(stamp) => seen.is_some_and(|image| image.stamp == Some(stamp)),
        }
    }

    pub(super) fn condition(self) -> Condition {
        match self {
            Self::Absent => not_exists("pk"),
            Self::Present => exists("pk"),
            Self::Stamp(stamp) => attribute("stamp").eq(stamp),
        }
    }
}

/// The effect of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Replaces the item by one of this stamp.
    Put(u64),
    /// Adds to its count, creating the item if needed.
    Add(i64),
    Delete,
    /// Nothing: the edit only checks its precondition.
    Nothing,
}

impl Effect {
    pub fn apply(self, before: Seen) -> Seen {
        match self {
            Self::Put(stamp) => Some(Image { stamp: Some(stamp), count: None }),
            Self::Add(amount) => {
                let before = before.unwrap_or_default();
                Some(Image { count: Some(before.count.unwrap_or(0) + amount), ..before })
            }
            Self::Delete => None,
            Self::Nothing => before,
        }
    }
}

/// A write of one key: alone, or as a part of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The number of the key.
    pub key: usize,
    pub precondition: Option<Precondition>,
    pub effect: Effect,
}

impl Edit {
    /// Returns `true` if its precondition holds.
    pub fn allowed(&self, seen: Seen) -> bool {
        self.precondition.is_none_or(|precondition| precondition.holds(seen))
    }
}

/// The request of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A strong read of one key.
    Get(usize),
    /// A consistent read of several keys.
    GetTogether(Vec<usize>),
    /// A write that returns the old image, even if its condition fails.
    Write(Edit),
    /// A transaction of writes.
    Transact(Vec<Edit>),
}

impl Action {
    pub fn edits(&self) -> &[Edit] {
        match self {
            Self::Get(_) | Self::GetTogether(_) => &[],
            Self::Write(edit) => std::slice::from_ref(edit),
            Self::Transact(edits) => edits,
        }
    }

    /// The keys it reads and returns.
    pub fn reads(&self) -> &[usize] {
        match self {
            Self::Get(key) => std::slice::from_ref(key),
            Self::GetTogether(keys) => keys,
            Self::Write(_) | Self::Transact(_) => &[],
        }
    }

    pub fn keys(&self) -> impl Iterator<Item = usize> {
        self.reads().iter().copied().chain(self.edits().iter().map(|edit| edit.key))
    }
}

/// The response to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The items read, by key.
    Read(Vec<Seen>),
    /// Done; with the old image for a single write (a transaction returns none).
    Done(Vec<Seen>),
    /// A condition failed: for each edit the existing item, or `None` if its condition held.
    Refused(Vec<Option<Seen>>),
    /// Failed without effect (a conflict, throttling, writes stopped).
    Failed,
    /// Unknown: no response, or one that leaves it open. A write may take effect at any later time.
    Unknown,
    /// A response that no store may give.
    Strange(String),
}

/// One call of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub task: usize,
    /// Start time, in ticks of the history's clock. No two times are equal.
    pub asked: u64,
    /// End time; `None` if there was no response, so that it may still be in progress.
    pub answered: Option<u64>,
    pub action: Action,
    pub answer: Answer,
}

/// Formats an item.
struct Shown(Seen);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("nothing"),
            Some(Image { stamp: Some(stamp), count: None }) => write!(f, "#{stamp}"),
            Some(Image { stamp: Some(stamp), count: Some(count) }) => {
                write!(f, "#{stamp} count {count}")
            }
            Some(Image { stamp: None, count }) => write!(f, "count {}", count.unwrap_or(0)),
        }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key;
        match self.effect {
            Effect::Put(stamp) => write!(f, "put k{key} #{stamp}")?,
            Effect::Add(amount) => write!(f, "add k{key} {amount}")?,
            Effect::Delete => write!(f, "delete k{key}")?,
            Effect::Nothing => write!(f, "check k{key}")?,
        }
        match self.precondition {
            None => Ok(()),
            Some(Precondition::Absent) => f.write_str(" if absent"),
            Some(Precondition::Present) => f.write_str(" if present"),
            Some(Precondition::Stamp(stamp)) => write!(f, " if #{stamp}"),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Get(key) => write!(f, "get k{key}"),
            Self::GetTogether(keys) => {
                f.write_str("get together ")?;
                join(f, keys, |f, key| write!(f, "k{key}"))
            }
            Self::Write(edit) => edit.fmt(f),
            Self::Transact(edits) => {
                f.write_str("transact {")?;
                join(f, edits, |f, edit| edit.fmt(f))?;
                f.write_str("}")
            }
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(seen) => {
                f.write_str("saw ")?;
                join(f, seen, |f, seen| Shown(*seen).fmt(f))
            }
            Self::Done(seen) if seen.is_empty() => f.write_str("done"),
            Self::Done(seen) => {
                f.write_str("done, was ")?;
                join(f, seen, |f, seen| Shown(*seen).fmt(f))
            }
            Self::Refused(parts) => {
                f.write_str("refused: ")?;
                join(f, parts, |f, part| match part {
                    None => f.write_str("fine"),
                    Some(seen) => Shown(*seen).fmt(f),
                })
            }
            Self::Failed => f.write_str("failed without effect"),
            Self::Unknown => f.write_str("unknown"),
            Self::Strange(what) => write!(f, "strange: {what}"),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, asked, .. } = self;
        match self.answered {
            Some(answered) => write!(f, "{asked:>5} to {answered:<5}")?,
            None => write!(f, "{asked:>5} to ?    ")?,
        }
        write!(f, " task {task}: {} -> {}", self.action, self.answer)
    }
}

fn join<T>(
    f: &mut fmt::Formatter<'_>,
    parts: &[T],
    show: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        show(f, part)?;
    }
    Ok(())
}
