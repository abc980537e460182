//! No option, no output.

#[colored::main]
async fn main() {
    std::future::ready(()).await;
}

#[test]
fn no_option_is_needed() {
    super::succeeds(main());
}
