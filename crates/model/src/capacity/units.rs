//! Units as numbers that can be averaged, and as people read them.

use roundtable_table::Capacity;

/// The write units of a capacity.
#[expect(clippy::cast_precision_loss, reason = "units stay far below 2^52")]
pub(super) const fn writes(capacity: Capacity) -> f64 {
    capacity.write_units as f64
}

/// A number with at most two places, and its thousands apart.
pub(super) fn figure(number: f64) -> String {
    let text = money(number);
    match text.strip_suffix(".00") {
        Some(whole) => whole.to_owned(),
        None => text.trim_end_matches('0').to_owned(),
    }
}

/// A number with two places, and its thousands apart.
pub(super) fn money(number: f64) -> String {
    // The sum of nothing is minus zero, which nobody wants to read.
    let text = format!("{:.2}", number + 0.0);
    let (whole, places) = text.split_once('.').unwrap_or((&text, "00"));
    let mut grouped = String::with_capacity(text.len() + whole.len() / 3);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped}.{places}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_grouped() {
        let shown = [0.0, 0.5, 12.25, 100.0, 999.999, 1234.5, 1_234_567.0].map(figure);
        assert_eq!(shown, ["0", "0.5", "12.25", "100", "1,000", "1,234.5", "1,234,567"]);
        assert_eq!([-0.0, 1234.5].map(money), ["0.00", "1,234.50"]);
    }
}
