//! The rows whose figures depend on the allocator, under mimalloc. `ratio` runs it.

use colored_benches::ratio::{Options, in_process};
use colored_benches::{Runtimes, workload};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    let options = Options::from_arguments();
    in_process(&options, Runtimes::start, "_mimalloc", workload::ALLOCATING);
}
