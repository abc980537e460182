#[colored::main(tokio)]
async fn main() {}
