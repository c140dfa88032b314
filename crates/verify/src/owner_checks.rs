//! Finds items that outlived their owner. The schema says which partitions list the items of one
//! owner; where such a partition also lists the owner, as a post is listed with its comments, an
//! owner that is missing in it is gone. A scan returns the items of one partition together, so only
//! the current partition is kept in memory.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use roundtable_model::shape::{Index, KeyShape};
use roundtable_model::table::Item;
use roundtable_model::{OwnerKind, TYPE};

use crate::entity_checks::item_key;
use crate::finding::{Finding, Invariant, Repair};

/// The role of an entity in the partitions of one index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartitionRole {
    Owner,
    /// Items in partitions with this prefix belong to owners of this kind.
    Belonging(OwnerKind, &'static str),
}

static ROLES: LazyLock<BTreeMap<(Index, &str), PartitionRole>> = LazyLock::new(|| {
    let mut roles = BTreeMap::new();
    let mut add = |index, name, role| {
        let before = roles.insert((index, name), role);
        debug_assert!(
            before.is_none_or(|before| before == role),
            "{name} has two roles in {index}"
        );
    };
    for kind in OwnerKind::ALL {
        let Some(owner) = kind.entity() else { continue };
        for (entity, key) in kind.belongings() {
            let mut in_index = entity.keys.iter().filter(|other| other.index == key.index);
            let is_sharded = in_index.any(|other| other.partition.is_sharded());
            if !is_sharded && owner.keys.iter().any(|own| are_listed_together(own, key)) {
                add(key.index, owner.name, PartitionRole::Owner);
                let role = PartitionRole::Belonging(*kind, key.partition.prefix());
                add(key.index, entity.name, role);
            }
        }
    }
    roles
});

/// Returns `true` if an owner and its belongings always share a partition.
fn are_listed_together(owner: &KeyShape, belonging: &KeyShape) -> bool {
    owner.index == belonging.index
        && owner.when.is_always()
        && owner.partition.prefix() == belonging.partition.prefix()
        && !owner.partition.is_sharded()
}

/// The current partition of a scan.
#[derive(Debug, Default)]
pub(crate) struct OwnerState {
    partition: String,
    has_owner: bool,
    /// The first item that belongs to the owner.
    first: Option<(OwnerKind, String)>,
}

impl OwnerState {
    /// Visits the next item of a scan. Returns a finding about the partition that ends before it.
    pub(crate) fn visit(&mut self, item: &Item, index: Index) -> Option<Finding> {
        let partition = item.text(index.partition_attribute()).unwrap_or_default();
        let mut finding = None;
        if partition != self.partition {
            finding = self.finish();
            partition.clone_into(&mut self.partition);
        }
        match item.text(TYPE).and_then(|name| ROLES.get(&(index, name))) {
            Some(PartitionRole::Owner) => self.has_owner = true,
            // An item in a wrong partition has another finding.
            Some(PartitionRole::Belonging(kind, prefix))
                if self.first.is_none() && self.partition.starts_with(prefix) =>
            {
                self.first = Some((*kind, item_key(item)));
            }
            _ => {}
        }
        finding
    }

    /// Returns a finding about the last partition.
    pub(crate) fn finish(&mut self) -> Option<Finding> {
        let Self { has_owner, first, .. } = std::mem::take(self);
        let (kind, key) = first.filter(|_| !has_owner)?;
        let expected = format!("an item whose {} exists", kind.name());
        let repair = Repair::None("delete it, or restore its owner from a backup");
        Some(Finding::new(Invariant::I6, key, expected, "the first of those left behind", repair))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn belongings_are_checked_unless_their_owner_is_in_another_partition() {
        let unchecked = OwnerKind::ALL.iter().flat_map(|kind| kind.belongings());
        let unchecked = unchecked.filter(|(entity, key)| {
            !matches!(ROLES.get(&(key.index, entity.name)), Some(PartitionRole::Belonging(..)))
        });
        let mut unchecked: Vec<&str> = unchecked.map(|(entity, _)| entity.name).collect();
        unchecked.sort_unstable();
        unchecked.dedup();
        let expected = [
            "Activity",
            "ActorHead",
            "FeedHorizon",
            "FeedItem",
            "Follow",
            "Notification",
            "Offer",
            "Promotion",
            "Task",
        ];
        assert_eq!(unchecked, expected);
    }
}
