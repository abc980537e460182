#[colored::test]
#[colored::test]
async fn adds() {}

fn main() {}
