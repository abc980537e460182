//! The path of the runtime, in a string.

use ::colored as rt;

#[rt::main(crate = "rt", local = false)]
async fn main() {}

#[test]
fn the_path_may_be_a_string() {
    super::succeeds(main());
}
