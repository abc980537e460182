//! [`when()`]: a closure that has several cells at once.

use super::set::{Cells, Set};
use super::slot::{Outcome, Slot};
use crate::budget;
use crate::contain::contain;
use crate::lane::LanePtr;
use crate::lane::claim::{self, Claim, Header};
use crate::lane::known;
use crate::lane::want::{self, Want};
use crate::memory;
use crate::sched::waits;
use crate::task::Deadlock;
use std::alloc::Layout;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

/// Runs `f` with the values of several cells at once, when it has all of them for itself, and waits
/// for the result.
///
/// ```
/// use colored_core::{ColorCell, when};
///
/// async fn transfer(from: &ColorCell<i64>, to: &ColorCell<i64>, amount: i64) -> bool {
///     when((from, to), move |from, to| {
///         let enough = *from >= amount;
///         if enough {
///             *from -= amount;
///             *to += amount;
///         }
///         enough
///     })
///     .await
/// }
/// ```
///
/// The cells are one to eight `&ColorCell<T>` in a tuple, of any types and colors; the closure gets
/// a `&mut T` of each. An element [`cell.shared()`](crate::ColorCell::shared) gives a `&T`, and
/// lets others look at the cell at the same time. A slice, an array or a `Vec` of cells gives one
/// [`Several`](super::Several). Cells of one color are fine.
///
/// **No deadlock.** While a `when` waits it blocks no thread: it stands in the line of each color,
/// and what is behind it there waits, as behind any other. Two of them that have colors in common
/// run in the order in which they were scheduled, the same for all colors they share, so none waits
/// for one that waits for it. `f` does not await. As with any color: do not await inside a section
/// that holds one of the colors what needs that color.
///
/// **Where.** If all colors are idle, or one is the caller's own, `f` runs at once on this thread;
/// otherwise on the worker that comes to the last one. [`Color::current`](crate::Color::current) is
/// the color of the first cell that is not shared; if all are shared, as for
/// [`ColorCell::read`](crate::ColorCell::read). The cells of other colors are reached through the
/// arguments only; another access to one of the set, by [`ColorCell::with`](crate::ColorCell::with)
/// say, is refused.
///
/// Cancel safe: a `when` that is dropped before its first poll drops `f` there and then; one that
/// is scheduled drops `f` when it has its colors, and under them, unless it has begun, when it goes
/// on.
///
/// # Cost
///
/// All colors idle: two atomic exchanges a color, no allocation for a tuple and one for a slice;
/// one cell costs no more than [`ColorCell::call`](crate::ColorCell::call). Otherwise one
/// allocation (two for a slice), a clone of each cell, a swap and a count a color, a short lock a
/// color if there are several, and a wake-up. A color that is ready stands still until the others
/// are: many wide sets that overlap run one after another.
///
/// # Panics
///
/// At this call, if a tuple has the same cell twice and not both times shared. Later with the panic
/// of `f`, after which the colors go on; inside an access to one of the cells, from under its
/// color; if the runtime shuts down before `f` has run; and if it would have to wait for a section
/// that waits, in the end, for the caller ([`Deadlock`]), or for one of its own: inside a section
/// over one of the colors a `when` runs only if it need not wait.
#[track_caller]
pub fn when<S, F, R>(cells: S, f: F) -> When<S::Set, F, R>
where
    S: Cells<F, R>,
    F: Send + 'static,
    R: Send + 'static,
{
    let set = cells.into_set();
    if let Some((earlier, later)) = set.twice() {
        panic!(
            "`when` got the same cell at places {earlier} and {later}: name it once, or \
             `shared()` both times"
        );
    }
    When { stage: Stage::Unstarted(set, f), site: Location::caller() }
}

/// The future of [`when()`].
#[must_use = "futures do nothing unless awaited"]
pub struct When<S, F, R> {
    stage: Stage<S, F, R>,
    site: &'static Location<'static>,
}

#[cfg(all(test, colored_loom))]
impl<S, F, R> When<S, F, R> {
    /// What is scheduled.
    pub(crate) fn behavior(&self) -> NonNull<Header> {
        let Stage::Scheduled(scheduled) = &self.stage else { panic!("it is not scheduled") };
        scheduled.behavior
    }
}

enum Stage<S, F, R> {
    Unstarted(S, F),
    Scheduled(Scheduled<F, R>),
    Done,
}

// The closure is never pinned.
impl<S, F, R> Unpin for When<S, F, R> {}

impl<S, F, R> Future for When<S, F, R>
where
    S: Set<F, R>,
    F: Send + 'static,
    R: Send + 'static,
{
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        if budget::poll_proceed(cx).is_pending() {
            return Poll::Pending;
        }
        let this = &mut *self;
        match std::mem::replace(&mut this.stage, Stage::Done) {
            Stage::Unstarted(set, f) => match start(set, f, cx.waker(), this.site) {
                Ok(result) => return Poll::Ready(result),
                Err(scheduled) => this.stage = Stage::Scheduled(scheduled),
            },
            Stage::Scheduled(scheduled) => {
                if waits::are_watched() {
                    scheduled.record_again(this.site);
                }
                match scheduled.slot().poll(cx.waker()) {
                    Some(outcome) => return Poll::Ready(result_of(outcome)),
                    None => this.stage = Stage::Scheduled(scheduled),
                }
            }
            Stage::Done => panic!("a `When` was polled again after it had given the result"),
        }
        budget::give_back();
        Poll::Pending
    }
}

impl<S, F, R> fmt::Debug for When<S, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Unstarted(..) => "unstarted",
            Stage::Scheduled(_) => "scheduled",
            Stage::Done => "done",
        };
        f.debug_struct("When").field("stage", &stage).finish_non_exhaustive()
    }
}

fn result_of<R>(outcome: Outcome<R>) -> R {
    match outcome {
        Outcome::Done(result) => result,
        Outcome::Panicked(payload) => resume_unwind(payload),
        Outcome::Cancelled => panic!("the runtime shut down before a `when` ran"),
    }
}

/// Runs the closure if it need not wait, and schedules it otherwise.
fn start<S, F, R>(
    set: S,
    f: F,
    waker: &Waker,
    site: &'static Location<'static>,
) -> Result<R, Scheduled<F, R>>
where
    S: Set<F, R>,
    F: Send + 'static,
    R: Send + 'static,
{
    let mut wants = set.wants();
    let wants = wants.as_mut();
    // SAFETY: the set keeps the lanes.
    let lanes = unsafe { want::gather(wants) };
    let wants = &wants[..lanes];
    let color = set.color().map(Want::lane);
    // Gives `f` back if it must wait.
    let mut place = Some(f);
    let run = |own: Option<LanePtr>| {
        let f = place.take().expect("run once");
        // SAFETY: `run_now` has taken the lanes.
        unsafe { set.run(|want| own.is_some_and(|own| want.is_of(own)), f) }
    };
    // SAFETY: the set keeps the lanes.
    let ran = unsafe { want::run_now(wants, color, run) };
    if let Ok(result) = ran {
        return Ok(result_of(result.into()));
    }
    drop(ran);
    let f = place.expect("not run");
    let (set, old) = (set.keep(), waker.clone());
    let (scheduled, ran) = if waits::are_watched() {
        // SAFETY: the set, and then the behavior, keeps the lanes; that drops the records.
        let queued = unsafe {
            waits::queue_all(wants.iter().copied(), HOW, site, |wait, mut order| {
                let fresh = Behavior::allocate(set, Slot::new(f, old, wait), wants, color, site);
                order.enter(fresh.behavior);
                schedule(fresh, order)
            })
        };
        queued.unwrap_or_else(|deadlock| refuse(&deadlock, site))
    } else {
        schedule(Behavior::allocate(set, Slot::new(f, old, None), wants, color, site), ())
    };
    if ran && let Some(outcome) = scheduled.slot().poll(waker) {
        return Ok(result_of(outcome));
    }
    Err(scheduled)
}

/// What a `when` does with a color, for the text of a [`Deadlock`].
const HOW: &str = "wants, by `when`,";

/// Has a fresh behavior stand in the lines of its lanes; true if it has run. `guard` as for
/// [`claim::enqueue`].
fn schedule<F, R, G>(fresh: Scheduled<F, R>, guard: G) -> (Scheduled<F, R>, bool) {
    // SAFETY: fresh; this thread has the future's reference, and the behavior's set keeps the lanes.
    let ran = unsafe { claim::enqueue(fresh.behavior, guard) };
    (fresh, ran)
}

fn refuse(deadlock: &Deadlock, site: &'static Location<'static>) -> ! {
    panic!("the `when` at {site}: {deadlock}")
}

/// The future's half of a behavior.
struct Scheduled<F, R> {
    behavior: NonNull<Header>,
    slot: NonNull<Slot<F, R>>,
}

// SAFETY: the slot is a lock around what is `Send`, and all else is made to be shared.
unsafe impl<F: Send, R: Send> Send for Scheduled<F, R> {}
// SAFETY: as for `Send`.
unsafe impl<F: Send, R: Send> Sync for Scheduled<F, R> {}

impl<F, R> Scheduled<F, R> {
    fn slot(&self) -> &Slot<F, R> {
        // SAFETY: the future's reference keeps the behavior.
        unsafe { self.slot.as_ref() }
    }

    /// # Panics
    ///
    /// If the wait would never end.
    fn record_again(&self, site: &'static Location<'static>) {
        let mut is_new = false;
        let recorded = self.slot().record_again(|before| {
            is_new = before.is_none();
            // SAFETY: it is kept by the future's reference, and does not begin meanwhile.
            unsafe { waits::queued_all(before, self.behavior, HOW, site) }
        });
        if is_new {
            // SAFETY: as above.
            unsafe { waits::is_entered(self.behavior) };
        }
        recorded.unwrap_or_else(|deadlock| refuse(&deadlock, site));
    }
}

impl<F, R> Drop for Scheduled<F, R> {
    fn drop(&mut self) {
        self.slot().abandon();
        // SAFETY: the future's reference.
        unsafe { claim::release(self.behavior) };
    }
}

/// A closure that waits for its lanes, in one allocation.
#[repr(C)]
struct Behavior<S: Set<F, R>, F, R> {
    header: Header,
    claims: S::Claims,
    /// How many of them are wanted.
    lanes: usize,
    set: S,
    slot: Slot<F, R>,
}

impl<S, F, R> Behavior<S, F, R>
where
    S: Set<F, R> + Send + 'static,
    F: Send + 'static,
    R: Send + 'static,
{
    fn allocate(
        set: S,
        slot: Slot<F, R>,
        wants: &[Want],
        color: Option<LanePtr>,
        site: &'static Location<'static>,
    ) -> Scheduled<F, R> {
        let vtable = &claim::Vtable {
            run: Self::run_erased,
            claims: Self::claims_erased,
            free: Self::free_erased,
        };
        let behavior = Self {
            header: Header::new(wants.len(), color, vtable, site),
            claims: S::claims(wants),
            lanes: wants.len(),
            set,
            slot,
        };
        let place = memory::allocate(Layout::new::<Self>()).cast::<Self>();
        // SAFETY: the place is new, and of the behavior's layout.
        unsafe { place.write(behavior) };
        // SAFETY: nobody else knows it yet.
        let behavior = unsafe { &mut *place.as_ptr() };
        for claim in behavior.claims.as_mut() {
            // SAFETY: the set keeps the lanes of those that want one.
            unsafe { claim.belong_to(place.cast()) };
        }
        // SAFETY: a field of what has just been made.
        let slot = unsafe { &raw mut (*place.as_ptr()).slot };
        Scheduled { behavior: place.cast(), slot: NonNull::new(slot).expect("a field") }
    }

    /// See [`claim::Vtable::run`].
    unsafe fn run_erased(header: NonNull<Header>, cancel: bool) -> Option<Waker> {
        // SAFETY: the vtable belongs to a behavior of this type, which the caller keeps.
        let behavior = unsafe { header.cast::<Self>().as_ref() };
        let f = behavior.slot.begin();
        // SAFETY: the caller has all lanes, and keeps it.
        unsafe { known::begins(header) };
        let f = f?;
        if cancel {
            contain(|| drop(f));
            return behavior.slot.finish(Outcome::Cancelled);
        }
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the caller has all lanes.
            unsafe { behavior.set.run(|_| false, f) }
        }));
        behavior.slot.finish(result.into())
    }

    /// See [`claim::Vtable::claims`].
    unsafe fn claims_erased(behavior: NonNull<Header>) -> *const [Claim] {
        // SAFETY: as in `run_erased`.
        let behavior = unsafe { behavior.cast::<Self>().as_ref() };
        &raw const behavior.claims.as_ref()[..behavior.lanes]
    }

    /// See [`claim::Vtable::free`].
    unsafe fn free_erased(behavior: NonNull<Header>) {
        let place = behavior.cast::<Self>();
        // SAFETY: the last reference is gone.
        let Self { set, slot, .. } = unsafe { place.read() };
        // It may keep the last clones of its cells.
        contain(|| drop((set, slot)));
        // SAFETY: allocated with this layout.
        unsafe { memory::release(place.cast(), Layout::new::<Self>()) };
    }
}
