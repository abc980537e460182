#[colored::test]
#[test]
async fn adds() {}

fn main() {}
