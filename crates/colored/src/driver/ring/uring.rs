//! io_uring.
//!
//! The invariant: the kernel may write to the bytes of a [`Begun`] read, and use its file, from its submission until its
//! completion has been taken. So it stays in [`State::begun`] for that time, whatever happens to the task that wants the
//! bytes. A read that the kernel does not complete before the end of the runtime is never freed.
//!
//! The lock of the state is never held while a read's `done` runs.

use super::Read;
use crate::driver::descriptor::Descriptor;
use crate::driver::reactor::{Entry, Interest, Ready, Shard, Watched};
use crate::wall;
use colored_core::contain;
use io_uring::{IoUring, opcode, types};
use slab::Slab;
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

/// The most reads that are under way at a time, and the length of the queue of completions.
const READS: u32 = 1024;

/// The bytes of all reads that are under way, at most; the read of a thread has no memory before it begins.
const BYTES: usize = 64 << 20;

/// How long the end of a runtime waits for the device.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_micros(200);

pub(super) struct Uring {
    state: Mutex<State>,
    entry: Arc<Entry>,
}

struct State {
    /// Registered with the shard, which ends with it: nothing deregisters it.
    ring: Descriptor<IoUring>,
    begun: Slab<Begun>,
    /// The sum of their lengths.
    bytes: usize,
    /// No more reads are taken: the runtime ends, or the kernel has refused one.
    is_closed: bool,
}

/// A read that the kernel has.
struct Begun {
    bytes: Vec<u8>,
    read: Read,
}

impl Uring {
    /// A ring whose completions are events of the shard.
    ///
    /// # Errors
    ///
    /// The system's; `Unsupported` before Linux 5.12, like the attempts that come before these reads.
    pub(super) fn new(shard: &Shard) -> io::Result<Arc<Uring>> {
        // A read is submitted at once, so the queue of submissions has one.
        let ring = IoUring::builder().setup_cqsize(READS).build(8)?;
        let features = ring.params();
        if !features.is_feature_nodrop() || !features.is_feature_native_workers() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut ring = Descriptor(ring);
        let (_key, entry) = shard.register(&mut ring, Ready::EMPTY, Watched::ALL_BUT_ROOM)?;
        let state = State { ring, begun: Slab::new(), bytes: 0, is_closed: false };
        let uring = Arc::new(Uring { state: Mutex::new(state), entry });
        uring.clone().wake();
        Ok(uring)
    }

    pub(super) fn read(&self, read: Read) -> Result<(), Read> {
        let len = read.len;
        // Not under the lock: this may take as long as a read from memory.
        let bytes = vec![0; len];
        let mut state = self.state();
        if state.is_closed || state.begun.len() == READS as usize || state.bytes + len > BYTES {
            return Err(read);
        }
        let key = state.begun.insert(Begun { bytes, read });
        match state.submit(key) {
            Ok(()) => {
                state.bytes += len;
                Ok(())
            }
            // The kernel has not taken it, and will not be asked again.
            Err(_) => {
                state.is_closed = true;
                Err(state.begun.remove(key).read)
            }
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.state().begun.is_empty()
    }

    /// Waits for the reads that are under way, and drops what would have been done with them.
    pub(super) fn shut_down(&self) {
        let deadline = wall::now() + PATIENCE;
        self.state().is_closed = true;
        loop {
            // Declared first, so dropped when the lock has been given up.
            let _done;
            let mut state = self.state();
            _done = state.completed();
            if state.begun.is_empty() {
                return;
            }
            if wall::now() >= deadline {
                // The kernel may still write to these.
                mem::forget(mem::take(&mut state.begun));
                return;
            }
            drop(state);
            thread::sleep(LOOK_AGAIN);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code of others runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    #[expect(unsafe_code, reason = "the kernel gets the address of a buffer")]
    fn submit(&mut self, key: usize) -> io::Result<()> {
        let Begun { bytes, read } = &mut self.begun[key];
        let file = types::Fd(read.of.file().as_raw_fd());
        let entry = opcode::Read::new(file, bytes.as_mut_ptr(), bytes.len() as u32)
            .offset(read.offset)
            .build()
            .user_data(key as u64);
        // SAFETY: The buffer and the open file are those of `begun[key]`. They stay where they are until `completed` takes
        // the completion with this key; the heap memory of a vector does not move with it.
        let pushed = unsafe { self.ring.0.submission().push(&entry) };
        pushed.map_err(io::Error::other)?;
        match self.ring.0.submit()? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(()),
        }
    }

    /// Takes the reads that the kernel has completed.
    fn completed(&mut self) -> Vec<(Read, io::Result<Vec<u8>>)> {
        let mut done = Vec::new();
        for completion in self.ring.0.completion() {
            let Begun { mut bytes, read } = self.begun.remove(completion.user_data() as usize);
            self.bytes -= bytes.len();
            let result = match usize::try_from(completion.result()) {
                Ok(read) => {
                    bytes.truncate(read);
                    Ok(bytes)
                }
                Err(_) => Err(io::Error::from_raw_os_error(-completion.result())),
            };
            done.push((read, result));
        }
        done
    }
}

/// The shard has an event of the ring.
impl Wake for Uring {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        loop {
            // The runtime has shut down.
            let Ok(seen) = self.entry.now() else { return };
            let completed = self.state().completed();
            for (read, result) in completed {
                contain(|| (read.done)(result));
            }
            self.entry.exhausted(seen, Interest::READABLE);
            let mut cx = Context::from_waker(&waker);
            if !self.entry.poll_slot(&mut cx, Interest::READABLE).is_ready() {
                return;
            }
        }
    }
}
