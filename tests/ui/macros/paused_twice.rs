#[colored::main(paused, paused)]
async fn main() {}
