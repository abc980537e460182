//! Bytes per idle task and per idle color, counted. `ratio` runs it.

use colored_benches::counting::Counting;
use colored_benches::memory;
use colored_benches::ratio::Options;

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

fn main() {
    memory::run(&Options::from_arguments(), &ALLOCATOR);
}
