//! The user's names are not mistaken for the runtime's names, nor the other way round.

#![no_implicit_prelude]
#![allow(dead_code)]

mod core {}
mod std {}
mod test {}

fn future() -> u8 {
    1
}

fn run() -> u8 {
    2
}

#[::colored::main(workers = future() as usize)]
pub(super) async fn main() -> ::std::process::ExitCode {
    ::std::assert_eq!(future() + run(), 3);
    ::std::process::ExitCode::SUCCESS
}

#[::colored::test]
async fn adds() {}
