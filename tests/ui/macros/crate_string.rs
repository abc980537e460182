#[colored::main(crate = "no path")]
async fn main() {}
