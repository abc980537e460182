use std::time::Duration;

#[colored::main]
async fn main() {
    let handle = colored::Handle::current();
    println!("{}", handle.observe(Duration::from_secs(1)).await);
    println!("{}", handle.dump());
}
