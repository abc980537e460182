#[colored::main]
async extern "C" fn main() {}
