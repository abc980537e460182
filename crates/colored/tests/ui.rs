//! The compiler's message for each mistake, word for word. It shows the source line of the bound that is not met, with
//! the advice that stands there as a comment.

#[test]
fn mistakes_are_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
