//! Terminals that no program runs in.

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::os::fd::OwnedFd;

/// The master and the other end of a terminal that passes all bytes on as they are. `None` if the system has none.
pub fn raw() -> Option<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).ok()?;
    grantpt(&master).ok()?;
    unlockpt(&master).ok()?;
    let name = ptsname(&master, Vec::new()).ok()?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).ok()?;
    let mut modes = tcgetattr(&slave).ok()?;
    modes.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &modes).ok()?;
    Some((master, slave))
}
