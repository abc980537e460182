#[colored::main(workers = 2000)]
async fn main() {}
