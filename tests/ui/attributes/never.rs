//! A program that does not return.

#[colored::main]
async fn main() -> ! {
    panic!("on purpose")
}

#[test]
#[should_panic = "on purpose"]
fn it_need_not_return() {
    main();
}
