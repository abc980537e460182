#[colored::main(workers = 4u8)]
async fn main() {}
