//! Histories in which the order matters of what two do at the same time: lived through in every order.

use roundtable_domain::FeedPolicy;
use roundtable_model::Visibility;

use crate::cast::{Club, Door, Name};
use crate::step::{Deed, History, Nth, Opening, Read, Step};

/// Ana follows bo and cleo. Bo has written, copied and not; some of it is trimmed when the worker comes.
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
    Step::Do { who, at: Door::North, deed: Deed::Post(None, Visibility::Public) }
}

const fn reads(size: usize) -> Read {
    Read { who: Name::Ana, at: Door::North, size, anew: true }
}

/// The worker comes after so many waits of a reader.
pub(crate) fn worker_comes(waits: usize) -> History {
    before(vec![Step::ReadWhile { read: reads(12), waits, meanwhile: vec![Step::Settle] }])
}

/// The worker stalls after so many waits; somebody reads, another worker comes, and the first goes on.
pub(crate) fn worker_stalls(waits: usize) -> History {
    let read = || Step::Read(reads(12));
    let others = [Step::Wait(61_000), writes(Name::Bo), Step::Settle, writes(Name::Bo), read()];
    let mut then = vec![Step::Stall(waits), read()];
    then.extend(others);
    then.extend([Step::Resume, read()]);
    before(then)
}

/// The worker dies after so many writes; another one comes later.
pub(crate) fn worker_dies(writes: usize) -> History {
    let read = || Step::Read(reads(12));
    before(vec![Step::Die(writes), read(), Step::Wait(61_000), Step::Settle, read()])
}

/// The worker is refused after so many writes, and gives up; it is told to try again.
pub(crate) fn worker_gives_up(writes: usize) -> History {
    let read = || Step::Read(reads(12));
    before(vec![Step::Park(writes), read(), Step::Redrive, read(), Step::Settle, read()])
}

/// What may change while somebody reads who has never read before, at a door where others read, too.
const CHANGES: [(Name, Deed); 6] = [
    (Name::Bo, Deed::Post(None, Visibility::Public)),
    (Name::Bo, Deed::Show(Nth(0), Visibility::Private)),
    (Name::Bo, Deed::Rewrite(Nth(0))),
    (Name::Bo, Deed::Delete(Nth(0))),
    (Name::Bo, Deed::Suspend),
    (Name::Ana, Deed::Close(Club::Runners)),
];

/// Things change after so many waits of a reader, or of a process that warms up, and another reader
/// hears of it first.
fn others_read(waits: usize, is_warming: bool) -> History {
    let opening = Opening {
        policy: FeedPolicy::Pull,
        is_moderated: false,
        automatic: false,
        follows: vec![(Name::Ana, Name::Bo), (Name::Cleo, Name::Bo), (Name::Cleo, Name::Ana)],
        members: vec![(Name::Cleo, Club::Runners)],
        promoted: Vec::new(),
    };
    let at = Door::South;
    let does = |who, deed| Step::Do { who, at: Door::North, deed };
    let reads = |who| Step::Read(Read { who, at, size: 5, anew: true });
    let mut steps = vec![writes(Name::Bo), writes(Name::Bo)];
    steps.push(does(Name::Ana, Deed::Post(Some(Club::Runners), Visibility::Public)));
    for (who, deed) in CHANGES {
        // Mo follows nobody, and reads nothing that ana would find remembered.
        let meanwhile = vec![does(who, deed), reads(Name::Mo)];
        steps.push(Step::Restart(at, 1));
        steps.push(if is_warming {
            Step::WarmUpWhile { at, waits, meanwhile }
        } else {
            Step::ReadWhile {
                read: Read { who: Name::Ana, at, size: 5, anew: true },
                waits,
                meanwhile,
            }
        });
        steps.extend([reads(Name::Ana), reads(Name::Cleo), does(Name::Bo, Deed::Reinstate)]);
        steps.push(reads(Name::Cleo));
    }
    History { opening, pace_ms: 100, steps }
}

/// Things change after so many waits of a reader.
pub(crate) fn others_read_first(waits: usize) -> History {
    others_read(waits, false)
}

/// Things change after so many waits of a process that warms up.
pub(crate) fn others_read_while_it_warms_up(waits: usize) -> History {
    others_read(waits, true)
}
