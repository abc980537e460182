//! Several stacks on one thread, of which one goes on at a time, as if each were a thread.
//!
//! Stack 0 is the thread's own. Another one begins when it is [switched to](switch_to), and ends with its body, which names the
//! stack that goes on. A switch costs some tens of nanoseconds. What the scheduler's thread-locals tell of a stack goes with
//! it ([`StackLocals`](colored_core::port::StackLocals)); all stacks share the other thread-locals.
//!
//! # Why this is sound
//!
//! A stack runs on the thread that has made it, and on no other: the list of stacks is a thread-local, and no value leads to
//! a stack. So for the code on it a switch is a call that takes long, and in which other code of the thread runs. No frame is
//! given up: a stack whose body has not returned when its thread ends stays as it is, and is leaked.
//!
//! What is not sound on several stacks is code that sets a thread-local to a place in its own frames, runs code of others, and
//! takes for granted that the thread-local is as before: the crate `scoped-tls`, or a runtime inside a turn. Such a
//! thread-local of ours is a [`StackLocal`](colored_core::port::StackLocal). A program that has one, and acts on other colors
//! inside, has to run on threads.

#[cfg_attr(
    any(
        miri,
        // A sanitizer would have to be told of each switch.
        colored_sanitize,
        not(any(unix, windows)),
        not(any(
            target_arch = "x86",
            target_arch = "x86_64",
            all(target_arch = "aarch64", not(windows)),
            target_arch = "riscv64",
            target_arch = "loongarch64"
        ))
    ),
    path = "stacks/absent.rs"
)]
mod system;

pub use self::system::{ARE_HERE, begin, running, start, switch_to};

#[cfg(test)]
mod tests;
