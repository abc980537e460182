#[colored::test(flavor = "threaded", start_paused = true)]
async fn sleeps() {}

fn main() {}
