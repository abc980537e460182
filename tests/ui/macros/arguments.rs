#[colored::main]
async fn main(first: u8, second: u8) {}
