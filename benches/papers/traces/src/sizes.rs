//! The sizes of the files of one class.

use crate::class::Class;

/// The fractional part of the golden ratio. Its multiples, modulo 1, fill the range evenly from the first on.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The size below which the part `point` of the files lies.
///
/// Small files have sizes with uniformly distributed logarithms. Larger sizes have a bounded Pareto distribution with
/// shape 1, as the tails of sizes on web servers do.
fn quantile(class: Class, point: f64) -> f64 {
    let (least, most) = bounds(class);
    match class {
        Class::Small => least * (most / least).powf(point),
        Class::Medium | Class::Large => least / (1.0 - point * (1.0 - least / most)),
    }
}

fn mean(class: Class) -> f64 {
    let (least, most) = bounds(class);
    let logarithm = (most / least).ln();
    match class {
        Class::Small => (most - least) / logarithm,
        Class::Medium | Class::Large => logarithm * least * most / (most - least),
    }
}

fn bounds(class: Class) -> (f64, f64) {
    let (least, most) = class.bounds();
    (least as f64, most as f64)
}

/// Sizes of files of `class` whose sum is exactly `total`, or none if no such sizes exist.
///
/// Every prefix of the result has nearly the distribution of the whole. So the popular files, which come first, are
/// neither larger nor smaller than the others. `offset`, in `0.0..1.0`, selects one of many results.
pub(crate) fn sizes(class: Class, total: u64, offset: f64) -> Option<Vec<u64>> {
    let count = ((total as f64 / mean(class)).round() as u64).max(1);
    let size = |rank: u64| quantile(class, (offset + rank as f64 * GOLDEN).fract()).round() as u64;
    let (least, most) = class.bounds();
    let mut sizes: Vec<u64> = (0..count).map(|rank| size(rank).clamp(least, most)).collect();
    fit(&mut sizes, total, class).then_some(sizes)
}

/// Changes the sizes in proportion until their sum is `total`. False if the bounds of the class forbid it.
fn fit(sizes: &mut [u64], total: u64, class: Class) -> bool {
    let (least, most) = class.bounds();
    // The bounds stop some sizes, so one pass may not reach the sum. Few passes come close.
    for _ in 0..8 {
        let factor = total as f64 / sizes.iter().sum::<u64>() as f64;
        for size in &mut *sizes {
            *size = ((*size as f64 * factor).round() as u64).clamp(least, most);
        }
    }
    let sum = sizes.iter().sum::<u64>();
    let (mut missing, mut excess) = (total.saturating_sub(sum), sum.saturating_sub(total));
    for size in sizes {
        let (more, less) = (missing.min(most - *size), excess.min(*size - least));
        (missing, excess) = (missing - more, excess - less);
        *size = *size + more - less;
    }
    missing == 0 && excess == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_their_class_and_have_the_exact_sum() {
        for class in Class::ALL {
            for (total, offset) in [(1_000_000, 0.0), (12_345_678, 0.3), (800_000_001, 0.99)] {
                let sizes = sizes(class, total, offset).expect("such sizes exist");
                assert_eq!(sizes.iter().sum::<u64>(), total);
                assert!(sizes.iter().all(|&size| Class::of(size) == class));
            }
        }
    }

    #[test]
    fn popular_files_have_the_sizes_of_all_files() {
        let sizes = sizes(Class::Medium, 500_000_000, 0.5).expect("such sizes exist");
        let mean = |sizes: &[u64]| sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        let ratio = mean(&sizes[..sizes.len() / 100]) / mean(&sizes);
        assert!((0.95..1.05).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_total_below_the_smallest_file_has_no_sizes() {
        assert_eq!(sizes(Class::Large, 0x4_0000, 0.5), None);
        assert_eq!(sizes(Class::Large, 0x4_0001, 0.5), Some(vec![0x4_0001]));
    }
}
