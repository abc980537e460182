use std::time::Duration;

#[colored::main]
async fn main() {
    let handle = colored::Handle::current();
    println!("{}", handle.observe(Duration::from_secs(1)).await);
    println!("{}", handle.usage());
    let _builder = colored::Runtime::builder().tokio_context(true);
}
