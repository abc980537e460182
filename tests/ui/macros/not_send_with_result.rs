use std::rc::Rc;

#[colored::main]
async fn main() -> std::io::Result<()> {
    let shared = Rc::new(4);
    std::future::ready(()).await;
    assert_eq!(*shared, 4);
    Ok(())
}
