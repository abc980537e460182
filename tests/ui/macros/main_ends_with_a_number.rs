#[colored::main]
async fn main() -> u32 {
    42
}
