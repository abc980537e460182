#[colored::main(workers)]
async fn main() {}
