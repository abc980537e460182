//! [`View`]: the runtime as the diagnosis sees it: what it counts, and what its tasks note when they wait.

use super::attach::Attached;
#[cfg(unix)]
use crate::net::unix::credentials::of_peer;
use crate::services::Services;
use crate::wait_reason::{FAR, IS_PERMIT, Kind as LeafKind, MILLI};
use colored_core::{Leaf, Scheduler, SchedulerHandle};
use colored_diagnose::{Call, Diagnosis, Kind, Notes, Subject, Timers, Told};
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::BorrowedFd;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// A runtime, for the diagnosis.
pub(crate) struct View {
    core: SchedulerHandle,
    services: Arc<Services>,
}

impl View {
    pub(crate) fn of(core: &SchedulerHandle, services: &Arc<Services>) -> Arc<dyn Subject> {
        Arc::new(Self { core: core.clone(), services: Arc::clone(services) })
    }
}

impl Subject for View {
    fn scheduler(&self) -> &Scheduler {
        self.core.scheduler()
    }

    fn diagnosis(&self) -> &Diagnosis {
        &Attached::of(&self.services).diagnosis
    }

    fn notes(&self) -> Notes {
        Notes { read, is_of_files, tick: self.services.driver.clock.now_tick() }
    }

    fn calls(&self) -> Vec<Call> {
        let calls = self.services.pool.running().into_iter();
        calls
            .map(|(class, call)| {
                // The places of file operations are in this crate.
                let spawned = (class != "fs").then_some(call.site);
                Call { class, since: call.since, spawned }
            })
            .collect()
    }

    fn timers(&self) -> Timers {
        let (pending, fired, turns) = self.services.driver.timers.counts();
        Timers { pending, fired, turns }
    }

    fn wakes(&self) -> u64 {
        self.services.driver.parkers.wakes()
    }

    fn active_workers(&self) -> usize {
        self.services.size.workers
    }

    #[cfg(unix)]
    fn user_of_peer(&self, socket: BorrowedFd<'_>) -> io::Result<u32> {
        of_peer(socket).map(|peer| peer.uid())
    }
}

/// Whether the place is in the folder of file operations of this crate.
fn is_of_files(site: &Location<'_>) -> bool {
    let folder = file!().trim_end_matches("view.rs").trim_end_matches(['/', '\\']);
    let root = folder.trim_end_matches("diagnose");
    let inside = site.file().strip_prefix(root);
    inside.is_some_and(|path| path.starts_with("fs"))
}

/// The argument of a descriptor that is unknown.
const NO_DESCRIPTOR: u32 = (1 << Leaf::ARG_BITS) - 1;

/// What a leaf says when the clock of the driver shows this tick.
fn read(leaf: Leaf, now: u64) -> Option<Told> {
    let of = LeafKind::of(leaf)?;
    let kind = match of {
        LeafKind::Readable => Kind::Readable,
        LeafKind::Writable => Kind::Writable,
        LeafKind::Accept => Kind::Accept,
        LeafKind::Connect => Kind::Connect,
        LeafKind::Timer | LeafKind::FarTimer => Kind::Timer,
        LeafKind::Timeout | LeafKind::FarTimeout => Kind::Timeout,
        LeafKind::File => Kind::File,
        #[cfg(unix)]
        LeafKind::Child => Kind::Child,
        #[cfg(unix)]
        LeafKind::Signal => Kind::Signal,
        LeafKind::Lock if leaf.arg & IS_PERMIT != 0 => Kind::Permit,
        LeafKind::Lock => Kind::Lock,
        LeafKind::Receive => Kind::Receive,
        LeafKind::Send => Kind::Send,
        LeafKind::Notified => Kind::Notified,
    };
    let left = match of {
        LeafKind::Timer | LeafKind::Timeout => Some(left(leaf, now, MILLI, 1)),
        LeafKind::FarTimer | LeafKind::FarTimeout => Some(left(leaf, now, FAR, 1024)),
        _ => None,
    };
    Some(Told { kind, number: Some(leaf.arg).filter(|arg| *arg != NO_DESCRIPTOR), left })
}

/// The time until the deadline of a timer, in units of so many milliseconds.
fn left(leaf: Leaf, now: u64, shift: u32, unit: u64) -> Duration {
    let now = (now >> shift) as u32;
    // The difference of two numbers of `ARG_BITS` bits, with its sign.
    let unused = u32::BITS - Leaf::ARG_BITS;
    let left = (leaf.arg.wrapping_sub(now) << unused).cast_signed() >> unused;
    Duration::from_millis(u64::from(left.max(0).unsigned_abs()) * unit)
}

#[cfg(test)]
mod tests {
    use super::{LeafKind, read};
    use colored_core::Leaf;
    use std::time::Duration;

    fn timer(kind: LeafKind, deadline: u64) -> Leaf {
        kind.leaf(deadline as u32 & ((1 << Leaf::ARG_BITS) - 1))
    }

    #[test]
    fn a_deadline_is_read_as_the_one_nearest_to_the_present() {
        // Ticks of 1/64 ms; the clock has run for 40 hours.
        let now = 40 * 3600 * 1000 * 64;
        let left = |kind, deadline: u64, shift: u32| {
            read(timer(kind, deadline >> shift), now).and_then(|told| told.left)
        };
        let ms = |millis| Some(Duration::from_millis(millis));
        assert_eq!(left(LeafKind::Timer, now + 64 * 1500, 6), ms(1500));
        assert_eq!(left(LeafKind::Timeout, now + 64 * 3_600_000, 6), ms(3_600_000));
        assert_eq!(left(LeafKind::Timer, now - 64 * 5, 6), ms(0), "it is due");
        let day = 24 * 3600 * 1000;
        let far = left(LeafKind::FarTimer, now + 64 * 30 * day, 16).expect("it is a timer");
        assert!(far.as_millis().abs_diff(30 * u128::from(day)) <= 1024, "{far:?}");
        assert_eq!(read(LeafKind::Readable.leaf(7), now).and_then(|told| told.number), Some(7));
    }
}
