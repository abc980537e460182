//! The marginals of the trace for the first paper's web server.

use colored_traces::generate::{GenerateError, Options, Trace};
use colored_traces::specweb::{
    CLASSES, DIRECTORIES, PER_CONNECTION, REQUESTS, directory_and_class, generate,
};

fn trace(options: Options) -> Trace {
    generate(&options).expect("the options are allowed")
}

/// The share of each of so many groups in all requests.
fn shares(trace: &Trace, groups: usize, group: impl Fn(u32) -> usize) -> Vec<f64> {
    let mut counts = vec![0_u32; groups];
    trace.sequences().flatten().for_each(|&file| counts[group(file)] += 1);
    let sum = f64::from(counts.iter().sum::<u32>());
    counts.into_iter().map(|count| f64::from(count) / sum).collect()
}

#[test]
fn the_files_are_those_of_the_paper() {
    let trace = trace(Options { scale: 0.01, ..Options::default() });
    let files = trace.files();
    assert_eq!((files.len(), files.iter().sum::<u64>()), (720, 102_389_400));
    for (file, &size) in files.iter().enumerate() {
        let (directory, class) = directory_and_class(file as u32);
        assert!(directory < DIRECTORIES);
        let smallest = CLASSES[class].0;
        assert!(size % smallest == 0 && (1..=9).contains(&(size / smallest)), "{file}: {size}");
    }
}

#[test]
fn each_connection_has_ten_requests() {
    let trace = trace(Options::default());
    let mut connections = 0;
    for sequence in trace.sequences() {
        assert_eq!(sequence.len(), PER_CONNECTION);
        connections += 1;
    }
    assert_eq!(connections * PER_CONNECTION as u64, REQUESTS);
}

#[test]
fn requests_have_the_shares_of_the_classes_and_zipfs_law_over_directories() {
    for zipf in [1.0, 0.5] {
        let trace = trace(Options { zipf, seed: 5, ..Options::default() });
        for (got, (_, want)) in
            shares(&trace, 4, |file| directory_and_class(file).1).into_iter().zip(CLASSES)
        {
            assert!((got - want).abs() < 0.003, "{got} of the requests in place of {want}");
        }
        let sum: f64 = (1..=DIRECTORIES).map(|rank| f64::from(rank).powf(-zipf)).sum();
        let of_directories = shares(&trace, 20, |file| directory_and_class(file).0 as usize);
        for (got, rank) in of_directories.into_iter().zip(1..) {
            let want = f64::from(rank).powf(-zipf) / sum;
            assert!((got / want - 1.0).abs() < 0.05, "{got} of directory {rank}, not {want}");
        }
    }
}

#[test]
fn the_seed_decides_and_a_scale_without_requests_is_refused() {
    let of = |seed| trace(Options { seed, scale: 0.01, ..Options::default() });
    assert_eq!(of(3), of(3));
    assert_ne!(of(3), of(4));
    let scale = 1e-6;
    let error = generate(&Options { scale, ..Options::default() }).expect_err("it is too small");
    assert_eq!(error, GenerateError::TooSmall { scale });
}
