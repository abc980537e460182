//! Asynchronous reads as in LAIO's test: each one is handed to the system, whether its data is there or not.

use io_uring::{IoUring, opcode, types};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// An io_uring with one read at a time, and no runtime around it.
pub(super) struct Ring {
    ring: IoUring,
    /// Leaked: the kernel may write to it for as long as a read is under way.
    buffer: &'static mut [u8],
    is_begun: bool,
}

impl Ring {
    /// A ring whose reads want `len` bytes.
    pub(super) fn new(len: usize) -> Self {
        let ring = IoUring::new(8).expect("the system has io_uring");
        Self { ring, buffer: vec![0; len].leak(), is_begun: false }
    }

    /// Hands a read to the system, by one call.
    ///
    /// # Panics
    ///
    /// If the last one has not ended.
    #[expect(unsafe_code, reason = "the kernel gets the address of a buffer")]
    pub(super) fn begin(&mut self, from: &OwnedFd) {
        assert!(!self.is_begun, "one read at a time");
        self.is_begun = true;
        let len = self.buffer.len() as u32;
        let read = opcode::Read::new(types::Fd(from.as_raw_fd()), self.buffer.as_mut_ptr(), len)
            .offset(u64::MAX)
            .build();
        // SAFETY: The buffer is never freed, and nobody uses it before `end` has taken the completion.
        let pushed = unsafe { self.ring.submission().push(&read) };
        pushed.expect("the queue is empty");
        assert_eq!(self.ring.submit().expect("the system takes it"), 1);
    }

    /// Whether the read has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        !self.ring.completion().is_empty()
    }

    /// Waits for the end of the read, and returns what it has read.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(super) fn end(&mut self) -> io::Result<&[u8]> {
        while !self.has_ended() {
            self.ring.submit_and_wait(1)?;
        }
        let completion = self.ring.completion().next().expect("it has ended");
        self.is_begun = false;
        match usize::try_from(completion.result()) {
            Ok(read) => Ok(&self.buffer[..read]),
            Err(_) => Err(io::Error::from_raw_os_error(-completion.result())),
        }
    }
}
