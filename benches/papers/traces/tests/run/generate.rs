//! The marginals of generated traces.

use colored_traces::class::Class;
use colored_traces::generate::{GenerateError, Options, generate};
use colored_traces::profile::Profile;
use colored_traces::summary::Summary;

fn summary(profile: &Profile, scale: f64, seed: u64) -> Summary {
    let options = Options { scale, seed, ..Options::default() };
    generate(profile, &options).expect("the scale is large enough").summary()
}

/// Asserts that requests and footprint are exact, and each share of the bytes is within 1 % of itself.
fn assert_marginals(profile: &Profile, scale: f64, seed: u64) {
    let summary = summary(profile, scale, seed);
    println!("{} --scale {scale} --seed {seed}\n{summary}", profile.name);
    assert_eq!(summary.requests(), (profile.requests as f64 * scale).round() as u64);
    assert_eq!(summary.footprint(), (profile.footprint as f64 * scale).round() as u64);
    for class in Class::ALL {
        let (got, want) = (summary.shares()[class.index()], profile.transferred[class.index()]);
        assert!((got / want - 1.0).abs() < 0.01, "{got} of the bytes in place of {want}");
    }
}

#[test]
fn the_whole_rice_trace_has_the_marginals_of_the_paper() {
    assert_marginals(&Profile::RICE, 1.0, 1);
}

#[test]
fn the_berkeley_trace_has_the_marginals_of_the_paper() {
    assert_marginals(&Profile::BERKELEY, 0.1, 1);
}

#[test]
fn a_scale_keeps_the_marginals() {
    for (profile, scales) in
        [(&Profile::RICE, [0.3, 0.1, 0.03, 0.01]), (&Profile::BERKELEY, [0.03, 0.01, 0.003, 0.002])]
    {
        for scale in scales {
            (0..3).for_each(|seed| assert_marginals(profile, scale, seed));
        }
    }
}

#[test]
fn a_scale_keeps_the_requests_for_each_file_and_the_bytes_of_each_request() {
    let of = |scale| {
        let summary = summary(&Profile::RICE, scale, 2);
        let requests = summary.requests() as f64;
        let bytes = summary.transferred().iter().sum::<u64>() as f64;
        (requests / summary.files() as f64, bytes / requests)
    };
    let (whole, small) = (of(1.0), of(0.05));
    assert!((0.97..1.03).contains(&(small.0 / whole.0)), "{whole:?} {small:?}");
    assert!((0.6..1.6).contains(&(small.1 / whole.1)), "{whole:?} {small:?}");
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    let trace = |seed| {
        let options = Options { scale: 0.02, seed, ..Options::default() };
        generate(&Profile::RICE, &options).expect("the scale is large enough")
    };
    assert_eq!(trace(5), trace(5));
    assert_ne!(trace(5), trace(6));
}

#[test]
fn a_tenth_of_the_files_gets_most_requests_and_no_file_none() {
    let options = Options { scale: 0.1, ..Options::default() };
    let trace = generate(&Profile::RICE, &options).expect("the scale is large enough");
    let summary = trace.summary();
    assert_eq!(summary.files(), trace.files().len() as u64);
    assert!((0.5..0.9).contains(&summary.popular(0.1)), "{}", summary.popular(0.1));
    let even = Options { zipf: 0.0, ..options };
    let even = generate(&Profile::RICE, &even).expect("the scale is large enough").summary();
    assert!(even.popular(0.1) < 0.2, "{}", even.popular(0.1));
}

#[test]
fn a_scale_that_cannot_keep_the_marginals_is_refused() {
    for scale in [1e-4, 1e-9] {
        let options = Options { scale, ..Options::default() };
        let error = generate(&Profile::RICE, &options).expect_err("it is too small");
        assert_eq!(error, GenerateError::TooSmall { scale });
    }
}
