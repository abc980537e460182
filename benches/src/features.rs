//! What is measured is what a user gets: the runtime with its default features.

/// Prints the features with which the runtime was compiled. Cargo unifies the features of all packages that it compiles
/// together, so that a bench beside a package that asks for more would measure more.
///
/// # Panics
///
/// If they are not the default ones.
pub fn print_and_refuse_others() {
    let features = colored::__private::FEATURES;
    println!("INFO features of the runtime: {}", features.join(" "));
    assert_eq!(
        features, DEFAULT,
        "the runtime was compiled with other features than the default ones: run the bench alone, as its page says"
    );
}

/// The default features of `colored-rt`.
const DEFAULT: &[&str] = &["macros"];
