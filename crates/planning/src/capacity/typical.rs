//! The size of a typical item of each entity.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use roundtable_model::samples;

use super::CapacityError;

static BYTES: LazyLock<BTreeMap<&'static str, usize>> = LazyLock::new(|| {
    samples::typical().iter().map(|(entity, item)| (entity.name, item.size())).collect()
});

pub(super) fn bytes(entity: &'static str) -> Result<usize, CapacityError> {
    BYTES.get(entity).copied().ok_or(CapacityError::NoSample { entity })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entity_has_a_typical_item() {
        for entity in roundtable_model::SCHEMA.iter().flat_map(|table| table.entities) {
            bytes(entity.name).unwrap();
        }
    }
}
