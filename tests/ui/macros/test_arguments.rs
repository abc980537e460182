#[colored::test]
async fn adds(case: u8) {}

fn main() {}
