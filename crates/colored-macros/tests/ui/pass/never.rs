#[colored::main]
async fn main() -> ! {
    std::process::exit(0)
}
