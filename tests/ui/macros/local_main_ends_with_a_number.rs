#[colored::main(local)]
async fn main() -> u32 {
    42
}
