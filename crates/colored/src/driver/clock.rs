//! Where the time of a runtime comes from.
//!
//! A runtime asks its [`Clock`] and nothing else for the time of timers. The clock follows the system's clock until it is
//! paused; then it moves only when it is told to ([`pause`](super::pause)). When it is resumed, it goes on from where it
//! stood, so from then on it differs from the system's clock.
//!
//! Times of the clock are of the type of the system's times, but two clocks do not agree on them.

use crate::wall;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use colored_machine::TICK;

/// The end of a clock, in nanoseconds since tick 0: the last whole tick, 584 years. Later times are not told apart from it.
const END: u64 = u64::MAX / TICK * TICK;

/// The clock shows the system's time.
const SYSTEM: u8 = 0;
/// The clock stands still.
const PAUSED: u8 = 1;
/// The clock moves with the system's clock, and shows another time.
const RESUMED: u8 = 2;

/// A monotonic clock, and the ticks that timers are registered under.
///
/// One tick is a [`TICK`]; tick 0 is the moment the clock was made. A deadline is
/// rounded up to a tick ([`deadline_tick`](Clock::deadline_tick)) and the present
/// is rounded down ([`elapsed_tick`](Clock::elapsed_tick)), so a timer that fires
/// when the second reaches the first is never early and less than a tick late.
#[derive(Debug)]
pub(crate) struct Clock {
    origin: Instant,
    /// Changes under the lock of `face`.
    mode: AtomicU8,
    /// What it shows while it stands, in nanoseconds since tick 0. Changes under the lock of `face`; a simulation reads it
    /// in each turn.
    stands_at: AtomicU64,
    face: Mutex<Face>,
}

/// What the clock shows while it does not show the system's time.
#[derive(Clone, Copy, Debug)]
enum Face {
    Stands,
    /// It showed `at` nanoseconds since tick 0 when the system's clock showed `from`.
    Moves {
        at: u64,
        from: Instant,
    },
}

impl Clock {
    /// A clock that follows the system's monotonic clock from now on.
    pub(crate) fn new() -> Clock {
        let origin = wall::now();
        let face = Mutex::new(Face::Moves { at: 0, from: origin });
        Clock { origin, mode: AtomicU8::new(SYSTEM), stands_at: AtomicU64::new(0), face }
    }

    /// A clock that stands, so many nanoseconds after its tick 0, which was at `origin`. Clocks with one origin agree.
    pub(crate) fn standing(origin: Instant, at: u64) -> Clock {
        let (stands_at, face) = (AtomicU64::new(at.min(END)), Mutex::new(Face::Stands));
        Clock { origin, mode: AtomicU8::new(PAUSED), stands_at, face }
    }

    /// The present.
    #[inline]
    pub(crate) fn now(&self) -> Instant {
        // Ordering: a hint. A thread that knows of a change of the mode also sees it, by the synchronization through
        // which it learned of the change.
        match self.mode.load(Ordering::Relaxed) {
            SYSTEM => wall::now(),
            _ => self.time(self.shown()),
        }
    }

    /// Nanoseconds since tick 0.
    #[cold]
    pub(crate) fn shown(&self) -> u64 {
        // Ordering: Acquire pairs with the Release of `pause`: the time is not one of an earlier pause.
        if self.mode.load(Ordering::Acquire) == PAUSED {
            // Ordering: as in `now`.
            return self.stands_at.load(Ordering::Relaxed);
        }
        match *self.face() {
            // Ordering: all stores are made under the lock.
            Face::Stands => self.stands_at.load(Ordering::Relaxed),
            Face::Moves { at, from } => at.saturating_add(nanos(wall::now(), from)).min(END),
        }
    }

    /// Whether the clock stands still.
    #[inline]
    pub(crate) fn is_paused(&self) -> bool {
        // Ordering: as in `now`.
        self.mode.load(Ordering::Relaxed) == PAUSED
    }

    /// Stops the clock at the next tick, so that a time of whole ticks from now ends at a tick. False if it stood still
    /// already.
    pub(crate) fn pause(&self) -> bool {
        let mut face = self.face();
        let Face::Moves { at, from } = *face else { return false };
        let at = at.saturating_add(nanos(wall::now(), from)).min(END).next_multiple_of(TICK);
        *face = Face::Stands;
        // Ordering: Release, of the mode, hands it over.
        self.stands_at.store(at, Ordering::Relaxed);
        // Ordering: see `shown`.
        self.mode.store(PAUSED, Ordering::Release);
        true
    }

    /// Lets the clock move again. False if it moved.
    pub(crate) fn resume(&self) -> bool {
        let mut face = self.face();
        let Face::Stands = *face else { return false };
        // Ordering: all stores are made under the lock.
        let at = self.stands_at.load(Ordering::Relaxed);
        *face = Face::Moves { at, from: wall::now() };
        // Ordering: as in `now`.
        self.mode.store(RESUMED, Ordering::Relaxed);
        true
    }

    /// Moves a clock that stands still to so many nanoseconds after tick 0, but never back, and not beyond its end.
    pub(crate) fn set(&self, to: u64) {
        let face = self.face();
        if let Face::Stands = *face {
            // Ordering: as in `now`; all stores are made under the lock.
            self.stands_at.fetch_max(to.min(END), Ordering::Relaxed);
        }
    }

    /// Whether that time has come. At the end of the clock every later one has: only a paused clock gets there, and nothing
    /// would ever wake who waits for these.
    pub(crate) fn has_reached(&self, at: Instant) -> bool {
        let now = self.now();
        now >= at || self.nanos(now) >= END
    }

    /// The last tick that is over at the present: a wheel is advanced to it.
    pub(crate) fn now_tick(&self) -> u64 {
        // Ordering: as in `now`.
        match self.mode.load(Ordering::Relaxed) {
            SYSTEM => self.elapsed_tick(wall::now()),
            _ => self.shown() / TICK,
        }
    }

    /// The last tick that is over at `at`. 0 for any time before the clock was made.
    pub(crate) fn elapsed_tick(&self, at: Instant) -> u64 {
        self.nanos(at) / TICK
    }

    /// The first tick that is not before `at`: where a deadline is registered.
    pub(crate) fn deadline_tick(&self, at: Instant) -> u64 {
        self.nanos(at).div_ceil(TICK)
    }

    /// What the system's clock shows at `tick`: a worker may sleep until then if it is its wheel's next deadline. `None`
    /// if the platform's `Instant` cannot say.
    pub(crate) fn system_at(&self, tick: u64) -> Option<Instant> {
        let tick = tick.saturating_mul(TICK);
        let (from, after) = match self.mode.load(Ordering::Relaxed) {
            // Ordering: as in `now`.
            SYSTEM => (self.origin, tick),
            _ => match *self.face() {
                Face::Moves { at, from } => (from, tick.saturating_sub(at)),
                Face::Stands => return None,
            },
        };
        from.checked_add(Duration::from_nanos(after))
    }

    /// Nanoseconds from tick 0 to `at`.
    pub(crate) fn nanos(&self, at: Instant) -> u64 {
        nanos(at, self.origin)
    }

    /// The time so many nanoseconds after tick 0.
    pub(crate) fn time(&self, nanos: u64) -> Instant {
        // A platform whose `Instant` ends before the last timer of a paused runtime stays at what it can say.
        self.origin.checked_add(Duration::from_nanos(nanos)).unwrap_or(self.origin)
    }

    fn face(&self) -> MutexGuard<'_, Face> {
        self.face.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nanoseconds from `since` to `at`; [`END`] at most, and 0 if `at` is earlier.
fn nanos(at: Instant, since: Instant) -> u64 {
    let after = at.saturating_duration_since(since);
    let seconds = after.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(u64::from(after.subsec_nanos())).min(END)
}

#[cfg(test)]
impl Clock {
    /// A clock that stands at tick 0.
    pub(crate) fn manual() -> Clock {
        Clock::standing(wall::now(), 0)
    }

    /// Moves a clock that stands still.
    pub(crate) fn forward(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).expect("a test moves time by less than centuries");
        self.set(self.shown() + by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_round_up_and_the_present_rounds_down() {
        let clock = Clock::new();
        let at = |nanos| clock.origin + Duration::from_nanos(nanos);
        for (nanos, down, up) in
            [(0, 0, 0), (1, 0, 1), (TICK - 1, 0, 1), (TICK, 1, 1), (TICK + 1, 1, 2)]
        {
            assert_eq!(clock.elapsed_tick(at(nanos)), down, "{nanos} ns");
            assert_eq!(clock.deadline_tick(at(nanos)), up, "{nanos} ns");
        }
    }

    #[test]
    fn a_time_before_the_clock_is_tick_zero() {
        let before = wall::now();
        std::thread::sleep(Duration::from_millis(2));
        let clock = Clock::new();
        assert_eq!(clock.deadline_tick(before), 0);
        assert_eq!(clock.elapsed_tick(before), 0);
    }

    #[test]
    fn a_tick_has_come_at_its_time_and_not_before() {
        let clock = Clock::manual();
        clock.forward(Duration::from_nanos(2 * TICK + 5));
        assert_eq!(clock.now_tick(), 2);
        let at = clock.now() + Duration::from_nanos(2 * TICK - 5);
        assert_eq!(clock.elapsed_tick(at), 4);
        assert_eq!(clock.elapsed_tick(at - Duration::from_nanos(1)), 3);
    }

    #[test]
    fn the_longest_times_do_not_overflow() {
        let clock = Clock::new();
        let far = clock.origin.checked_add(Duration::from_secs(1 << 40)).expect("35,000 years");
        assert_eq!(clock.elapsed_tick(far), u64::MAX / TICK);
        assert_eq!(clock.deadline_tick(far), u64::MAX / TICK, "a tick that comes");
        assert!(clock.system_at(u64::MAX).is_none_or(|at| at > clock.now()));
        let clock = Clock::manual();
        assert!(!clock.has_reached(far));
        clock.set(u64::MAX);
        assert!(clock.now() >= clock.origin);
        assert!(clock.has_reached(far), "no time comes after the end");
        assert!(clock.resume() && clock.pause());
        assert_eq!(clock.now_tick(), u64::MAX / TICK);
    }

    #[test]
    fn a_paused_clock_stands_at_a_tick_and_never_goes_back() {
        let clock = Clock::new();
        let before = clock.now();
        assert!(clock.pause() && !clock.pause());
        let stands = clock.now();
        assert!(stands >= before);
        assert_eq!(clock.shown() % TICK, 0);
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(clock.now(), stands);
        clock.set(0);
        assert_eq!(clock.now(), stands);
        assert_eq!(clock.system_at(u64::MAX), None, "no sleep of a worker ends with it");
    }

    #[test]
    fn a_resumed_clock_goes_on_from_where_it_stood() {
        let clock = Clock::new();
        clock.pause();
        let hour = Duration::from_secs(3600);
        clock.forward(hour);
        let (stood, tick) = (clock.now(), clock.now_tick());
        assert!(clock.resume() && !clock.resume());
        let system = wall::now();
        let shown = clock.now();
        assert!(shown >= stood && shown > system + hour / 2);
        let at = clock.system_at(tick + 64).expect("a millisecond later");
        assert!(
            at <= system + Duration::from_millis(1),
            "the system's clock did not move by an hour"
        );
        assert!(clock.pause(), "and again");
    }
}
