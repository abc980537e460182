#[colored::main]
async fn main() {
    let answer: u32 = "42".parse()?;
    assert_eq!(answer, 42);
}
