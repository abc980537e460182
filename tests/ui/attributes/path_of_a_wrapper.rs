//! A crate that re-exports the runtime, and a macro of it that makes an entry point.

pub(crate) mod wrapped {
    pub(crate) use ::colored as rt;
}

macro_rules! entry {
    ($workers:expr, $body:block) => {
        #[colored::main(workers = $workers, crate = $crate::attributes::path_of_a_wrapper::wrapped::rt)]
        async fn main() $body
    };
}

entry!(2, { std::future::ready(()).await });

#[test]
fn a_wrapper_makes_an_entry_point() {
    super::succeeds(main());
}
