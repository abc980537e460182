#[colored::main(pin)]
async fn main() {}
