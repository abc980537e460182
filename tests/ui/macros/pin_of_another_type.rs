#[colored::main(pin = u8::MAX)]
async fn main() {}
