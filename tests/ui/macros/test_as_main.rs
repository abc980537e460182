#[colored::main]
#[test]
async fn adds() {}

fn main() {}
