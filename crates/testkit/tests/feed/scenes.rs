//! Histories in which the order matters of what two do at the same time: lived through in every order.

use roundtable_domain::FeedPolicy;
use roundtable_model::Visibility;

use crate::cast::{Door, Name};
use crate::step::{Deed, History, Opening, Read, Step};

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
    let read = |size| {
        let meanwhile = Box::new(Step::Settle);
        Step::ReadWhile { read: reads(size), waits, meanwhile }
    };
    before(vec![read(12)])
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
