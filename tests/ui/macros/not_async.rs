#[colored::main]
fn main() {}
