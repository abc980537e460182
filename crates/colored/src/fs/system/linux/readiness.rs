//! Whether a read of a terminal, of another device, or of a file of `/proc` would wait.

use crate::fs::system::Readiness;
use crate::ready::{Direction, is_ready};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::process::{getpgrp, getsid};
use rustix::termios::{LocalModes, SpecialCodeIndex, tcgetattr, tcgetpgrp, tcgetsid};
use std::fs::File;

/// Whether a read would find something.
///
/// Only of a terminal, and of a file that the system makes, is `poll(2)` trusted to tell later that there is something:
/// other devices may be read without ever telling.
pub(in crate::fs) fn readiness(file: &File) -> Readiness {
    if is_ready(file, Direction::Read) {
        return Readiness::Ready;
    }
    let can_read = fcntl_getfl(file).is_ok_and(|flags| (flags & OFlags::ACCMODE) != OFlags::WRONLY);
    let is_regular = || {
        let mode = fstat(file).map(|stat| FileType::from_raw_mode(stat.st_mode));
        mode == Ok(FileType::RegularFile)
    };
    match can_read && (waits_for_input(file) || is_regular()) {
        true => Readiness::Waits,
        false => Readiness::Unknown,
    }
}

/// Whether a file is a terminal whose read waits until `poll(2)` tells that there is something.
fn waits_for_input(file: &File) -> bool {
    let Ok(modes) = tcgetattr(file) else { return false };
    // Otherwise the read ends without a byte, at once or after a while.
    let waits = modes.local_modes.contains(LocalModes::ICANON)
        || modes.special_codes[SpecialCodeIndex::VMIN] > 0;
    waits && !is_in_background(file)
}

/// Whether a file is the terminal of this process, which the process must not read now: the read says so.
fn is_in_background(file: &File) -> bool {
    let is_ours = tcgetsid(file).is_ok_and(|of| getsid(None) == Ok(of));
    is_ours && tcgetpgrp(file).is_ok_and(|group| group != getpgrp())
}
