//! The size of a typical item of each entity.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::CapacityError;
use crate::{Entity, samples};

static BYTES: LazyLock<BTreeMap<&'static str, usize>> = LazyLock::new(sizes);

/// The size of a typical item of an entity.
pub(super) fn bytes(entity: &'static str) -> Result<usize, CapacityError> {
    BYTES.get(entity).copied().ok_or(CapacityError::NoSample { entity })
}

fn size<E: Entity>(sample: &E) -> (&'static str, usize) {
    (E::SHAPE.name, sample.item().size())
}

fn sizes() -> BTreeMap<&'static str, usize> {
    macro_rules! of {
        ($($sample:ident)*) => { BTreeMap::from([$(size(&samples::$sample())),*]) };
    }
    of! {
        user email_lock nick_lock handle_lock credential session invitation user_counter
        follow block group group_member group_counter
        goal task milestone quest quest_step xp_entry
        activity actor_head feed_item feed_horizon promotion
        room room_head room_member message assist_thread assist_msg
        post moderation_case post_counter comment like share comment_like comment_counter report
        notification company offer tag_ref upload idempotency api_key audit
        login_attempt checkpoint job dead_letter webhook sealed_key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entity_has_a_typical_item() {
        for entity in crate::SCHEMA.iter().flat_map(|table| table.entities) {
            bytes(entity.name).unwrap();
        }
    }
}
