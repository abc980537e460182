#[colored::main(local = some_flag())]
async fn main() {}
