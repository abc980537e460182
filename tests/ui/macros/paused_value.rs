#[colored::main(paused = some_flag())]
async fn main() {}
