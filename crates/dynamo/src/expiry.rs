//! Expired items, hidden before DynamoDB sweeps them: it may take days, and the contract says that
//! they are gone from the second of their ttl on.

use roundtable_table::{Condition, Item, TableDefinition, attribute};

/// Past its time at `now`; `None` for tables whose items never are. A ttl that is no number, or
/// negative, never comes; one with a fraction comes at the next whole second.
pub(crate) fn expired(table: &TableDefinition, now_seconds: u64) -> Option<Condition> {
    let ttl = table.ttl.as_deref()?;
    Some(attribute(ttl).between(0, now_seconds))
}

/// `condition` as DynamoDB must see it, so that an expired item counts as absent.
pub(crate) fn guarded(
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

/// The same for a put or update, which must find no expired item, whatever its condition: it begins
/// anew where there was one, and the old one goes first.
pub(crate) fn guarded_anew(
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

/// The item, unless it has expired.
pub(crate) fn live(table: &TableDefinition, item: Item, now_seconds: u64) -> Option<Item> {
    (!table.is_expired(&item, now_seconds)).then_some(item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtable_table::{KeyDefinition, Number, exists, item, not_exists};

    /// A guarded condition must say of every item what the bare one says of what can be seen.
    #[test]
    fn a_guarded_condition_takes_an_expired_item_for_absent() {
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
            let seen = guarded(&table, Some(condition), now).unwrap();
            assert_eq!(seen.holds(None), condition.holds(None), "{condition:?} of nothing");
            for item in &items {
                let visible = live(&table, item.clone(), now);
                let expected = condition.holds(visible.as_ref());
                assert_eq!(seen.holds(Some(item)), expected, "{condition:?} of {item:?}");
            }
        }
    }

    #[test]
    fn tables_without_expiry_need_no_guard() {
        let table = TableDefinition::new("t", KeyDefinition::partition("p"));
        assert_eq!(guarded(&table, Some(&exists("a")), 1), Some(exists("a")));
        assert_eq!(guarded_anew(&table, None, 1), None);
        assert_eq!(guarded(&table.with_ttl("t"), None, 1), None);
    }
}
