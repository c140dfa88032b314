//! What can happen in a history: as data, so that a failing one can be made shorter.

use roundtable_domain::FeedPolicy;
use roundtable_model::{ModerationStatus, Visibility};

use crate::cast::{Club, Door, Name};

/// A whole history.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) opening: Opening,
    /// How long every step takes, in milliseconds.
    pub(crate) pace_ms: u64,
    pub(crate) steps: Vec<Step>,
}

/// How things are when it begins.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) policy: FeedPolicy,
    /// Whether moderators see posts first, at the east door.
    pub(crate) is_moderated: bool,
    /// Whether people are promoted by themselves, as soon as three follow them.
    pub(crate) automatic: bool,
    /// Who follows whom, accepted where that is needed.
    pub(crate) follows: Vec<(Name, Name)>,
    pub(crate) members: Vec<(Name, Club)>,
    pub(crate) promoted: Vec<Actor>,
}

/// Whoever has activities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    Person(Name),
    Club(Club),
}

/// One of the posts, or comments, so far: counted from the first, round and round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nth(pub(crate) usize);

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Somebody does something.
    Do {
        who: Name,
        at: Door,
        deed: Deed,
    },
    /// Whose activities are copied from now on: at one door, or at all of them.
    Policy(Option<Door>, FeedPolicy),
    Promote(Actor),
    Demote(Actor),
    /// A worker does everything there is to do.
    Settle,
    /// A worker dies after so many writes into feeds.
    Die(usize),
    /// After so many writes into feeds the store refuses them, until the work is parked.
    Park(usize),
    /// What was parked is to be tried again.
    Redrive,
    /// A worker stops after so many waits.
    Stall(usize),
    /// It goes on.
    Resume,
    Wait(u64),
    /// A process sets its clock, or the worker does: so many milliseconds beside the true time.
    Clock(Option<Door>, i64),
    /// A process forgets everything, and holds copies for so many days from now on.
    Restart(Door, u32),
    /// A process reads the latest activities into memory.
    WarmUp(Door),
    Read(Read),
    /// A page is being read, and stops at so many waits, while other things happen.
    ReadWhile {
        read: Read,
        waits: usize,
        meanwhile: Vec<Step>,
    },
    /// The same with a process that reads the latest activities into memory.
    WarmUpWhile {
        at: Door,
        waits: usize,
        meanwhile: Vec<Step>,
    },
}

/// A page of somebody's feed: the next one of their run, or the first of another run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) who: Name,
    pub(crate) at: Door,
    pub(crate) size: usize,
    pub(crate) anew: bool,
}

/// What people do. What is only its author's to do is done by the author, whoever is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Follow(Name),
    Unfollow(Name),
    Accept(Name),
    Reject(Name),
    Mute(Name, bool),
    Block(Name),
    Unblock(Name),
    Join(Club),
    Leave(Club),
    /// By those who founded the club.
    LetIn(Club),
    Remove(Club),
    Close(Club),
    Post(Option<Club>, Visibility),
    Share(Nth),
    Unshare(Nth),
    Rewrite(Nth),
    Show(Nth, Visibility),
    Delete(Nth),
    Comment(Nth),
    DeleteComment(Nth),
    Tell(Topic),
    DropGoal,
    TurnPrivate(bool),
    /// By the moderator, all of these.
    Judge(Nth, ModerationStatus),
    JudgeComment(Nth, ModerationStatus),
    Suspend,
    Reinstate,
    DeleteAccount,
}

/// What somebody tells of by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Themselves,
    Goal,
    /// A task on the way to it, which is there as long as the goal is.
    Task,
    /// A group they are in, to those who follow them.
    Club(Club),
    /// A goal, to a group they are in.
    GoalIn(Club),
    Post(Nth),
    Comment(Nth),
}
