//! Answers of attempts that a test puts in place of the system's. Outside tests there are none.

#[cfg(not(test))]
pub(super) use self::none::{answer, limit};
#[cfg(test)]
pub(super) use self::some::{Fault, answer, limit, set};

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
        SlowRefusal,
        /// An error of the system.
        Error(i32),
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
            Fault::Error(code) => Some(Err(io::Error::from_raw_os_error(code))),
        }
    }

    pub(in crate::fs) fn limit(len: usize) -> usize {
        match FAULT.get() {
            Some(Fault::Partial(most)) => len.min(most),
            _ => len,
        }
    }
}
