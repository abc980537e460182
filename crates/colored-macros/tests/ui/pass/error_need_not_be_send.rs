use std::error::Error;

#[colored::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let answer: u32 = "42".parse()?;
    std::future::ready(()).await;
    assert_eq!(answer, 42);
    Ok(())
}
