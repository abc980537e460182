#[colored::main]
const fn main() {}
