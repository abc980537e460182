//! The name that a misspelled one was probably meant to be.

/// The one of `names` that is at most two slips, and less than half its length, away from `word`.
pub(crate) fn nearest(word: &str, names: &[&'static str]) -> Option<&'static str> {
    let word = word.to_lowercase();
    names
        .iter()
        .map(|name| (distance(&word, name), *name))
        .filter(|(slips, name)| *slips <= 2 && slips * 2 < name.len())
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, name)| name)
}

/// Slips from `a` to `b`: a letter added, left out, changed, or swapped with its neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                table[i][j] = i + j;
                continue;
            }
            let changed = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut slips = changed.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                slips = slips.min(table[i - 2][j - 2] + 1);
            }
            table[i][j] = slips;
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    const NAMES: &[&str] = &["workers", "pin", "local", "crate"];

    #[test]
    fn counts_each_kind_of_slip_once() {
        for (word, slips) in [("pin", 0), ("pins", 1), ("pn", 1), ("pan", 1), ("pni", 1), ("", 3)] {
            assert_eq!(distance(word, "pin"), slips, "{word}");
            assert_eq!(distance("pin", word), slips, "{word}");
        }
    }

    #[test]
    fn the_intended_option_is_found() {
        for (word, name) in [
            ("worker", "workers"),
            ("wrokers", "workers"),
            ("Workers", "workers"),
            ("pinn", "pin"),
            ("locla", "local"),
            ("krate", "crate"),
        ] {
            assert_eq!(nearest(word, NAMES), Some(name), "{word}");
        }
    }

    #[test]
    fn does_not_guess_wildly() {
        for word in ["flavor", "threads", "on", "x", "", "p"] {
            assert_eq!(nearest(word, NAMES), None, "{word}");
        }
    }
}
