//! `#[colored::test]` as the harness sees it, and what a program gets from `#[colored::main]`.

#![allow(
    clippy::multiple_bound_locations,
    clippy::needless_lifetimes,
    clippy::unit_arg,
    reason = "the attributes take all that the language allows"
)]

mod arguments;
mod defaults;
mod error_need_not_be_send;
mod every_option;
mod exit_code;
mod impl_termination;
mod lints;
mod local;
mod names_are_not_taken;
mod never;
mod options_of_tokio;
mod other_names;
mod path_in_a_string;
mod path_of_a_wrapper;

use std::process::{ExitCode, Termination};
use std::rc::Rc;

#[colored::test]
async fn nothing_returned() {
    std::future::ready(()).await;
}

#[colored::test(workers = 2, pin = false)]
async fn result_returned() -> Result<(), Box<dyn std::error::Error>> {
    let answer: u32 = "42".parse()?;
    assert_eq!(answer, 42);
    Ok(())
}

#[colored::test]
async fn termination_returned() -> impl Termination {
    ExitCode::SUCCESS
}

#[colored::test]
#[should_panic = "on purpose"]
async fn panics() {
    panic!("on purpose")
}

#[colored::test]
#[should_panic(expected = "purpose")]
async fn panics_with_a_unit_written_out() -> () {
    panic!("on purpose")
}

#[colored::test]
#[ignore = "has no end; only compiled"]
async fn never_returned() -> ! {
    std::future::pending().await
}

#[colored::test]
async fn a_test_need_not_be_send() -> Result<(), Rc<str>> {
    let shared = Rc::new(4);
    std::future::ready(()).await;
    assert_eq!(*shared, 4);
    Ok(())
}

#[colored::test(local = false)]
async fn a_test_that_a_worker_runs() -> Result<(), Rc<str>> {
    Ok(())
}

#[colored::test(flavor = "multi_thread", worker_threads = 2, start_paused = true)]
async fn options_of_tokio() {
    colored::time::resume(); // It panics if the clock is not paused.
}

#[colored::test(paused = false)]
async fn a_test_that_is_not_paused() {
    colored::time::pause(); // It panics if the clock is paused.
}

#[colored::test(paused)]
async fn a_paused_test() {
    colored::time::resume(); // It panics if the clock is not paused.
}

#[colored::test]
#[ignore = "to see that it is kept"]
async fn ignored() {
    panic!("this test is ignored");
}

#[colored::test(workers = usize::MIN)]
#[should_panic = "the runtime does not start: workers(0): allowed are 1 to 1024; leave it out for one"]
async fn expressions_are_checked_when_they_run() {}

#[test]
fn an_error_is_a_failure() {
    #[colored::main]
    async fn main() -> Result<(), Box<dyn std::error::Error>> {
        "forty-two".parse::<u32>()?;
        Ok(())
    }
    assert_eq!(main(), ExitCode::FAILURE);
}

#[test]
fn the_function_keeps_its_name() {
    #[colored::main]
    async fn serve() -> &'static str {
        fn inside() {}
        std::any::type_name_of_val(&inside)
    }
    let name = serve();
    assert!(name.contains("the_function_keeps_its_name::serve::serve"), "{name}");
}

#[test]
fn the_users_names_are_not_taken() {
    assert_eq!(names_are_not_taken::main(), ExitCode::SUCCESS);
}

/// What the system hears of a program that ends so.
fn succeeds(output: impl Termination) {
    assert_eq!(output.report(), ExitCode::SUCCESS);
}
