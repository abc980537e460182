#[colored::main(workers = 1, pin = true, workers = 2)]
async fn main() {}
