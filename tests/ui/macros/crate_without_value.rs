#[colored::main(crate)]
async fn main() {}
