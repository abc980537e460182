//! The compiler's message for each mistake, word for word, and programs that it accepts.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}

#[test]
fn right_programs_run() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}
