#[colored::test(flavor = "current_thread", start_paused = true)]
async fn sleeps() {}

fn main() {}
