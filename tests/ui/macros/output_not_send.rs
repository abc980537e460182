use std::rc::Rc;

#[colored::main]
async fn answer() -> Rc<u32> {
    Rc::new(42)
}

fn main() {
    answer();
}
