#[colored::main]
async fn main() -> Result<(), String> {
    std::future::ready(()).await;
}
