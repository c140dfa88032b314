//! Hides expired items before DynamoDB sweeps them, which may take days. In the contract they are gone
//! from the second of their ttl on.

use roundtable_table::{Condition, Item, TableDefinition, attribute};

/// Returns the condition that an item is expired; `None` for tables without a ttl. An item whose ttl is
/// negative or not a number never expires; one with a fraction expires at the next whole second.
pub(crate) fn expired(table: &TableDefinition, now_seconds: u64) -> Option<Condition> {
    let ttl = table.ttl.as_deref()?;
    Some(attribute(ttl).between(0, now_seconds))
}

/// Extends `condition` so that an expired item counts as absent.
pub(crate) fn hide_expired(
    table: &TableDefinition,
    condition: Option<&Condition>,
    now_seconds: u64,
) -> Option<Condition> {
    let condition = condition?;
    Some(match expired(table, now_seconds) {
        None => condition.clone(),
        Some(expired) if condition.holds(None) => Condition::Any(vec![expired, condition.clone()]),
        Some(expired) => Condition::All(vec![expired.negate(), condition.clone()]),
    })
}

/// Extends the condition of a put or update so that it fails on an expired item, which must be deleted
/// first.
pub(crate) fn require_unexpired(
    table: &TableDefinition,
    condition: Option<&Condition>,
    now_seconds: u64,
) -> Option<Condition> {
    let live = expired(table, now_seconds).map(Condition::negate);
    match (live, condition) {
        (Some(live), Some(condition)) => Some(Condition::All(vec![live, condition.clone()])),
        (live, condition) => live.or_else(|| condition.cloned()),
    }
}

pub(crate) fn live(table: &TableDefinition, item: Item, now_seconds: u64) -> Option<Item> {
    (!table.is_expired(&item, now_seconds)).then_some(item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtable_table::{KeyDefinition, Number, exists, item, not_exists};

    /// The extended condition must hold for an item exactly if the original one holds for its visible part.
    #[test]
    fn an_extended_condition_treats_an_expired_item_as_absent() {
        let table = TableDefinition::new("t", KeyDefinition::partition("p")).with_ttl("ttl");
        let now = 100;
        let items = [
            item! { "p" => "x", "a" => 1 },
            item! { "p" => "x", "a" => 1, "ttl" => 101 },
            item! { "p" => "x", "a" => 1, "ttl" => 100 },
            item! { "p" => "x", "a" => 1, "ttl" => "99.5".parse::<Number>().unwrap() },
            item! { "p" => "x", "a" => 1, "ttl" => "100.5".parse::<Number>().unwrap() },
            item! { "p" => "x", "a" => 1, "ttl" => "-0.5".parse::<Number>().unwrap() },
            item! { "p" => "x", "a" => 1, "ttl" => 0 },
            item! { "p" => "x", "a" => 1, "ttl" => -5 },
            item! { "p" => "x", "a" => 1, "ttl" => "100" },
        ];
        let conditions = [
            exists("a"),
            not_exists("a"),
            attribute("a").eq(1),
            attribute("a").ne(1),
            not_exists("p").or(attribute("a").eq(1)),
            exists("p").negate(),
        ];
        for condition in &conditions {
            let extended = hide_expired(&table, Some(condition), now).unwrap();
            assert_eq!(extended.holds(None), condition.holds(None), "{condition:?} of nothing");
            for item in &items {
                let visible = live(&table, item.clone(), now);
                let expected = condition.holds(visible.as_ref());
                assert_eq!(extended.holds(Some(item)), expected, "{condition:?} of {item:?}");
            }
        }
    }

    #[test]
    fn conditions_of_tables_without_expiry_are_unchanged() {
        let table = TableDefinition::new("t", KeyDefinition::partition("p"));
        assert_eq!(hide_expired(&table, Some(&exists("a")), 1), Some(exists("a")));
        assert_eq!(require_unexpired(&table, None, 1), None);
        assert_eq!(hide_expired(&table.with_ttl("t"), None, 1), None);
    }
}
