//! The load of the first paper's web server (Zeldovich et al., USENIX 2003): the files of SPECweb99, as far as the paper
//! and SPEC's pages describe them.
//!
//! | property | value |
//! |---|---|
//! | files | 20 directories of 36 files, 102.4 MB |
//! | sizes | nine in each of four classes: 1 to 9 times 102 bytes, 1 KiB, 10 KiB, 100 KiB |
//! | requests by class | 35, 50, 14 and 1 % |
//! | requests by directory | Zipf's law |
//! | requests inside a class | all nine sizes are equally frequent: our choice |
//! | requests on a connection | 10 |
//!
//! The requests are drawn independently of each other. A directory here is a unit of popularity: on the disk the files
//! have the places of all traces, see [`place`](crate::place).

use crate::generate::{GenerateError, Options, Trace};

/// The name on the command line.
pub const NAME: &str = "specweb";

/// The number of directories, the most popular one first.
pub const DIRECTORIES: u32 = 20;

/// The requests on each connection.
pub const PER_CONNECTION: usize = 10;

/// The requests of a trace of scale 1. The paper counts no requests: its clients run for minutes.
pub const REQUESTS: u64 = 400_000;

/// The smallest size of each class, and the share of the class in all requests.
pub const CLASSES: [(u64, f64); 4] = [(102, 0.35), (1_024, 0.50), (10_240, 0.14), (102_400, 0.01)];

/// The files of a class in a directory.
const SIZES: u32 = 9;

const PER_DIRECTORY: u32 = CLASSES.len() as u32 * SIZES;

/// Makes a trace. The scale is that of the number of requests; the files are always the same. `mean_sequence` has no
/// effect.
///
/// # Errors
///
/// If an option is outside its range, or the scale leaves no request.
pub fn generate(options: &Options) -> Result<Trace, GenerateError> {
    options.check()?;
    let connections = (REQUESTS as f64 * options.scale) as usize / PER_CONNECTION;
    if connections == 0 {
        return Err(GenerateError::TooSmall { scale: options.scale });
    }
    let sizes_of = |(smallest, _): (u64, f64)| (1..=u64::from(SIZES)).map(move |n| n * smallest);
    let files = (0..DIRECTORIES).flat_map(|_| CLASSES.into_iter().flat_map(sizes_of)).collect();
    let weight = |rank: u32| f64::from(rank).powf(-options.zipf);
    let directories: Vec<f64> = (1..=DIRECTORIES).map(weight).collect();
    let classes = CLASSES.map(|(_, share)| share);
    let mut random = fastrand::Rng::with_seed(options.seed);
    let mut request = || {
        let directory = draw(&directories, &mut random) * PER_DIRECTORY;
        directory + draw(&classes, &mut random) * SIZES + random.u32(..SIZES)
    };
    let requests = (0..connections * PER_CONNECTION).map(|_| request()).collect();
    Ok(Trace::new(files, requests, vec![PER_CONNECTION; connections]))
}

/// One of the places, each with a probability in proportion to its weight.
fn draw(weights: &[f64], random: &mut fastrand::Rng) -> u32 {
    let mut point = random.f64() * weights.iter().sum::<f64>();
    let is_right = |weight: &f64| {
        point -= weight;
        point < 0.0
    };
    // Rounding may leave a rest behind the last place.
    weights.iter().position(is_right).unwrap_or(weights.len() - 1) as u32
}

/// The directory of a file, and its class.
#[must_use]
pub const fn directory_and_class(file: u32) -> (u32, usize) {
    (file / PER_DIRECTORY, (file % PER_DIRECTORY / SIZES) as usize)
}
