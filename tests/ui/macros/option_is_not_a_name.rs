#[colored::main(4)]
async fn main() {}
