//! Blocking-looking code as tasks of the `colored` runtime, on stacks of their own.
//!
//! ```
//! use colored::sync::mpsc;
//! use colored_stackful as stackful;
//! use std::io::{self, BufRead, BufReader, Read};
//!
//! /// The parts that other tasks send, as one stream.
//! struct Parts(mpsc::Receiver<String>);
//!
//! impl Read for Parts {
//!     fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
//!         let Some(part) = stackful::checked_wait(self.0.recv())? else { return Ok(0) };
//!         buffer[..part.len()].copy_from_slice(part.as_bytes());
//!         Ok(part.len())
//!     }
//! }
//!
//! # #[colored::main(workers = 2)]
//! # async fn main() {
//! let (send, receive) = mpsc::channel(1);
//! // `BufReader` knows nothing of futures. Its task waits as a future does, and holds no thread.
//! let lines = stackful::spawn(7, || BufReader::new(Parts(receive)).lines().count());
//! for part in ["one\ntw", "o\n", "three"] {
//!     send.send(part.to_owned()).await.unwrap();
//! }
//! drop(send);
//! assert_eq!(lines.await.unwrap(), 3);
//! # }
//! ```
//!
//! | code that | runs |
//! |---|---|
//! | is a future | as a task of `colored`: it costs least |
//! | reads, writes, or calls back without futures, in many tasks at a time: protocols over `Read` and `Write`, parsers, drivers in C | here |
//! | recurses deeply | here, with a [size](Builder::stack_size) of its own |
//! | blocks by calls of the system, or computes for long | in [`spawn_blocking`](colored::spawn_blocking()): here it would hold its worker |
//!
//! # A task
//!
//! [`spawn()`] makes a task like any other: it has a color, a slice, a budget, a name, color-locals and a [`JoinHandle`], and
//! dumps, traces and reports show it. [`wait()`] is its `.await`: it gives the color up, and other tasks of the color run in
//! between; [`exclusive`] holds it. One resume of the stack is one poll of the task, and a future that is ready at once
//! costs no switch.
//!
//! **Its thread.** Any worker takes the first turn, and the task stays on that worker's thread, as one of
//! [`spawn_pinned`](colored::spawn_pinned()). So what the closure makes need not be `Send`: an `Rc`, a `RefCell`, a borrow
//! from a thread-local may live across a wait. While a poll holds the worker for long, its other stackful tasks that have
//! begun wait for it. [`spawn_migrating`] is for who can prove that a stack may move.
//!
//! **Its end.** An abort, and a shutdown of the runtime, unwind the stack once, under the task's color and on its thread.
//! The unwinding begins in the wait, calls the destructors as a panic does, and no panic hook. `catch_unwind` catches it;
//! the next wait unwinds again. A loop that catches all panics ends where [`is_ending`] says so; if it does not, the stack
//! leaks after 1,000 rounds, and a line on the standard error names the task.
//!
//! **Destructors.** A destructor of ordinary code waits like other code. During an unwinding, by an abort or a panic, a
//! stack cannot be suspended: [`checked_wait`] returns the output of a future that is ready at once, and an error
//! otherwise. [`wait()`] panics in place of the error, and a panic in a destructor during an unwinding aborts the process; so
//! a destructor calls `checked_wait`.
//!
//! **Panics** end the task, and go to the handle. A panic of a future that is waited for goes on in the [`wait()`], where
//! `catch_unwind` catches it, whatever thread it came from.
//!
//! With `panic = "abort"` there is no unwinding: the stack of a task that is aborted while it waits leaks, with all that is
//! on it, and no destructor runs.
//!
//! # Where a wait is refused
//!
//! Inside the poll of a future (`.await` there); in a closure that must return before the color is given up, namely that of
//! a cell, a `when`, a color-local, a task-local or `block_in_place`; and outside of a stackful task. [`CannotWait`] says
//! which. [`future()`] is a closure as a future: so a closure that waits can be a branch of `join!` or `select!`, run within
//! a time-out, or in the scope of a task-local.
//!
//! What the runtime cannot notice is up to the code, because other tasks of the *thread* run during a wait:
//!
//! * The guard of a lock of std that lives across a wait blocks the thread for ever if another of its tasks takes the lock.
//! * A `RefCell` of a thread-local that is borrowed across a wait is borrowed for the other tasks too.
//! * Code that sets a thread-local for the length of a closure or of a guard, and restores the value before it afterwards,
//!   must not wait in between: the values of two tasks would be restored in the wrong order. `tracing::Span::enter` shows a
//!   wrong span then. A crate that keeps a *pointer* in this way, as `scoped_tls` does, is unsound with any library of
//!   coroutines.
//!
//! # Stacks
//!
//! A stack of 256 KiB takes 256 KiB of addresses, and the pages that were touched: one page of 4 KiB for a task that waits
//! in a shallow function. Stacks lie beside each other in mappings of 64 MiB, each above a guard of 64 KiB. An access to the
//! guard ends the process, and says which task, of which name, spawned where, has overflowed which size.
//!
//! A task takes its stack at its first turn, and gives it back to a pool at its end. For each size, stacks of the pool keep
//! up to 16 MiB of memory; further ones give theirs back to the system at once, and [`release_idle_stacks`] gives back the
//! rest.
//!
//! Before Linux 6.13, and on other systems, each stack takes two mappings, which the system limits: on Linux to some 32,000
//! stacks (`vm.max_map_count`). A task for which there is no stack panics, with a text that names the limit.
//! musl's allocator takes a mapping for new blocks: at the limit an allocation there may fail, and that aborts the process.
//!
//! # Simulations and tools
//!
//! In `colored::sim` stackful tasks run as they are: each schedule of futures exists for them. In addition, a wait inside
//! nested calls ends a turn, so a function that the source shows as one step may be several turns.
//!
//! The feature `sanitizer` tells AddressSanitizer of each switch. Under Miri each stack is a thread: closures use what
//! belongs to the worker's thread, such as the current color, only in futures that they wait for.
//!
//! # Costs
//!
//! Beside a future's: a spawn and a join from the pool takes 0.33 µs and a future's 0.19 µs; a message between two tasks of
//! one worker costs 1.1 to 1.5 times as much; a yield 60 ns, of a future 14 ns; an abort with the unwinding 8 µs. A task
//! that waits takes 4.6 KiB of memory. Measured by the bench `stackful` on a shared virtual machine with two cores.
//!
//! # Platforms
//!
//! | | Linux, Android, the BSDs | macOS | Windows |
//! |---|---|---|---|
//! | x86-64 | yes | yes | yes |
//! | x86, 32 bits | yes | | yes |
//! | ARM, 64 bits | yes | yes | |
//! | ARM, 32 bits; RISC-V; LoongArch; PowerPC (64 bits, little-endian) | yes | | |
//!
//! Elsewhere the package does not compile. On Windows an overflow ends the process without the name of the task, and an
//! idle stack keeps its memory.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod fiber;
pub mod io;
mod link;
#[cfg(all(test, colored_loom))]
mod model;
pub mod net;
#[cfg(not(any(miri, colored_loom)))]
mod overflow;
mod shapes;
mod size;
mod spawn;
#[cfg(not(any(miri, colored_loom)))]
mod stack;
mod switch;
mod sync;
mod wait;

pub use self::fiber::Fiber;
pub use self::shapes::{exclusive, future, join, sleep, yield_now};
pub use self::spawn::{Builder, spawn, spawn_migrating, spawn_unique};
#[cfg(not(any(miri, colored_loom)))]
pub use self::stack::release_idle_stacks;
pub use self::wait::{CannotWait, checked_wait, is_ending, wait};
#[doc(no_inline)]
pub use colored::task::{JoinError, JoinHandle};
