#[colored::main]
async fn main() -> std::io::Result<()> {
    let answer = 42;
    std::future::ready(()).await;
    answer
}
