//! Clocks and random numbers of std, and of all other crates, by the seed of a simulation.
//!
//! In a simulation (`colored::sim`) the clock and the random numbers of `colored` follow the seed, but those of std do not: the
//! order of a `HashMap`, `std::time::Instant`, the crates `getrandom` and `rand`. A run that depends on them is reported as not
//! determined by its choices. A test binary that links this crate has no such runs:
//!
//! ```toml
//! [dev-dependencies]
//! colored-sim-libc = { path = "../colored/crates/colored-sim-libc" }
//! ```
//!
//! ```
//! use colored_sim_libc as _;
//! ```
//!
//! One such line anywhere in the test binary is enough, and nothing is called.
//!
//! # How
//!
//! On Linux the crate defines three functions of the C library, `clock_gettime`, `getrandom` and `syscall`, and on 32 bits the
//! one that std calls for the time there, `__clock_gettime64`. The linker takes these in place of the library's. On a thread that makes a run of a simulation they answer by its clock and seed; on all other
//! threads they call the library's. A call costs a look at a thread-local more.
//!
//! | in a simulation | |
//! |---|---|
//! | `std::time::Instant`, `clock_gettime(CLOCK_MONOTONIC)` and its relatives | the simulation's clock |
//! | `std::time::SystemTime`, `clock_gettime(CLOCK_REALTIME)` | the same, from 2026-01-01 00:00 UTC on |
//! | `RandomState`, so the order of std's `HashMap` and `HashSet` | by the seed |
//! | the crates `getrandom`, `rand`, `ahash`, `uuid` | by the seed; also where they call `syscall` |
//! | the clocks of CPU time | the system's |
//!
//! # Out of reach
//!
//! What asks the system without these functions: clocks that read the time stamp counter (`quanta`, `minstant`), system calls of
//! `rustix`, `gettimeofday` and `time` of C code, `/dev/urandom`. What happens on other threads, such as `std::thread::sleep`
//! there. And addresses: `foldhash`, which is hashbrown's default hasher, and `ahash` 0.7 draw from them. A run in a fresh process
//! without address space layout randomization has the same addresses each time, and that is how `#[colored::test(sim)]` confirms
//! a failure.
//!
//! # Where it works
//!
//! | target | |
//! |---|---|
//! | Linux with the dynamic glibc (`*-linux-gnu*`), of 64 and 32 bits | as above |
//! | Linux with musl, or with `-C target-feature=+crt-static` | the crate is empty: a static binary has one definition of each function, and the hidden one could not be called |
//! | other systems | the crate is empty |
//!
//! Where it is empty, programs build and run as without it, and a simulation that depends on std's clock or random numbers is
//! reported as not determined by its choices.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
mod symbols;
