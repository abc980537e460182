//! The generator: [`generate`] makes a [`Trace`] with the marginals of a [`Profile`].
//!
//! | property | how it is chosen |
//! |---|---|
//! | number of requests, footprint | exactly the profile's, times the scale |
//! | shares of the bytes transferred | the profile's, within 1 % of each share, or the generator fails |
//! | shares of the footprint | [`Profile::stored`] |
//! | sizes up to 8 KB | from 128 bytes, with uniformly distributed logarithms |
//! | sizes beyond | a Pareto distribution with shape 1, at most 16 MiB |
//! | popularity | inside a class by Zipf's law, plus one request for every file, independent of the size |
//! | order of requests | a random permutation |
//! | length of a sequence | geometric |
//!
//! The scale multiplies the number of requests and the number of files, and leaves the distribution of the sizes.

use crate::class::Class;
use crate::format::MAX_SEQUENCE;
use crate::popularity::{RankedFiles, counts};
use crate::profile::Profile;
use crate::sizes::sizes;
use crate::summary::Summary;
use std::error::Error;
use std::fmt;

/// What a user may choose about a trace.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The factor of requests and footprint: more than 0, at most 1.
    pub scale: f64,
    /// The same options with the same seed give the same trace.
    pub seed: u64,
    /// The exponent of Zipf's law, 0 to 2. The usual 1 is a common finding for web servers; 0 makes all files of a
    /// class equally popular.
    pub zipf: f64,
    /// The mean number of requests in a sequence, 1 to 1,000. The usual 8 is a guess.
    pub mean_sequence: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { scale: 1.0, seed: 0, zipf: 1.0, mean_sequence: 8.0 }
    }
}

/// A trace in memory: 4 bytes for each request, 8 for each file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    files: Vec<u64>,
    requests: Vec<u32>,
    /// The lengths of the sequences; the sum is the number of requests.
    lengths: Vec<usize>,
}

impl Trace {
    pub(crate) fn new(files: Vec<u64>, requests: Vec<u32>, lengths: Vec<usize>) -> Self {
        Self { files, requests, lengths }
    }

    /// The sizes of the files in bytes, by number.
    #[must_use]
    pub fn files(&self) -> &[u64] {
        &self.files
    }

    /// The sequences in order, each as the numbers of the files it requests.
    pub fn sequences(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = &self.requests[..];
        self.lengths.iter().map(move |&length| {
            let (sequence, after) = rest.split_at(length);
            rest = after;
            sequence
        })
    }

    /// The marginals of the trace.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::new(&self.files);
        self.sequences().for_each(|sequence| summary.add(sequence));
        summary
    }
}

/// Why there is no trace for some options.
#[derive(Clone, Debug, PartialEq)]
pub enum GenerateError {
    /// An option has a value that is not allowed.
    Option {
        /// The name of the option.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The scale leaves too few files or requests to keep the marginals within 1 %.
    TooSmall {
        /// The given scale.
        scale: f64,
    },
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option { name, value, allowed } => {
                write!(f, "{name} is {value}; allowed is {allowed}")
            }
            Self::TooSmall { scale } => write!(
                f,
                "scale {scale} leaves too few files or requests to keep the marginals within 1 %; \
                 allowed is a larger scale, such as {}",
                (scale * 4.0).min(1.0)
            ),
        }
    }
}

impl Error for GenerateError {}

/// The tolerance of the shares of the bytes transferred, as a part of each share.
const TOLERANCE: f64 = 0.01;

/// Makes a trace with the marginals of `profile`.
///
/// # Errors
///
/// If an option is outside its range, or the scale is too small to keep the marginals.
pub fn generate(profile: &Profile, options: &Options) -> Result<Trace, GenerateError> {
    options.check()?;
    let too_small = || GenerateError::TooSmall { scale: options.scale };
    let mut random = fastrand::Rng::with_seed(options.seed);
    let classes = classes(profile, options, &mut random).ok_or_else(too_small)?;
    let requests = (profile.requests as f64 * options.scale).round() as u64;
    let counts = counts(&classes, &profile.transferred, requests).ok_or_else(too_small)?;

    // The numbers of the files say nothing about size or popularity, so every directory has files of all kinds.
    let of_class = |(class, counts): (&RankedFiles, &Vec<u64>)| -> Vec<(u64, u64)> {
        class.sizes().iter().copied().zip(counts.iter().copied()).collect()
    };
    let mut files: Vec<(u64, u64)> = classes.iter().zip(&counts).flat_map(of_class).collect();
    random.shuffle(&mut files);
    let mut order = Vec::with_capacity(requests as usize);
    for (number, (_, count)) in files.iter().enumerate() {
        // The largest profile has 10⁶ files.
        order.extend((0..*count).map(|_| number as u32));
    }
    random.shuffle(&mut order);
    let lengths = lengths(order.len(), options.mean_sequence, &mut random);
    let files = files.into_iter().map(|(size, _)| size).collect();
    let trace = Trace::new(files, order, lengths);

    let shares = trace.summary().shares();
    let near = |(got, want): (&f64, &f64)| (got / want - 1.0).abs() <= TOLERANCE;
    shares.iter().zip(&profile.transferred).all(near).then_some(trace).ok_or_else(too_small)
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), GenerateError> {
        let checks = [
            ("scale", self.scale, self.scale > 0.0 && self.scale <= 1.0, "above 0, at most 1"),
            ("zipf", self.zipf, (0.0..=2.0).contains(&self.zipf), "0 to 2"),
            (
                "mean_sequence",
                self.mean_sequence,
                (1.0..=1_000.0).contains(&self.mean_sequence),
                "1 to 1,000",
            ),
        ];
        match checks.into_iter().find(|(_, _, is_right, _)| !is_right) {
            Some((name, value, _, allowed)) => Err(GenerateError::Option { name, value, allowed }),
            None => Ok(()),
        }
    }
}

/// The files of each class; the sum of all sizes is the scaled footprint.
fn classes(
    profile: &Profile,
    options: &Options,
    random: &mut fastrand::Rng,
) -> Option<[RankedFiles; 3]> {
    let footprint = (profile.footprint as f64 * options.scale).round() as u64;
    let part = |class: Class| (footprint as f64 * profile.stored[class.index()]).round() as u64;
    let (small, medium) = (part(Class::Small), part(Class::Medium));
    let mut files = |class: Class, total: u64| {
        let sizes = sizes(class, total, random.f64())?;
        Some(RankedFiles::new(sizes, options.zipf))
    };
    Some([
        files(Class::Small, small)?,
        files(Class::Medium, medium)?,
        files(Class::Large, footprint.checked_sub(small + medium)?)?,
    ])
}

/// Lengths of at least 1 and `mean` on average, with the sum `requests`.
fn lengths(requests: usize, mean: f64, random: &mut fastrand::Rng) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut left = requests;
    while left > 0 {
        // A geometric distribution, by its inverse. With a mean of 1 the quotient is 0.
        let more = (1.0 - random.f64()).ln() / (1.0 - 1.0 / mean).ln();
        let length = (1 + more as usize).min(MAX_SEQUENCE).min(left);
        lengths.push(length);
        left -= length;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_their_mean_and_their_sum() {
        let mut random = fastrand::Rng::with_seed(3);
        for mean in [1.0, 8.0, 100.0] {
            let lengths = lengths(200_000, mean, &mut random);
            assert_eq!(lengths.iter().sum::<usize>(), 200_000);
            let got = 200_000.0 / lengths.len() as f64;
            assert!((got / mean - 1.0).abs() < 0.05, "{got} for {mean}");
        }
    }

    #[test]
    fn wrong_options_name_the_value_and_the_allowed_ones() {
        let error =
            |options| generate(&Profile::RICE, &options).expect_err("it is wrong").to_string();
        let usual = Options::default();
        for (options, text) in [
            (Options { scale: 0.0, ..usual }, "scale is 0; allowed is above 0, at most 1"),
            (Options { scale: f64::NAN, ..usual }, "scale is NaN; allowed is above 0, at most 1"),
            (Options { zipf: -1.0, ..usual }, "zipf is -1; allowed is 0 to 2"),
            (
                Options { mean_sequence: 0.5, ..usual },
                "mean_sequence is 0.5; allowed is 1 to 1,000",
            ),
        ] {
            assert_eq!(error(options), text);
        }
        let text = error(Options { scale: 1e-5, ..usual });
        assert!(text.starts_with("scale 0.00001 leaves too few files or requests"), "{text}");
        assert!(text.ends_with("such as 0.00004"), "{text}");
    }
}
