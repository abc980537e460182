use std::rc::Rc;

#[colored::main]
async fn main() {
    let shared = Rc::new(4);
    std::future::ready(()).await;
    assert_eq!(*shared, 4);
}
