//! Answers of attempts that a test puts in place of the system's. Outside tests there are none.

#[cfg(not(test))]
pub(super) use self::none::{Job, answer, job, limit, no_job};
#[cfg(test)]
pub(super) use self::some::{Fault, Job, answer, job, limit, no_job, set};

#[cfg(not(test))]
mod none {
    use crate::fs::system::Attempt;
    use std::io;

    #[inline]
    pub(in crate::fs) fn answer() -> Option<io::Result<Attempt<usize>>> {
        None
    }

    #[inline]
    pub(in crate::fs) fn limit(len: usize) -> usize {
        len
    }

    /// No fault of a deferred operation.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::fs) struct Job;

    impl Job {
        #[inline]
        #[expect(clippy::unnecessary_wraps, reason = "as in tests")]
        pub(in crate::fs) fn refuse(self) -> io::Result<()> {
            Ok(())
        }

        #[inline]
        pub(in crate::fs) fn limit(self, len: usize) -> usize {
            len
        }

        #[inline]
        pub(in crate::fs) fn is_of_threads(self) -> bool {
            false
        }
    }

    #[inline]
    pub(in crate::fs) fn job() -> Job {
        Job
    }

    #[inline]
    pub(in crate::fs) fn no_job() -> Job {
        Job
    }
}

#[cfg(test)]
mod some {
    use crate::fs::system::Attempt;
    use std::cell::Cell;
    use std::io;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(in crate::fs) enum Fault {
        WouldBlock,
        Unsupported,
        /// At most so many bytes are moved.
        Partial(usize),
        /// The attempt takes a millisecond longer.
        Slow,
        /// The attempt takes a millisecond, and finds that the operation would wait.
        #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "of Linux only"))]
        SlowRefusal,
        /// A signal has interrupted the call.
        Interrupted,
        /// An error of the system.
        Error(i32),
        /// Neither an attempt nor a call that may wait takes a position: the error is that of a pipe.
        Refused,
        /// An attempt would wait, and a call that may wait moves at most so many bytes.
        Short(usize),
    }

    thread_local!(static FAULT: Cell<Option<Fault>> = const { Cell::new(None) });

    /// What the next attempts of this thread answer.
    pub(in crate::fs) fn set(fault: Option<Fault>) {
        FAULT.set(fault);
    }

    pub(in crate::fs) fn answer() -> Option<io::Result<Attempt<usize>>> {
        match FAULT.get()? {
            Fault::WouldBlock => Some(Ok(Attempt::WouldBlock)),
            Fault::Unsupported => Some(Ok(Attempt::Unsupported)),
            Fault::Partial(_) => None,
            Fault::Slow => {
                std::thread::sleep(std::time::Duration::from_millis(1));
                None
            }
            Fault::SlowRefusal => {
                std::thread::sleep(std::time::Duration::from_millis(1));
                Some(Ok(Attempt::WouldBlock))
            }
            Fault::Interrupted => Some(Err(io::ErrorKind::Interrupted.into())),
            Fault::Error(code) => Some(Err(io::Error::from_raw_os_error(code))),
            Fault::Refused => Some(Err(io::ErrorKind::NotSeekable.into())),
            Fault::Short(_) => Some(Ok(Attempt::WouldBlock)),
        }
    }

    /// The fault of a deferred operation, which another thread does.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::fs) struct Job(Option<Fault>);

    impl Job {
        pub(in crate::fs) fn refuse(self) -> io::Result<()> {
            match self.0 {
                Some(Fault::Refused) => Err(io::ErrorKind::NotSeekable.into()),
                _ => Ok(()),
            }
        }

        /// Whether a thread has to do the operation, because io_uring knows nothing of the fault.
        pub(in crate::fs) fn is_of_threads(self) -> bool {
            matches!(self.0, Some(Fault::Refused | Fault::Short(_)))
        }

        pub(in crate::fs) fn limit(self, len: usize) -> usize {
            match self.0 {
                Some(Fault::Short(most)) => len.min(most),
                _ => len,
            }
        }
    }

    /// What the calls of a deferred operation of this thread answer.
    pub(in crate::fs) fn job() -> Job {
        Job(FAULT.get())
    }

    /// No fault.
    pub(in crate::fs) fn no_job() -> Job {
        Job(None)
    }

    pub(in crate::fs) fn limit(len: usize) -> usize {
        match FAULT.get() {
            Some(Fault::Partial(most)) => len.min(most),
            _ => len,
        }
    }
}
