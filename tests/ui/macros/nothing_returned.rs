#[colored::main]
async fn main() {
    std::future::ready(()).await;
    Some(42)
}
