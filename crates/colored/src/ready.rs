//! Waiting on a thread for a descriptor that may be in non-blocking mode: other processes share the mode, and one of
//! them may have set it.

#[cfg(not(unix))]
use self::other as system;
#[cfg(unix)]
use self::unix as system;

use self::system::wait;
pub(crate) use self::system::{Open, is_ready};

use std::io::{self, ErrorKind};
use std::thread;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// The pause after a call that would block where the system said that it would not: some files answer so each time.
const PAUSE: Duration = Duration::from_millis(1);

/// Waits a little, after a call that would block although the system said that it would not.
pub(crate) fn pause() {
    thread::sleep(PAUSE);
}

/// Calls until the answer is neither that the call would block, for which it waits, nor that a signal has come.
pub(crate) fn until_done<T>(
    of: &impl Open,
    direction: Direction,
    mut call: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut has_waited = false;
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if has_waited {
                    pause();
                }
                has_waited = true;
                wait(of, direction);
            }
            done => return done,
        }
    }
}

#[cfg(unix)]
mod unix {
    use super::Direction;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    pub(crate) use std::os::fd::AsFd as Open;

    fn flags(direction: Direction) -> PollFlags {
        match direction {
            Direction::Read => PollFlags::IN,
            Direction::Write => PollFlags::OUT,
        }
    }

    /// Whether an operation would not wait, as far as the system tells. An error counts as an answer.
    pub(crate) fn is_ready(of: &impl Open, direction: Direction) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(of, flags(direction))], Some(&at_once)) != Ok(0)
    }

    /// Waits until an operation would not wait.
    pub(super) fn wait(of: &impl Open, direction: Direction) {
        // An error is found again by the operation.
        let _ready = poll(&mut [PollFd::new(of, flags(direction))], None);
    }
}

/// No descriptor is in non-blocking mode.
#[cfg(not(unix))]
mod other {
    use super::Direction;

    /// Anything.
    pub(crate) trait Open {}

    impl<T> Open for T {}

    pub(crate) fn is_ready(_: &impl Open, _: Direction) -> bool {
        true
    }

    pub(super) fn wait(_: &impl Open, _: Direction) {}
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::io::ioctl_fionbio;
    use std::io::{Read, Write, pipe};

    #[test]
    fn a_call_that_would_block_is_repeated_when_the_other_end_has_acted() {
        let (mut reader, mut writer) = pipe().unwrap();
        ioctl_fionbio(&reader, true).unwrap();
        ioctl_fionbio(&writer, true).unwrap();
        let fed = thread::spawn(move || {
            let bytes = vec![7; 300_000];
            let mut done = 0;
            while done < bytes.len() {
                let call = || (&writer).write(&bytes[done..]);
                done += until_done(&writer, Direction::Write, call).unwrap();
            }
            writer.flush().unwrap();
        });
        let mut read = 0;
        let mut buf = [0; 1000];
        loop {
            let of = reader.try_clone().unwrap();
            match until_done(&of, Direction::Read, || reader.read(&mut buf)).unwrap() {
                0 => break,
                n => read += n,
            }
        }
        fed.join().unwrap();
        assert_eq!(read, 300_000);
    }

    #[test]
    fn a_file_that_always_says_that_it_is_ready_is_asked_again_and_again() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let mut answers = vec![
            Err(ErrorKind::WouldBlock.into()),
            Err(ErrorKind::Interrupted.into()),
            Err(ErrorKind::WouldBlock.into()),
            Ok(3),
        ]
        .into_iter();
        let call = || answers.next().expect("no more calls");
        assert_eq!(until_done(&null, Direction::Read, call).unwrap(), 3);
    }
}
