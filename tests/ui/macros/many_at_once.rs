#[colored::main(worker = 4, workers = "x", pin = 1, pin = true)]
fn main(a: u8) {}
