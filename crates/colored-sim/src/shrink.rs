//! Which choices of a failing run the failure needs.

use std::collections::{BTreeMap, BTreeSet};

/// Removes choices for as long as `fails` says that the run without them fails as well, with at most `runs` calls. The
/// result fails, and if the calls were enough, none of its choices can be removed alone.
///
/// First all choices of one kind are removed, for most kinds do not matter to a failure. Then delta debugging (Zeller and
/// Hildebrandt, 2002): first large parts are removed, then smaller ones, and what is of one kind stands together.
pub(crate) fn shrink<K: Copy + Ord, V: Copy, T: Ord>(
    deviations: BTreeMap<K, V>,
    mut runs: usize,
    kind: impl Fn(&K) -> T,
    mut fails: impl FnMut(&BTreeMap<K, V>) -> bool,
) -> BTreeMap<K, V> {
    let mut kept: Vec<(K, V)> = deviations.into_iter().collect();
    kept.sort_by_key(|(key, _)| kind(key));
    let kinds: BTreeSet<T> = kept.iter().map(|(key, _)| kind(key)).collect();
    for removed in kinds {
        let rest: BTreeMap<K, V> =
            kept.iter().filter(|(key, _)| kind(key) != removed).copied().collect();
        if runs > 0 {
            runs -= 1;
            if fails(&rest) {
                kept.retain(|(key, _)| kind(key) != removed);
            }
        }
    }
    let mut size = kept.len().div_ceil(2);
    while size > 0 && runs > 0 {
        let mut removed_any = false;
        let mut at = 0;
        while at < kept.len() && runs > 0 {
            let end = (at + size).min(kept.len());
            let rest: Vec<_> = kept[..at].iter().chain(&kept[end..]).copied().collect();
            runs -= 1;
            if fails(&rest.iter().copied().collect()) {
                kept = rest;
                removed_any = true;
            } else {
                at = end;
            }
        }
        size = match (size, removed_any) {
            (1, true) => 1,
            (1, false) => 0,
            _ => size.div_ceil(2),
        };
    }
    kept.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use std::collections::BTreeMap;

    fn many() -> BTreeMap<u64, usize> {
        (0..400).map(|choice| (choice * 3, choice as usize % 7)).collect()
    }

    #[test]
    fn the_choices_that_matter_remain() {
        for needed in [vec![], vec![0], vec![399], vec![12, 300], vec![1, 2, 3, 250, 251]] {
            let mut runs = 0;
            let kept = shrink(
                many(),
                500,
                |choice| choice % 2,
                |of| {
                    runs += 1;
                    needed.iter().all(|choice| of.contains_key(&(choice * 3)))
                },
            );
            let choices: Vec<u64> = kept.keys().map(|choice| choice / 3).collect();
            assert_eq!(choices, needed);
            assert!(runs <= 500, "{runs} runs");
        }
    }

    #[test]
    fn each_kind_is_removed_as_a_whole_first() {
        let mut tried = Vec::new();
        let fails = |of: &BTreeMap<u64, usize>| {
            tried.push(of.len());
            of.contains_key(&3)
        };
        let kept = shrink(many(), 500, |choice| choice % 2, fails);
        assert_eq!(kept.len(), 1);
        // Without the even ones; without the odd ones, which does not fail; then halves.
        assert_eq!(tried[..4], [200, 0, 100, 100]);
    }

    #[test]
    fn it_ends_with_the_runs() {
        let mut runs = 0;
        let kept = shrink(
            many(),
            10,
            |choice| choice % 2,
            |of| {
                runs += 1;
                of.len() > 390
            },
        );
        assert!(kept.len() > 390 && runs <= 10);
    }
}
