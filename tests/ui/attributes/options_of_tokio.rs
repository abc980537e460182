//! The names of tokio's options.

#[colored::main(flavor = "multi_thread", worker_threads = 2, start_paused = true)]
async fn many() {}

#[colored::main(flavor = "current_thread")]
async fn main() {
    let shared = std::rc::Rc::new(4);
    std::future::ready(()).await;
    assert_eq!(*shared, 4);
    fn ends() {
        many();
    }
    let _ = ends;
}

#[test]
fn options_have_tokios_names_too() {
    main();
}
