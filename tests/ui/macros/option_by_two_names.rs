#[colored::main(workers = 4, worker_threads = 4)]
async fn main() {}
