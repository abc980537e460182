#[colored::main(unhandled_panic = "shutdown_runtime")]
async fn main() {}
