#[colored::main(crate = ::rt)]
async fn main() {}
