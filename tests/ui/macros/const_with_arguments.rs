#[colored::main]
const async fn run(name: String) -> usize {
    name.len()
}

// No second error here.
fn main() {
    let length: usize = run("x".into());
    assert_eq!(length, 1);
}
