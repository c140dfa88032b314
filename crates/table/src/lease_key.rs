//! The keys of stream leases: which worker reads which shard of a stream.
//!
//! ```text
//! LEASES#consumer#stream   SHARD#id
//! LEASES#consumer#stream   WORKER#owner
//! ```
//! Workers that share a stream keep their leases in the operations table, beside records of the
//! schema. The keys are here because import and verification must recognize them.

const LEASES: &str = "LEASES#";
const SHARD: &str = "SHARD#";
const WORKER: &str = "WORKER#";

/// The sort key of an item beside the leases of one consumer on one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseKey<'a> {
    /// The lease on a shard.
    Shard(&'a str),
    /// The announcement of a worker.
    Worker(&'a str),
}

impl<'a> LeaseKey<'a> {
    /// The attribute of a lease whose shard was read to its end.
    pub const ENDED: &'static str = "ended";

    pub fn partition(consumer: &str, stream: &str) -> String {
        format!("{LEASES}{consumer}#{stream}")
    }

    pub fn is_partition(partition: &str) -> bool {
        partition.starts_with(LEASES)
    }

    /// Returns whether the partition holds leases on `stream`, of any consumer.
    pub fn is_partition_of(partition: &str, stream: &str) -> bool {
        let rest = partition.strip_prefix(LEASES).and_then(|rest| rest.strip_suffix(stream));
        rest.is_some_and(|consumer| consumer.ends_with('#'))
    }

    pub fn sort(self) -> String {
        match self {
            Self::Shard(id) => [SHARD, id].concat(),
            Self::Worker(owner) => [WORKER, owner].concat(),
        }
    }

    pub fn parse_sort(sort: &'a str) -> Option<Self> {
        let shard = sort.strip_prefix(SHARD).map(Self::Shard);
        shard.or_else(|| sort.strip_prefix(WORKER).map(Self::Worker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back() {
        for key in [LeaseKey::Shard("shard-1"), LeaseKey::Worker("a#b")] {
            assert_eq!(LeaseKey::parse_sort(&key.sort()), Some(key));
        }
        assert_eq!(LeaseKey::parse_sort("PROFILE#ana"), None);
    }

    #[test]
    fn a_partition_belongs_to_one_stream() {
        let partition = LeaseKey::partition("processors", "core");
        assert_eq!(partition, "LEASES#processors#core");
        assert!(LeaseKey::is_partition(&partition));
        assert!(LeaseKey::is_partition_of(&partition, "core"));
        assert!(!LeaseKey::is_partition_of(&partition, "re"));
        assert!(!LeaseKey::is_partition_of("CHECKPOINT#core", "core"));
    }
}
