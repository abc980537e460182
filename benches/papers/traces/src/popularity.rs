//! How often each file of a trace is requested.
//!
//! Every file is requested at least once, or it would not belong to the footprint. The other requests of a class go to
//! its files by Zipf's law. The shares of the bytes transferred determine how many requests each class gets.

use crate::class::Class;

/// The files of one class, the most popular file first.
pub(crate) struct RankedFiles {
    sizes: Vec<u64>,
    /// The part of the requests beyond the first that each file gets; the sum is 1.
    weights: Vec<f64>,
}

impl RankedFiles {
    /// The file of rank `n` gets a weight of `n` to the power of `-exponent`.
    pub(crate) fn new(sizes: Vec<u64>, exponent: f64) -> Self {
        let weight = |rank: usize| (rank as f64).powf(-exponent);
        let sum: f64 = (1..=sizes.len()).map(weight).sum();
        let weights = (1..=sizes.len()).map(|rank| weight(rank) / sum).collect();
        Self { sizes, weights }
    }

    /// The sizes of the files.
    pub(crate) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    fn stored(&self) -> f64 {
        self.sizes.iter().sum::<u64>() as f64
    }

    /// The mean size of a requested file, beyond the first requests.
    fn mean_request(&self) -> f64 {
        self.sizes.iter().zip(&self.weights).map(|(&size, weight)| size as f64 * weight).sum()
    }

    /// The number of requests for each file, with `extra` requests in all beyond the first ones.
    ///
    /// The numbers are rounded so that the bytes are right: a larger file passes its error in bytes on to the next
    /// smaller one. The error of all is about half the smallest file.
    fn counts(&self, extra: f64) -> Vec<u64> {
        let mut by_size: Vec<usize> = (0..self.sizes.len()).collect();
        by_size.sort_by_key(|&rank| std::cmp::Reverse(self.sizes[rank]));
        let mut counts = vec![1; self.sizes.len()];
        let mut error = 0.0;
        for rank in by_size {
            let size = self.sizes[rank] as f64;
            error += extra * self.weights[rank] * size;
            let more = (error / size).round().max(0.0);
            error -= more * size;
            counts[rank] += more as u64;
        }
        counts
    }
}

/// The number of requests for each file of each class: `requests` in all, with the given shares of the bytes.
///
/// None if there are too few requests: some class would transfer fewer bytes than its files have.
pub(crate) fn counts(
    classes: &[RankedFiles; 3],
    transferred: &[f64; 3],
    requests: u64,
) -> Option<[Vec<u64>; 3]> {
    // With `bytes` in all, a class has `files + (share * bytes - stored) / mean_request` requests: the first request of
    // each file, and the others. The sum over the classes must be `requests`, and it is linear in `bytes`.
    let files: usize = classes.iter().map(|ranked| ranked.sizes.len()).sum();
    let firsts: f64 = classes.iter().map(|ranked| ranked.stored() / ranked.mean_request()).sum();
    let slope: f64 =
        classes.iter().zip(transferred).map(|(ranked, share)| share / ranked.mean_request()).sum();
    let bytes = (requests as f64 - files as f64 + firsts) / slope;
    let mut counts = [const { Vec::new() }; 3];
    for class in Class::ALL {
        let (ranked, share) = (&classes[class.index()], transferred[class.index()]);
        let extra = (share * bytes - ranked.stored()) / ranked.mean_request();
        if extra < 0.0 {
            return None;
        }
        counts[class.index()] = ranked.counts(extra);
    }
    let small = Class::Small.index();
    correct(&mut counts, requests, classes[small].sizes(), small).then_some(counts)
}

/// Makes the sum of all counts `requests`. Rounding has changed the sum by a few requests; the smallest files take the
/// difference, because they change the bytes least. False if the difference is too large.
fn correct(counts: &mut [Vec<u64>; 3], requests: u64, sizes: &[u64], small: usize) -> bool {
    let sum: u64 = counts.iter().flatten().sum();
    let (mut missing, mut excess) = (requests.saturating_sub(sum), sum.saturating_sub(requests));
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by_key(|&rank| sizes[rank]);
    for rank in by_size {
        let count = &mut counts[small][rank];
        let (more, less) = (missing.min(1), excess.min(*count - 1));
        (missing, excess) = (missing - more, excess - less);
        *count = *count + more - less;
    }
    missing == 0 && excess == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> [RankedFiles; 3] {
        Class::ALL.map(|class| {
            let sizes = crate::sizes::sizes(class, 5_000_000, 0.4).expect("such sizes exist");
            RankedFiles::new(sizes, 1.0)
        })
    }

    #[test]
    fn the_shares_of_the_bytes_and_the_number_of_requests_are_those_asked_for() {
        let (classes, shares) = (classes(), [0.1, 0.3, 0.6]);
        let counts = counts(&classes, &shares, 50_000).expect("there are enough requests");
        assert_eq!(counts.iter().flatten().sum::<u64>(), 50_000);
        assert!(counts.iter().flatten().all(|&count| count > 0));
        let bytes = Class::ALL.map(|class| {
            let (counts, ranked) = (&counts[class.index()], &classes[class.index()]);
            counts.iter().zip(ranked.sizes()).map(|(count, size)| count * size).sum::<u64>() as f64
        });
        for (bytes_of_class, share) in bytes.iter().zip(shares) {
            let got = bytes_of_class / bytes.iter().sum::<f64>();
            assert!((got / share - 1.0).abs() < 0.005, "{got} for {share}");
        }
    }

    #[test]
    fn a_class_that_would_transfer_less_than_it_stores_is_refused() {
        assert!(counts(&classes(), &[0.1, 0.3, 0.6], 2_600).is_none());
    }
}
