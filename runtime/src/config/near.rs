//! What a mistyped word was probably meant to be.

/// The word of `known` that `word` is nearly, and how far it is.
pub(super) fn nearest<'k>(
    word: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<(usize, &'k str)> {
    // A third of the letters may differ, as in the attributes.
    let allowed = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
}

/// How many letters must be changed, added, left out or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (i, char) in from.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, wanted) in to.iter().enumerate() {
            let changed = usize::from(char != *wanted);
            let mut best = (row[j] + changed).min(row[j + 1] + 1).min(next[j] + 1);
            let is_swapped = j > 0 && previous == Some(*wanted) && char == to[j - 1];
            if is_swapped {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
        previous = Some(char);
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_word_and_another_word_does_not() {
        let keys = ["threshold", "cooldown", "probes", "probe_timeout"];
        assert_eq!(nearest("treshold", keys), Some((1, "threshold")));
        assert_eq!(nearest("cooldwon", keys), Some((1, "cooldown")));
        assert_eq!(nearest("probe", keys), Some((1, "probes")));
        assert_eq!(nearest("window", keys), None);
        assert_eq!(nearest("x", keys), None);
        assert_eq!(nearest("", keys), None);
    }

    #[test]
    fn swapped_neighbours_are_one_mistake() {
        assert_eq!(distance("abcd", "abdc"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(distance("größe", "grösse"), 2);
    }
}
