#[colored::main(workers = "four".trim())]
async fn main() {}
