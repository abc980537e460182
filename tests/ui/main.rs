//! The compiler's message for each mistake, word for word: of the attributes, of the runtime, and of `colored_hyper`. It shows
//! the source line of the bound that is not met, with the advice that stands there as a comment.

mod attributes;

#[test]
fn mistakes_are_explained() {
    let tests = trybuild::TestCases::new();
    for folder in ["macros", "runtime", "hyper"] {
        tests.compile_fail(format!("{folder}/*.rs"));
    }
}
