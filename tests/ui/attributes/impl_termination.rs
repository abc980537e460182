//! An output without a name.

use std::process::Termination;

#[colored::main]
async fn main() -> impl Termination {
    std::future::ready(()).await;
}

#[test]
fn an_output_needs_no_name() {
    super::succeeds(main());
}
