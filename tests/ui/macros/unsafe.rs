#[colored::main]
async unsafe fn main() {}
