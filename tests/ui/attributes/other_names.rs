//! Functions that are not `main`.

use std::rc::Rc;

mod inner {
    /// Kept with its visibility and its attributes.
    #[must_use]
    #[colored::main]
    pub(super) async fn answer() -> u32 {
        #![allow(unused_variables)]
        let unused = 4;
        42
    }
}

#[colored::main(local)]
async fn shared() -> Rc<u32> {
    Rc::new(42)
}

#[colored::main]
async fn iterator() -> impl Iterator<Item = u32> {
    0..4
}

#[test]
fn other_functions_are_called() {
    assert_eq!(inner::answer(), *shared());
    assert_eq!(iterator().count(), 4);
}
