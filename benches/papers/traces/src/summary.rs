//! The marginals of a trace: [`Summary`].

use crate::class::Class;
use std::fmt;

/// The marginals of a trace, counted sequence by sequence.
///
/// Arrays have one entry for each class of files, in the order of [`Class::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    sizes: Vec<u64>,
    /// By file, the number of requests.
    requested: Vec<u64>,
    sequences: u64,
}

impl Summary {
    /// A summary without sequences, of a trace with files of these sizes.
    #[must_use]
    pub fn new(files: &[u64]) -> Self {
        Self { sizes: files.to_vec(), requested: vec![0; files.len()], sequences: 0 }
    }

    /// Counts a sequence.
    ///
    /// # Panics
    ///
    /// If it has the number of a file that does not exist.
    pub fn add(&mut self, sequence: &[u32]) {
        self.sequences += 1;
        sequence.iter().for_each(|&file| self.requested[file as usize] += 1);
    }

    /// The number of sequences.
    #[must_use]
    pub const fn sequences(&self) -> u64 {
        self.sequences
    }

    /// The number of requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requested.iter().sum()
    }

    /// The number of files that are requested at least once.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.by_class(|_, requested| u64::from(requested > 0)).iter().sum()
    }

    /// The bytes of all files that are requested at least once.
    #[must_use]
    pub fn footprint(&self) -> u64 {
        self.by_class(|size, requested| if requested > 0 { size } else { 0 }).iter().sum()
    }

    /// The bytes transferred for the files of each class.
    #[must_use]
    pub fn transferred(&self) -> [u64; 3] {
        self.by_class(|size, requested| size * requested)
    }

    /// The share of each class in the bytes transferred; 0 if there are none.
    #[must_use]
    pub fn shares(&self) -> [f64; 3] {
        let bytes = self.transferred();
        let sum = bytes.iter().sum::<u64>().max(1) as f64;
        bytes.map(|bytes| bytes as f64 / sum)
    }

    /// The part of all requests that goes to the most popular `part` of the files.
    #[must_use]
    pub fn popular(&self, part: f64) -> f64 {
        let mut requested = self.requested.clone();
        requested.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
        let count = (requested.len() as f64 * part) as usize;
        let popular: u64 = requested.iter().take(count).sum();
        popular as f64 / self.requests().max(1) as f64
    }

    fn by_class(&self, value: impl Fn(u64, u64) -> u64) -> [u64; 3] {
        let mut sums = [0; 3];
        for (&size, &requested) in self.sizes.iter().zip(&self.requested) {
            sums[Class::of(size).index()] += value(size, requested);
        }
        sums
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mega = |bytes: u64| bytes as f64 / 1e6;
        let bytes = self.transferred();
        writeln!(f, "sequences  {:>12}", self.sequences)?;
        writeln!(f, "requests   {:>12}", self.requests())?;
        writeln!(f, "files      {:>12}", self.files())?;
        writeln!(f, "footprint  {:>12.2} MB", mega(self.footprint()))?;
        writeln!(f, "bytes      {:>12.2} MB", mega(bytes.iter().sum()))?;
        writeln!(
            f,
            "popular    {:>12.1} % of requests to 10 % of files",
            100.0 * self.popular(0.1)
        )?;
        writeln!(f)?;
        writeln!(f, "{:<17} {:>9} {:>10} {:>8}", "class", "files", "requests", "% bytes")?;
        let files = self.by_class(|_, requested| u64::from(requested > 0));
        let requests = self.by_class(|_, requested| requested);
        for class in Class::ALL {
            let (n, share) = (class.index(), 100.0 * self.shares()[class.index()]);
            writeln!(f, "{:<17} {:>9} {:>10} {share:>8.2}", class.name(), files[n], requests[n])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn a_file_counts_once_in_the_footprint_and_with_each_request_in_the_bytes() {
        let mut summary = Summary::new(&[100, 10_000, 300_000, 500]);
        summary.add(&[0, 0, 1]);
        summary.add(&[2]);
        assert_eq!((summary.sequences(), summary.requests(), summary.files()), (2, 4, 3));
        assert_eq!(summary.footprint(), 310_100);
        assert_eq!(summary.transferred(), [200, 10_000, 300_000]);
        assert_eq!(summary.popular(0.25), 0.5);
    }

    #[test]
    fn an_empty_trace_has_no_shares() {
        assert_eq!(Summary::new(&[]).shares(), [0.0; 3]);
    }
}
