#[colored::main(workers = "4")]
async fn main() {}
