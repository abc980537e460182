#[colored::main(workers = 1 pin = true)]
async fn main() {}
