#[colored::main(local = false)]
async fn run(name: &str) -> usize {
    name.len()
}

fn main() {
    run("x");
}
