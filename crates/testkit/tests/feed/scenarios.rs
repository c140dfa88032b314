//! Histories of two concurrent operations, played in every order.

use roundtable_domain::FeedPolicy;
use roundtable_model::Visibility;

use crate::cast::{Club, Name, Server};
use crate::step::{FeedAction, History, Nth, Opening, Read, Step};

/// Ana follows bo and cleo. Bo has posts, some of them copied; some copies are trimmed when the
/// worker runs.
fn before(then: Vec<Step>) -> History {
    let opening = Opening {
        policy: FeedPolicy::Push,
        is_moderated: false,
        automatic: false,
        follows: vec![(Name::Ana, Name::Bo), (Name::Ana, Name::Cleo)],
        members: Vec::new(),
        promoted: Vec::new(),
    };
    let mut steps = vec![writes(Name::Bo); 3];
    steps.push(writes(Name::Cleo));
    steps.push(Step::Settle);
    steps.push(Step::Policy(None, FeedPolicy::Pull));
    steps.push(writes(Name::Bo));
    steps.push(Step::Policy(None, FeedPolicy::Push));
    steps.extend(vec![writes(Name::Bo); 6]);
    steps.push(writes(Name::Cleo));
    steps.extend(then);
    History { opening, pace_ms: 100, steps }
}

fn writes(who: Name) -> Step {
    Step::Do { who, at: Server::North, action: FeedAction::Post(None, Visibility::Public) }
}

const fn reads(size: usize) -> Read {
    Read { who: Name::Ana, at: Server::North, size, anew: true }
}

/// The worker runs after this many waits of a reader.
pub(crate) fn worker_comes(waits: usize) -> History {
    before(vec![Step::ReadWhile { read: reads(12), waits, concurrent_steps: vec![Step::Settle] }])
}

/// The worker stalls after this many waits; a user reads, another worker runs, and the first
/// resumes.
pub(crate) fn worker_stalls(waits: usize) -> History {
    let read = || Step::Read(reads(12));
    let others = [Step::Wait(61_000), writes(Name::Bo), Step::Settle, writes(Name::Bo), read()];
    let mut then = vec![Step::Stall(waits), read()];
    then.extend(others);
    then.extend([Step::Resume, read()]);
    before(then)
}

/// The worker dies after this many writes; another one runs later.
pub(crate) fn worker_dies(writes: usize) -> History {
    let read = || Step::Read(reads(12));
    before(vec![Step::Die(writes), read(), Step::Wait(61_000), Step::Settle, read()])
}

/// The worker fails after this many writes and gives up; its dead letter is redriven.
pub(crate) fn worker_gives_up(writes: usize) -> History {
    let read = || Step::Read(reads(12));
    before(vec![Step::Park(writes), read(), Step::Redrive, read(), Step::Settle, read()])
}

/// Changes during the first read of a user, on a server with other readers.
const CHANGES: [(Name, FeedAction); 6] = [
    (Name::Bo, FeedAction::Post(None, Visibility::Public)),
    (Name::Bo, FeedAction::Show(Nth(0), Visibility::Private)),
    (Name::Bo, FeedAction::Rewrite(Nth(0))),
    (Name::Bo, FeedAction::Delete(Nth(0))),
    (Name::Bo, FeedAction::Suspend),
    (Name::Ana, FeedAction::Close(Club::Runners)),
];

/// Makes changes after this many waits of a reader, or of a warm-up, which another reader sees
/// first.
fn others_read(waits: usize, is_warming: bool) -> History {
    let opening = Opening {
        policy: FeedPolicy::Pull,
        is_moderated: false,
        automatic: false,
        follows: vec![(Name::Ana, Name::Bo), (Name::Cleo, Name::Bo), (Name::Cleo, Name::Ana)],
        members: vec![(Name::Cleo, Club::Runners)],
        promoted: Vec::new(),
    };
    let at = Server::South;
    let does = |who, action| Step::Do { who, at: Server::North, action };
    let reads = |who| Step::Read(Read { who, at, size: 5, anew: true });
    let mut steps = vec![writes(Name::Bo), writes(Name::Bo)];
    steps.push(does(Name::Ana, FeedAction::Post(Some(Club::Runners), Visibility::Public)));
    for (who, action) in CHANGES {
        // Mo has no follows, and caches nothing that ana would read.
        let concurrent_steps = vec![does(who, action), reads(Name::Mo)];
        steps.push(Step::Restart(at, 1));
        steps.push(if is_warming {
            Step::WarmUpWhile { at, waits, concurrent_steps }
        } else {
            Step::ReadWhile {
                read: Read { who: Name::Ana, at, size: 5, anew: true },
                waits,
                concurrent_steps,
            }
        });
        steps.extend([reads(Name::Ana), reads(Name::Cleo), does(Name::Bo, FeedAction::Reinstate)]);
        steps.push(reads(Name::Cleo));
    }
    History { opening, pace_ms: 100, steps }
}

pub(crate) fn others_read_first(waits: usize) -> History {
    others_read(waits, false)
}

pub(crate) fn others_read_while_it_warms_up(waits: usize) -> History {
    others_read(waits, true)
}
