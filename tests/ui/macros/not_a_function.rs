#[colored::main]
struct Main;

fn main() {
    let _ = Main;
}
