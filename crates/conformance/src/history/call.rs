//! A call: what one task asked, what it was answered, and when. Plain data that prints readably.

use std::fmt;

use roundtable_table::{Condition, attribute, exists, not_exists};

/// The attributes of an item that a history looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image {
    /// Which put wrote it; no two puts of a history share one.
    pub stamp: Option<u64>,
    /// What additions have summed up since that put.
    pub count: Option<i64>,
}

/// An item as one caller saw it, or its absence.
pub type Seen = Option<Image>;

/// What an edit demands of the item that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// There is none.
    Absent,
    /// There is one.
    Present,
    /// The put of this stamp wrote it.
    Stamp(u64),
}

impl Demand {
    /// Whether it holds.
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

/// What an edit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Replaces the item by one of this stamp.
    Put(u64),
    /// Adds to its count, making it if need be.
    Add(i64),
    /// Takes it away.
    Delete,
    /// Nothing: the edit only checks its demand.
    Nothing,
}

impl Effect {
    /// What is there afterwards.
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
    /// The key, by number.
    pub key: usize,
    /// What must hold.
    pub demand: Option<Demand>,
    /// What it does.
    pub effect: Effect,
}

impl Edit {
    /// Whether it may be done to what is there.
    pub fn allowed(&self, seen: Seen) -> bool {
        self.demand.is_none_or(|demand| demand.holds(seen))
    }
}

/// What a task asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A strong read of one key.
    Get(usize),
    /// A read of several keys at one moment.
    GetTogether(Vec<usize>),
    /// A write that returns the old image, also when it is refused.
    Write(Edit),
    /// Writes that happen together or not at all.
    Transact(Vec<Edit>),
}

impl Action {
    /// The writes it consists of.
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

    /// Every key it touches.
    pub fn keys(&self) -> impl Iterator<Item = usize> {
        self.reads().iter().copied().chain(self.edits().iter().map(|edit| edit.key))
    }
}

/// What a task was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What was read, key by key.
    Read(Vec<Seen>),
    /// It was done; for a single write, with the image before (a transaction returns none).
    Done(Vec<Seen>),
    /// A condition did not hold: per edit, what was there instead, or `None` if that edit is not to
    /// blame.
    Refused(Vec<Option<Seen>>),
    /// The store says that nothing happened (a conflict, a throttle, writes stopped).
    Failed,
    /// Nobody knows: no answer, or one that says as much. A write may happen at any time after.
    Unknown,
    /// Something no store may answer.
    Strange(String),
}

/// One call of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which task made it.
    pub task: usize,
    /// When it was asked, in ticks of the history's clock. No two moments are equal.
    pub asked: u64,
    /// When it was answered; `None` if it never was, so that it may still be under way.
    pub answered: Option<u64>,
    /// What was asked.
    pub action: Action,
    /// What was answered.
    pub answer: Answer,
}

/// An item in words.
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
        match self.demand {
            None => Ok(()),
            Some(Demand::Absent) => f.write_str(" if absent"),
            Some(Demand::Present) => f.write_str(" if present"),
            Some(Demand::Stamp(stamp)) => write!(f, " if #{stamp}"),
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
