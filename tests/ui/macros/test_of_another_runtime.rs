#[colored::test]
#[tokio::test]
async fn adds() {}

fn main() {}
