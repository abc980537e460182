#[colored::main(workers = 99999999999999999999)]
async fn main() {}
