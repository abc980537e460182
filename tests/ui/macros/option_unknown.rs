#[colored::main(colour = 4)]
async fn main() {}
