//! An error that is not `Send`.

use std::error::Error;

#[colored::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let answer: u32 = "42".parse()?;
    std::future::ready(()).await;
    assert_eq!(answer, 42);
    Ok(())
}

#[test]
fn an_error_need_not_be_send() {
    super::succeeds(main());
}
