//! The guarantees of the runtime, with futures and stackful tasks mixed under the same colors in each test.

mod colors;
mod deadlock;
mod ends;
mod exclusion;
mod order;
mod progress;
mod stuck;
mod turns;

const RED: u64 = 1;
const BLUE: u64 = 2;
