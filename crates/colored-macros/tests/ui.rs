//! What the compiler says of each mistake, word for word, and what it accepts.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}

#[test]
fn right_programs_run() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}
