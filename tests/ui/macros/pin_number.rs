#[colored::main(pin = 1)]
async fn main() {}
