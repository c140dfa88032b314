//! The steps of a history as data, so that a failing one can be shrunk.

use roundtable_domain::FeedPolicy;
use roundtable_model::{ModerationStatus, Visibility};

use crate::cast::{Club, Name, Server};

#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) opening: Opening,
    /// Milliseconds per step.
    pub(crate) pace_ms: u64,
    pub(crate) steps: Vec<Step>,
}

/// The state at the beginning of a history.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) policy: FeedPolicy,
    /// True if the east server moderates posts first.
    pub(crate) is_moderated: bool,
    /// True if users with three followers are promoted automatically.
    pub(crate) automatic: bool,
    /// Follows, accepted where needed.
    pub(crate) follows: Vec<(Name, Name)>,
    pub(crate) members: Vec<(Name, Club)>,
    pub(crate) promoted: Vec<Actor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    Person(Name),
    Club(Club),
}

/// One of the posts or comments so far; the index wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nth(pub(crate) usize);

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Do {
        who: Name,
        at: Server,
        action: FeedAction,
    },
    /// Sets the feed policy of one server, or of all.
    Policy(Option<Server>, FeedPolicy),
    Promote(Actor),
    Demote(Actor),
    /// A worker does all pending work.
    Settle,
    /// A worker dies after this many writes into feeds.
    Die(usize),
    /// After this many writes into feeds the store refuses them, until the work is a dead letter.
    Park(usize),
    /// Redrives dead letters.
    Redrive,
    /// A worker stalls after this many waits.
    Stall(usize),
    /// The stalled worker resumes.
    Resume,
    Wait(u64),
    /// Sets the clock of a server or the worker, in milliseconds from the true time.
    Clock(Option<Server>, i64),
    /// Restarts a server, which keeps copies for this many days from now on.
    Restart(Server, u32),
    /// Warms up the cache of a server.
    WarmUp(Server),
    Read(Read),
    /// A read that stops after this many waits while other steps run.
    ReadWhile {
        read: Read,
        waits: usize,
        concurrent_steps: Vec<Step>,
    },
    /// A warm-up that stops after this many waits while other steps run.
    WarmUpWhile {
        at: Server,
        waits: usize,
        concurrent_steps: Vec<Step>,
    },
}

/// A page of a user's feed: the next one of a run, or the first of a new run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) who: Name,
    pub(crate) at: Server,
    pub(crate) size: usize,
    pub(crate) anew: bool,
}

/// An action of a user. Actions of authors are done by the author, not by the named user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedAction {
    Follow(Name),
    Unfollow(Name),
    Accept(Name),
    Reject(Name),
    Mute(Name, bool),
    Block(Name),
    Unblock(Name),
    Join(Club),
    Leave(Club),
    /// By the owner of the group.
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
    /// These are done by the moderator.
    Judge(Nth, ModerationStatus),
    JudgeComment(Nth, ModerationStatus),
    Suspend,
    Reinstate,
    DeleteAccount,
}

/// The object of an activity that a user posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Themselves,
    Goal,
    /// A task of that goal.
    Task,
    /// A group the user is in, for the user's followers.
    Club(Club),
    /// A goal, for a group the user is in.
    GoalIn(Club),
    Post(Nth),
    Comment(Nth),
}
