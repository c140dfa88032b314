//! Suggestions for misspelled names.

const SUGGESTED_MAX: usize = 3;

/// Returns a sentence with the names most similar to `wanted`.
pub(super) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_cached_key(|name| (distance(wanted, name), *name));
    names.dedup();
    names.truncate(SUGGESTED_MAX);
    match names.as_slice() {
        [] => String::from("none is expected here"),
        [only] => format!("the only one is {only}"),
        several => format!("the nearest are {}", several.join(", ")),
    }
}

/// Returns the edit distance, ignoring case and separators. Names with a common prefix are nearer,
/// because users tend to omit endings.
fn distance(left: &str, right: &str) -> usize {
    let (left, right) = (folded(left), folded(right));
    let shared = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, letter) in left.iter().enumerate() {
        let mut next = vec![above + 1];
        for ((other, up), diagonal) in right.iter().zip(row.iter().skip(1)).zip(&row) {
            let before = next.last().copied().unwrap_or_default();
            next.push((diagonal + usize::from(letter != other)).min(before + 1).min(up + 1));
        }
        row = next;
    }
    2 * row.last().copied().unwrap_or_default() + left.len().max(right.len()) - shared
}

fn folded(name: &str) -> Vec<char> {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_misspelled_name_suggests_the_nearest_names() {
        let names = ["timeline", "profile", "post", "posts", "posts_by"];
        assert!(nearest("timline", names).starts_with("the nearest are timeline, "));
        assert!(nearest("Post-by", names).starts_with("the nearest are posts_by"));
        assert_eq!(nearest("x", ["only"]), "the only one is only");
        assert_eq!(nearest("x", []), "none is expected here");
    }
}
