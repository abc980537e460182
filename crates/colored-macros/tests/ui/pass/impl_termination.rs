use std::process::Termination;

#[colored::main]
async fn main() -> impl Termination {
    std::future::ready(()).await;
}
