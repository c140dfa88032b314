//! The limit on open files, and the part of it that connections may take: the rest is for the store, media
//! files and requests to other services.

use std::os::fd::{AsRawFd, RawFd};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than any server here has connections.
const LIMIT_MAX: u64 = 1 << 20;
/// The most that macOS grants where its hard limit says that there is none.
const LIMIT_OF_MACOS: u64 = 10_240;
/// This part of the limit is not for connections, but no more than `RESERVE_MAX`.
const RESERVE_SHARE: u64 = 4;
const RESERVE_MAX: u64 = 1_024;
/// The part of the reserve that nothing but the store may need: no connection is accepted into it, whatever
/// else is open.
const STORE_SHARE: u64 = 2;

/// The number of files, sockets included, that this process may have open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorLimit(u64);

impl DescriptorLimit {
    /// Raises the soft limit to the hard one, and returns the limit that applies then.
    pub(crate) fn raise() -> Self {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let hard = maximum.unwrap_or(LIMIT_MAX).min(LIMIT_MAX);
        for wanted in [hard, hard.min(LIMIT_OF_MACOS)] {
            if current.is_none_or(|current| current >= wanted) {
                break;
            }
            let raised = Rlimit { current: Some(wanted), maximum };
            match setrlimit(Resource::Nofile, raised) {
                Ok(()) => break,
                Err(error) => tracing::debug!(%error, wanted, "the limit on open files stays"),
            }
        }
        Self(getrlimit(Resource::Nofile).current.unwrap_or(LIMIT_MAX))
    }

    /// Returns how many connections there is room for, at most as many as are configured.
    pub(crate) fn connections(self, configured: usize) -> usize {
        let room = usize::try_from(self.0 - self.reserve()).unwrap_or(usize::MAX);
        let (limit, connections) = (self.0, configured.min(room).max(1));
        if connections < configured {
            tracing::warn!(
                limit,
                connections,
                configured,
                "the limit on open files leaves room for fewer connections than http.connections-max: raise it \
                 (`ulimit -Hn`, LimitNOFILE= in a systemd unit), or lower the setting"
            );
        } else {
            tracing::info!(limit, connections, "limits of open files and connections");
        }
        connections
    }

    /// Returns whether a new connection takes what is left for the store. A system gives the lowest number
    /// that is free, so a high one means that as many are in use.
    pub(crate) fn is_short(self, connection: &impl AsRawFd) -> bool {
        self.is_reserved(connection.as_raw_fd())
    }

    fn is_reserved(self, descriptor: RawFd) -> bool {
        let for_store = self.reserve() / STORE_SHARE;
        u64::try_from(descriptor).is_ok_and(|number| number >= self.0 - for_store)
    }

    const fn reserve(self) -> u64 {
        let share = self.0 / RESERVE_SHARE;
        if share < RESERVE_MAX { share } else { RESERVE_MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_descriptors_is_never_for_connections() {
        for (limit, connections, reserved) in [(1_024, 768, 896), (65_536, 10_000, 65_024)] {
            let limit = DescriptorLimit(limit);
            assert_eq!(limit.connections(10_000), connections);
            assert!(limit.is_reserved(reserved) && !limit.is_reserved(reserved - 1));
        }
        assert_eq!(DescriptorLimit(2).connections(10_000), 2);
        assert_eq!(DescriptorLimit(0).connections(10_000), 1);
    }
}
