//! [`Locals`]: the bytes of a thread's thread-locals, and whether they are as they were.
//!
//! A thread that makes one run after another must show each of them thread-locals as they are at first. What a run has
//! changed there, lazily or for good, shows in the bytes. The thread looks at the thread-locals of the program, and of every
//! library that has some then, but for the C library's own. So a thread is used again only as long as no byte differs, but for
//! those that a run without any code of the program changes, too: the scheduler's and the simulation's counts, for example. What a
//! thread-local of the program points to need not be looked at: a run that changes it has first made the pointer.
//!
//! Out of sight is:
//!
//! * what the thread has by a pointer that was there before the program: what [`forget_unpark`] takes back, and what code that is
//!   common to all runs has made on the heap, such as the spans that a subscriber of `tracing` keeps for each thread;
//! * what the system keeps of a thread: its name, its CPUs and its signal mask;
//! * thread-locals of the C library, such as `errno`, and what C code keeps by `pthread_setspecific`.

#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu", not(miri), not(colored_sanitize))),
    path = "locals/absent.rs"
)]
mod system;

use self::system::{are_unchanged, ask_for_a_byte, read};
use crate::thread::is_asked_for_bytes;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What an `unpark` has left for this thread, whose handle was there before the program, is taken back: its next `park` waits.
pub(crate) fn forget_unpark() {
    thread::current().unpark();
    thread::park();
}

/// The bytes of a thread's thread-locals.
#[derive(Debug)]
pub struct Locals {
    blocks: Vec<Block>,
}

/// The thread-locals of one program or library.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    /// The address.
    at: usize,
    bytes: Vec<u8>,
}

/// The bytes that change without the program: by block, 255 for each.
#[derive(Debug, Default)]
pub struct Noise(Mutex<Vec<Vec<u8>>>);

/// Whether `colored-sim-libc` answers with the run's random numbers where a program asks the system: then each run needs a
/// thread whose hashers have no keys yet.
#[must_use]
pub(crate) fn are_random_numbers_ours() -> bool {
    ask_for_a_byte();
    is_asked_for_bytes()
}

impl Locals {
    /// Copies this thread's thread-locals. None where a system does not show them.
    #[must_use]
    pub fn now() -> Option<Self> {
        read().map(|blocks| Self { blocks })
    }

    /// Whether this thread, whose they are, has them as they were, but for the noise.
    #[must_use]
    pub fn are_unchanged(&self, noise: &Noise) -> bool {
        let noise = noise.0.lock().unwrap_or_else(PoisonError::into_inner);
        are_unchanged(&self.blocks, &noise)
    }

    /// Whether they are of the same programs and libraries, at the same places.
    fn is_alike(&self, other: &Self) -> bool {
        self.blocks.len() == other.blocks.len()
            && self
                .blocks
                .iter()
                .zip(&other.blocks)
                .all(|(one, other)| one.at == other.at && one.bytes.len() == other.bytes.len())
    }

    /// What differs from `before`, of the same thread, is noise.
    pub fn add_noise(&self, before: &Self, noise: &Noise) {
        if !self.is_alike(before) {
            return;
        }
        let mut noise = noise.0.lock().unwrap_or_else(PoisonError::into_inner);
        noise.resize(self.blocks.len(), Vec::new());
        for ((one, other), noise) in self.blocks.iter().zip(&before.blocks).zip(&mut *noise) {
            noise.resize(one.bytes.len(), 0);
            for ((one, other), noise) in one.bytes.iter().zip(&other.bytes).zip(&mut *noise) {
                *noise |= if one == other { 0 } else { 255 };
            }
            widen(noise, &one.bytes);
        }
    }
}

/// A number of which two bytes are noise is noise as a whole: its higher bytes change seldom. The parts of a block are aligned as
/// it is, so two such bytes in four, and some in each half of eight, are of one number. So is a word that looks like a pointer of a
/// process of 64 bits: two parts of the heap may lie on both sides of a multiple of 4 GiB.
fn widen(noise: &mut [u8], bytes: &[u8]) {
    let is_noise = |bytes: &[u8]| bytes.iter().filter(|byte| **byte > 0).count();
    for half in noise.chunks_exact_mut(4).filter(|half| is_noise(half) > 1) {
        half.fill(255);
    }
    for (word, there) in noise.chunks_exact_mut(8).zip(bytes.chunks_exact(8)) {
        let upper = u64::from_ne_bytes(there.try_into().expect("eight bytes")) >> 32;
        let is_pointer = (0x5000..0x8000).contains(&upper);
        if is_noise(&word[..4]) == 4 && (is_noise(&word[4..]) > 0 || is_pointer) {
            word.fill(255);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Locals, Noise};
    use std::cell::{Cell, RefCell};

    thread_local! {
        static PLAIN: Cell<u32> = const { Cell::new(7) };
        static LAZY: RefCell<Vec<u32>> = RefCell::new(vec![1]);
    }

    #[test]
    fn a_change_shows_and_noise_does_not() {
        let on_a_thread = || {
            let Some(first) = Locals::now() else { return };
            let noise = Noise::default();
            assert!(first.are_unchanged(&noise));
            PLAIN.set(8);
            assert!(!first.are_unchanged(&noise));
            PLAIN.set(7);
            assert!(first.are_unchanged(&noise));
            // One that is made when it is used first.
            LAZY.with_borrow(|list| assert_eq!(list.len(), 1));
            assert!(!first.are_unchanged(&noise));
            let made = Locals::now().unwrap();
            assert!(made.are_unchanged(&noise));
            PLAIN.set(9);
            Locals::now().unwrap().add_noise(&made, &noise);
            PLAIN.set(11);
            assert!(made.are_unchanged(&noise), "a byte that is known to change");
            PLAIN.set(1 << 20);
            assert!(!made.are_unchanged(&noise), "another one");
            PLAIN.set(1 << 9);
            Locals::now().unwrap().add_noise(&made, &noise);
            PLAIN.set(1 << 20);
            assert!(made.are_unchanged(&noise), "all of a number");
        };
        std::thread::spawn(on_a_thread).join().unwrap();
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn a_pointer_is_noise_as_a_whole() {
        let noise_of = |number: u64| {
            let mut noise = [255, 255, 0, 0, 0, 0, 0, 0];
            super::widen(&mut noise, &number.to_ne_bytes());
            noise
        };
        assert_eq!(noise_of(0x7fce_0800_71c0), [255; 8]);
        assert_eq!(noise_of(0x3_0800_71c0), [255, 255, 255, 255, 0, 0, 0, 0]);
    }
}
