//! Simulated turns and runs in a second, and an echo over hyper between two hosts, beside madsim's, alternated in one process.
//!
//! ```text
//! RUSTFLAGS="--cfg madsim" cargo run --release -p colored-madsim-peers
//! ```
//!
//! The flag is for the whole build: without it madsim is another library, which does not simulate. The measure is the CPU
//! time of the process, all its threads together, so that other programs on the machine change little.

#[cfg(not(madsim))]
fn main() {
    eprintln!("compile it with RUSTFLAGS=\"--cfg madsim\"");
    std::process::exit(2);
}

#[cfg(madsim)]
mod echo;
#[cfg(madsim)]
#[path = "../../echo/src/http.rs"]
mod http;
#[cfg(madsim)]
#[path = "../../echo/src/ours.rs"]
mod ours;
#[cfg(madsim)]
mod rows;
#[cfg(madsim)]
mod stream;

#[cfg(madsim)]
fn main() {
    rows::print();
}
