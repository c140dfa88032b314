//! Converts DynamoDB's consumed capacity to the contract's units.

use aws_sdk_dynamodb::types::ConsumedCapacity;
use roundtable_table::Capacity;

/// Returns the capacity of a read; zero if the server does not report it.
pub(crate) fn read<'a>(consumed: impl IntoIterator<Item = &'a ConsumedCapacity>) -> Capacity {
    sum(consumed, |consumed| Capacity {
        read_halves: whole(consumed.capacity_units.unwrap_or(0.0) * 2.0),
        write_units: 0,
    })
}

/// Returns the capacity of a write; a repeated transaction costs a read.
pub(crate) fn write<'a>(consumed: impl IntoIterator<Item = &'a ConsumedCapacity>) -> Capacity {
    sum(consumed, |consumed| match (consumed.read_capacity_units, consumed.write_capacity_units) {
        (None, None) => {
            Capacity { read_halves: 0, write_units: whole(consumed.capacity_units.unwrap_or(0.0)) }
        }
        (reads, writes) => Capacity {
            read_halves: whole(reads.unwrap_or(0.0) * 2.0),
            write_units: whole(writes.unwrap_or(0.0)),
        },
    })
}

fn sum<'a>(
    consumed: impl IntoIterator<Item = &'a ConsumedCapacity>,
    convert: impl Fn(&ConsumedCapacity) -> Capacity,
) -> Capacity {
    consumed.into_iter().map(convert).sum()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what fits, and units are whole"
)]
fn whole(units: f64) -> u64 {
    units.round().clamp(0.0, f64::from(u32::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_count_in_half_units_and_writes_in_whole_ones() {
        let consumed = |units| ConsumedCapacity::builder().capacity_units(units).build();
        assert_eq!(read(&[consumed(0.5), consumed(2.0)]).read_halves, 5);
        assert_eq!(write(&[consumed(3.0)]), Capacity { read_halves: 0, write_units: 3 });
        let both = ConsumedCapacity::builder().capacity_units(4.0).read_capacity_units(4.0).build();
        assert_eq!(write(&[both]), Capacity { read_halves: 8, write_units: 0 });
    }
}
