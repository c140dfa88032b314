//! The cast of a history: six users, two groups, and three servers.

use std::fmt;

use roundtable_domain::{Caller, FeedMemorySettings, FeedSettings, ModerationMode};
use roundtable_model::{Role, UserId};

/// A user. Dan and Eve begin with private accounts; Mo moderates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Name {
    Ana,
    Bo,
    Cleo,
    Dan,
    Eve,
    Mo,
}

impl Name {
    pub(crate) const ALL: [Self; 6] =
        [Self::Ana, Self::Bo, Self::Cleo, Self::Dan, Self::Eve, Self::Mo];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ana => "ana",
            Self::Bo => "bo",
            Self::Cleo => "cleo",
            Self::Dan => "dan",
            Self::Eve => "eve",
            Self::Mo => "mo",
        }
    }

    pub(crate) fn id(self) -> UserId {
        self.as_str().parse().unwrap()
    }

    pub(crate) fn caller(self) -> Caller {
        let role = if self == Self::Mo { Role::Moderator } else { Role::User };
        Caller::with_roles(self.id(), &[role])
    }

    pub(crate) const fn begins_private(self) -> bool {
        matches!(self, Self::Dan | Self::Eve)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A group: ana owns the runners, bo the bakers, who are private.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Club {
    Runners,
    Bakers,
}

impl Club {
    pub(crate) const ALL: [Self; 2] = [Self::Runners, Self::Bakers];

    pub(crate) const fn owner(self) -> Name {
        match self {
            Self::Runners => Name::Ana,
            Self::Bakers => Name::Bo,
        }
    }
}

impl fmt::Display for Club {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runners => "the runners",
            Self::Bakers => "the bakers",
        })
    }
}

/// A server process. Each caches more than the one before, and they moderate posts at different
/// times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Server {
    North,
    East,
    South,
}

impl Server {
    pub(crate) const ALL: [Self; 3] = [Self::North, Self::East, Self::South];

    /// No cache, a small one, or one for everything.
    pub(crate) fn memory(self) -> FeedMemorySettings {
        let none = FeedMemorySettings {
            recent: 0,
            each: 0,
            actors: 0,
            posts: 0,
            people: 0,
            groups: 0,
            post_counters: 0,
            user_counters: 0,
            uploads: 0,
            ties: 0,
        };
        match self {
            Self::North => none,
            Self::East => FeedMemorySettings {
                recent: 8,
                each: 3,
                actors: 10,
                posts: 4,
                people: 3,
                groups: 1,
                post_counters: 3,
                user_counters: 3,
                uploads: 2,
                ties: 12,
            },
            Self::South => FeedMemorySettings::default(),
        }
    }

    /// The activities that a server passes by time in one step: none, a few, or all.
    pub(crate) fn walk_max(self) -> usize {
        match self {
            Self::North => 0,
            Self::East => 5,
            Self::South => FeedSettings::default().walk_max,
        }
    }

    /// The moderation mode of a server, if any server moderates first.
    pub(crate) const fn moderation(self, anywhere: bool) -> ModerationMode {
        match self {
            Self::East if anywhere => ModerationMode::Before,
            Self::North | Self::East => ModerationMode::Off,
            Self::South => ModerationMode::After,
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::North => "north",
            Self::East => "east",
            Self::South => "south",
        })
    }
}
