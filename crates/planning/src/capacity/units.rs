//! Numbers as text.

/// Formats a number with at most two decimal places and thousands separators.
pub(super) fn format_number(number: f64) -> String {
    let text = format_money(number);
    match text.strip_suffix(".00") {
        Some(whole) => whole.to_owned(),
        None => text.trim_end_matches('0').to_owned(),
    }
}

/// Formats a number with two decimal places and thousands separators.
pub(super) fn format_money(number: f64) -> String {
    // The sum of no numbers is minus zero; adding zero removes the sign.
    let text = format!("{:.2}", number + 0.0);
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, "00"));
    let mut grouped = String::with_capacity(text.len() + whole.len() / 3);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped}.{decimals}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_grouped() {
        let shown = [0.0, 0.5, 12.25, 100.0, 999.999, 1234.5, 1_234_567.0].map(format_number);
        assert_eq!(shown, ["0", "0.5", "12.25", "100", "1,000", "1,234.5", "1,234,567"]);
        assert_eq!([-0.0, 1234.5].map(format_money), ["0.00", "1,234.50"]);
    }
}
