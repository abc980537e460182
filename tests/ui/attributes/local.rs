//! Without `Send`.

use std::rc::Rc;

#[colored::main(local)]
async fn main() -> Result<(), Rc<str>> {
    let shared = Rc::new(4);
    std::future::ready(()).await;
    assert_eq!(*shared, 4);
    Ok(())
}

#[test]
fn nothing_need_be_send() {
    super::succeeds(main());
}
