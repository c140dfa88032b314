//! Narrows sort ranges to what follows a position, for the next page of a merge.

use roundtable_table::{Order, Scalar, SortRange};

/// Returns the part of `range` from `at` on, `at` included, in `order`; `None` if it is empty. May
/// extend beyond the far end of `range` if DynamoDB cannot express both bounds: callers must stop at
/// the first key outside of `range`.
pub(crate) fn starting_at(range: &SortRange, order: Order, at: &Scalar) -> Option<SortRange> {
    match order {
        Order::Ascending => upward(range, at),
        Order::Descending => downward(range, at),
    }
}

fn upward(range: &SortRange, at: &Scalar) -> Option<SortRange> {
    let on = || SortRange::GreaterOrEqual(at.clone());
    match range {
        SortRange::All => Some(on()),
        SortRange::Equal(value) => (value >= at).then(|| range.clone()),
        SortRange::Less(high) if at >= high => None,
        SortRange::LessOrEqual(high) if at > high => None,
        SortRange::Less(high) | SortRange::LessOrEqual(high) => {
            Some(SortRange::Between(at.clone(), high.clone()))
        }
        SortRange::Greater(low) | SortRange::GreaterOrEqual(low) => {
            Some(if at > low { on() } else { range.clone() })
        }
        SortRange::Between(_, high) if at > high => None,
        SortRange::Between(low, high) => {
            Some(SortRange::Between(low.max(at).clone(), high.clone()))
        }
        SortRange::BeginsWith(prefix) if range.contains(at) => {
            debug_assert!(at >= prefix);
            Some(on())
        }
        SortRange::BeginsWith(prefix) => (at < prefix).then(|| range.clone()),
    }
}

fn downward(range: &SortRange, at: &Scalar) -> Option<SortRange> {
    let on = || SortRange::LessOrEqual(at.clone());
    match range {
        SortRange::All => Some(on()),
        SortRange::Equal(value) => (value <= at).then(|| range.clone()),
        SortRange::Greater(low) if at <= low => None,
        SortRange::GreaterOrEqual(low) if at < low => None,
        SortRange::Greater(low) | SortRange::GreaterOrEqual(low) => {
            Some(SortRange::Between(low.clone(), at.clone()))
        }
        SortRange::Less(high) | SortRange::LessOrEqual(high) => {
            Some(if at < high { on() } else { range.clone() })
        }
        SortRange::Between(low, _) if at < low => None,
        SortRange::Between(low, high) => {
            Some(SortRange::Between(low.clone(), high.min(at).clone()))
        }
        SortRange::BeginsWith(prefix) if range.contains(at) => {
            Some(SortRange::Between(prefix.clone(), at.clone()))
        }
        SortRange::BeginsWith(prefix) => (at > prefix).then(|| range.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_range() -> impl Strategy<Value = SortRange> {
        let key = || "[ab]{1,3}".prop_map(Scalar::from);
        prop_oneof![
            Just(SortRange::All),
            key().prop_map(SortRange::Equal),
            key().prop_map(SortRange::Less),
            key().prop_map(SortRange::LessOrEqual),
            key().prop_map(SortRange::Greater),
            key().prop_map(SortRange::GreaterOrEqual),
            key().prop_map(SortRange::BeginsWith),
            (key(), key()).prop_map(|(a, b)| {
                let (low, high) = if a <= b { (a, b) } else { (b, a) };
                SortRange::Between(low, high)
            }),
        ]
    }

    proptest! {
        /// Read in order up to the first key outside the range, the narrowed range has exactly the
        /// keys of the range from there on.
        #[test]
        fn a_narrowed_range_has_the_keys_that_follow(
            range in any_range(),
            at in "[ab]{1,3}",
            mut keys in prop::collection::btree_set("[ab]{1,4}", 0..30)
                .prop_map(|keys| keys.into_iter().map(Scalar::from).collect::<Vec<_>>()),
            falling in any::<bool>(),
        ) {
            let at = Scalar::from(at);
            let order = if falling { Order::Descending } else { Order::Ascending };
            if falling {
                keys.reverse();
            }
            let after = |key: &Scalar| if falling { *key <= at } else { *key >= at };
            let expected: Vec<&Scalar> =
                keys.iter().filter(|key| range.contains(key) && after(key)).collect();
            let cut = starting_at(&range, order, &at);
            if let Some(SortRange::Between(low, high)) = &cut {
                prop_assert!(low <= high, "DynamoDB refuses an empty range");
            }
            let found: Vec<&Scalar> = cut.iter()
                .flat_map(|cut| keys.iter().filter(|key| cut.contains(key)))
                .take_while(|key| range.contains(key))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
