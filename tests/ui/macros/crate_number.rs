#[colored::main(crate = 4)]
async fn main() {}
