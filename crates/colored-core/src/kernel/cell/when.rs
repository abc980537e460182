//! [`when()`] and [`checked_when()`]: a closure with access to several cells at once; and [`Behavior`], that closure while
//! it waits for its lanes.

use super::access::{CallError, Checked, Fallible, InUse};
use super::queued::{Outcome, Queued, Slot};
use super::set::{Cells, Set};
use crate::hooks::at_site;
use crate::hooks::lends_urgency;
use crate::kernel::budget;
use crate::kernel::lane::behavior::request::{self, Request};
use crate::kernel::lane::behavior::{self, BehaviorRef, Claim, Header};
use crate::kernel::lane::current::Closure;
use crate::kernel::lane::{LanePtr, LaneRef};
use crate::kernel::memory::Boxed;
use crate::kernel::task::{Cause, How, contain};
use crate::kernel::wait::{AwaitedTurn, Target, WaitKind, WaitSlot};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker, ready};

/// Runs `f` with exclusive access to the values of several cells at once, and waits for the result.
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
/// lets others read the cell at the same time. A slice, an array or a `Vec` of cells, or of
/// `&cell`s, gives one [`Several`](super::Several); inside [`shared`](super::shared) the closure
/// only reads all of them. Several cells may have the same color.
///
/// **No deadlock.** A waiting `when` blocks no thread: it has a place in the line of each color,
/// and later work of these colors waits behind it. Two `when`s that have colors in common run in
/// the order in which they were scheduled, which is the same for all shared colors, so they never
/// wait for each other in a cycle. `f` does not await. But as with any color, a section that holds
/// one of the colors must not await work that needs that color.
///
/// **Where `f` runs.** If all colors are idle, or one is the caller's own and nothing is scheduled
/// there, `f` runs at once on this thread; otherwise it runs on the worker that takes the last
/// color. [`Color::current`](crate::Color::current) is the color of the first cell that is not
/// shared; if all are shared, the rule of [`ColorCell::read`](crate::ColorCell::read) applies. `f`
/// reaches the cells only through its arguments: another access to a cell of the set, for example
/// by [`ColorCell::with`](crate::ColorCell::with), is refused.
///
/// Cancel safe: a `when` that is dropped before its first poll drops `f` at once. A scheduled
/// `when` drops `f` when it has its colors, and under them, unless `f` has begun; then `f` goes on.
/// So a `when` that was dropped, or whose task was aborted or timed out, keeps the colors that it
/// has already until it has the others, and later work of these colors waits.
///
/// # Cost
///
/// If all colors are idle, a `when` costs two atomic exchanges for each color, no allocation for a
/// tuple and one for a slice. A single cell costs no more than
/// [`ColorCell::call`](crate::ColorCell::call), busy or not. A set of one color, not shared, waits
/// in line as a call does. Otherwise a `when` costs one allocation (two for a slice), a clone of
/// each cell, a swap, a count and a short lock for each color, and a wake-up. A color that is ready
/// waits until the others are, so many wide sets that overlap run one after another. While a color
/// is busy only with closures that other threads run inline, this thread retries for some
/// microseconds first.
///
/// # Panics
///
/// At this call, if a tuple has the same cell twice and not both times shared. Later with the panic
/// of `f`, after which the colors go on; and where [`checked_when()`] returns an error: the text names
/// the line of the `when`.
#[track_caller]
pub fn when<S, F, R>(cells: S, f: F) -> When<S::Set, F, R>
where
    S: Cells<F, R>,
    F: Send + 'static,
    R: Send + 'static,
{
    start(cells, f)
}

/// As [`when()`], with an error in place of a panic that is not `f`'s, and as cancel safe.
///
/// # Errors
///
/// [`CallError`]: if the runtime shuts down before `f` has run; inside an access to one of the
/// cells, from under its color; and if the `when` would have to wait for a section
/// ([`exclusive`](crate::exclusive())) that waits, directly or through other waits, for the caller,
/// or for a section of the caller itself: inside a section over one of the colors a `when` runs
/// only if it need not wait. `f` is dropped, at once if it was never scheduled.
///
/// # Panics
///
/// At this call, if a tuple has the same cell twice and not both times shared. Later with the panic
/// of `f`.
#[track_caller]
pub fn checked_when<S, F, R>(cells: S, f: F) -> Checked<When<S::Set, F, R>>
where
    S: Cells<F, R>,
    F: Send + 'static,
    R: Send + 'static,
{
    Checked::new(start(cells, f))
}

#[track_caller]
fn start<S, F, R>(cells: S, f: F) -> When<S::Set, F, R>
where
    S: Cells<F, R>,
{
    let set = cells.into_set();
    if let Some((earlier, later)) = set.twice() {
        panic!(
            "`when` got the same cell at places {earlier} and {later}: name it once, or \
             `shared()` both times"
        );
    }
    When { progress: Progress::Unstarted(set, f), site: Location::caller() }
}

/// The future of [`when()`].
#[must_use = "futures do nothing unless awaited"]
pub struct When<S, F, R> {
    progress: Progress<S, F, R>,
    site: &'static Location<'static>,
}

enum Progress<S, F, R> {
    Unstarted(S, F),
    /// The set needs one lane exclusively: the closure waits in its line as a call does.
    Queued(Queued<F, Result<R, InUse>>, LanePtr),
    /// The set needs several lanes, or shares one.
    Scheduled(Scheduled<F, R>),
    Done,
}

impl<S, F, R> Fallible for When<S, F, R>
where
    S: Set<F, R>,
    F: Send + 'static,
    R: Send + 'static,
{
    type Value = R;

    fn poll_result(&mut self, cx: &mut Context<'_>) -> Poll<Result<R, CallError>> {
        if budget::poll_proceed(cx).is_pending() {
            return Poll::Pending;
        }
        match std::mem::replace(&mut self.progress, Progress::Done) {
            Progress::Unstarted(set, f) => {
                let mut wants = set.wants();
                // SAFETY: the set keeps the lanes.
                let lanes = unsafe { request::gather(wants.as_mut()) };
                let wants = &wants.as_mut()[..lanes];
                let site = self.site;
                match at_site(site, || run_now(&set, wants, f)) {
                    Ok(result) => return Poll::Ready(result),
                    Err(f) => {
                        match at_site(site, || stand_in_line(set, wants, f, cx.waker(), site))? {
                            Started::Over(result) => return Poll::Ready(Ok(result)),
                            Started::Waits(progress) => self.progress = progress,
                        }
                    }
                }
            }
            Progress::Queued(mut queued, lane) => {
                match queued.poll(cx.waker(), || Some(turn(lane, self.site)))? {
                    Poll::Ready(outcome) => return Poll::Ready(outcome.into_result()),
                    Poll::Pending => self.progress = Progress::Queued(queued, lane),
                }
            }
            Progress::Scheduled(mut scheduled) => match scheduled.poll(cx.waker(), self.site)? {
                Some(outcome) => return Poll::Ready(outcome.into_result()),
                None => self.progress = Progress::Scheduled(scheduled),
            },
            Progress::Done => panic!("a `when` was polled again after it had given the result"),
        }
        budget::give_back();
        Poll::Pending
    }
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
        let result = ready!(self.poll_result(cx));
        let site = self.site;
        Poll::Ready(result.unwrap_or_else(|error| error.raise(format_args!("the `when`"), site)))
    }
}

impl<S, F, R> fmt::Debug for When<S, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("When").field("progress", &self.progress).finish_non_exhaustive()
    }
}

impl<S, F, R> fmt::Debug for Progress<S, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Progress::Unstarted(..) => "unstarted",
            Progress::Queued(..) | Progress::Scheduled(_) => "scheduled",
            Progress::Done => "done",
        })
    }
}

fn turn(lane: LanePtr, site: &'static Location<'static>) -> AwaitedTurn {
    AwaitedTurn { lane, how: HOW, site }
}

/// Runs the closure if it need not wait for the lanes of the set; returns it otherwise.
#[inline]
fn run_now<S: Set<F, R>, F, R>(
    set: &S,
    wants: &[Request],
    f: F,
) -> Result<Result<R, CallError>, F> {
    let color = set.color().map(Request::lane);
    let run = |f, own: Option<LanePtr>| {
        let _closure = Closure::begin();
        // SAFETY: `request::run_now` has all lanes when it calls this, and `own` is the one that
        // this thread held before.
        unsafe { set.run(|want| own.is_some_and(|own| want.is_of(own)), f) }
    };
    // SAFETY: the set keeps the lanes up to the end of this call, and `gather` has left each once.
    let result = unsafe { request::run_now(wants, color, f, run) }?;
    Ok(result.map_err(CallError::from))
}

/// The state of a `when` that could not run at once.
enum Started<S, F, R> {
    /// The closure could run a moment later.
    Over(R),
    Waits(Progress<S, F, R>),
}

/// Queues the closure in the lines of the lanes that it needs.
///
/// # Errors
///
/// The error, if the closure ran at once and failed.
#[cold]
fn stand_in_line<S, F, R>(
    set: S,
    wants: &[Request],
    f: F,
    waker: &Waker,
    site: &'static Location<'static>,
) -> Result<Started<S, F, R>, CallError>
where
    S: Set<F, R>,
    F: Send + 'static,
    R: Send + 'static,
{
    let color = set.color().map(Request::lane);
    let set = set.keep();
    if let [want] = wants
        && want.is_exclusive()
    {
        let lane = want.lane();
        // SAFETY: `post` uses it only before it pushes `run`, and until then the cells of the set in `run` keep the
        // lane.
        let borrowed = unsafe { LaneRef::borrowed(lane) };
        // SAFETY: the closure runs in a turn of the one lane that the set wants, and so has that lane.
        let run = move |f| unsafe { set.run(|_| false, f) };
        let queued = Queued::post(&borrowed, turn(lane, site), f, waker, run);
        return Ok(Started::Waits(Progress::Queued(queued, lane)));
    }
    let mut scheduled = Behavior::allocate(set, Slot::new(f, waker.clone()), wants, color, site);
    // SAFETY: the behavior is fresh, `allocate` gave it its claims, and its set keeps the lanes.
    let ran = unsafe { behavior::enqueue(&scheduled.behavior) };
    if !ran {
        scheduled.record_wait(site);
    } else if let Some(outcome) = scheduled.slot().poll(waker) {
        return Ok(Started::Over(outcome.into_result()?));
    }
    // SAFETY: the behavior, which the future keeps, keeps the lane.
    let lane = unsafe { LaneRef::borrowed(wants[0].lane()) };
    lane.port.count_wait();
    Ok(Started::Waits(Progress::Scheduled(scheduled)))
}

/// The relation of a `when` to a color, for the text of a [`Deadlock`](crate::kernel::task::Deadlock).
const HOW: &How = &How { text: "wants, by `when`,", is_shared: false };

/// The future's half of a behavior.
struct Scheduled<F, R> {
    wait: WaitSlot,
    behavior: BehaviorRef,
    slot: NonNull<Slot<F, Result<R, InUse>>>,
}

// SAFETY: the slot is a lock around values that are `Send`, and all other parts are made to be
// shared.
unsafe impl<F: Send, R: Send> Send for Scheduled<F, R> {}
// SAFETY: a shared reference reaches only the slot, which is a lock around values that are `Send`.
unsafe impl<F: Send, R: Send> Sync for Scheduled<F, R> {}

impl<F, R> Scheduled<F, R> {
    fn slot(&self) -> &Slot<F, Result<R, InUse>> {
        // SAFETY: the future's reference keeps the behavior.
        unsafe { self.slot.as_ref() }
    }

    /// Returns the outcome, once, or stores the waker to be woken when it is there.
    ///
    /// # Errors
    ///
    /// If the wait would never end.
    fn poll(
        &mut self,
        waker: &Waker,
        site: &'static Location<'static>,
    ) -> Result<Option<Outcome<Result<R, InUse>>>, CallError> {
        let verdict = self.wait.begin_poll();
        match (self.slot().poll(waker), verdict) {
            (Some(outcome), _) => Ok(Some(outcome)),
            (None, Some(deadlock)) => Err(CallError::Deadlock(deadlock)),
            (None, None) => {
                self.record_wait(site);
                Ok(None)
            }
        }
    }

    fn record_wait(&mut self, site: &'static Location<'static>) {
        let (what, beside) = (self.behavior.address().as_ptr(), self.slot.as_ptr());
        let cause = || Cause {
            how: HOW,
            site,
            kind: Self::KIND,
            what: what.cast_const().cast(),
            beside: beside.cast_const().cast(),
        };
        // SAFETY: the future's reference keeps the behavior, and is given back after the record's
        // end.
        unsafe { self.wait.record_wait(cause) };
    }

    /// The functions that find the target of a wait for a behavior.
    const KIND: &WaitKind = &WaitKind { target: behavior_of, waker: Self::waker };

    unsafe fn waker(cause: &Cause) -> Option<Waker> {
        // SAFETY: `waits` made the pointer, and the future keeps the behavior during this call.
        unsafe { &*cause.beside.cast::<Slot<F, Result<R, InUse>>>() }.take_waker()
    }
}

unsafe fn behavior_of(cause: &Cause) -> Option<Target> {
    let behavior = NonNull::new(cause.what.cast_mut().cast::<Header>())?;
    // SAFETY: `Scheduled::waits` made the pointer, and the future keeps the behavior during this
    // call.
    Some(Target::Behavior(unsafe { BehaviorRef::retain(behavior) }))
}

impl<F, R> Drop for Scheduled<F, R> {
    fn drop(&mut self) {
        self.wait.end();
        self.slot().abandon();
    }
}

/// A closure that waits for its lanes, in one allocation.
#[repr(C)]
struct Behavior<S: Set<F, R>, F, R> {
    header: Header,
    claims: S::Claims,
    /// The number of lanes that the set needs.
    lanes: usize,
    set: S,
    slot: Slot<F, Result<R, InUse>>,
}

impl<S, F, R> Behavior<S, F, R>
where
    S: Set<F, R> + Send + 'static,
    F: Send + 'static,
    R: Send + 'static,
{
    fn allocate(
        set: S,
        slot: Slot<F, Result<R, InUse>>,
        wants: &[Request],
        color: Option<LanePtr>,
        site: &'static Location<'static>,
    ) -> Scheduled<F, R> {
        let vtable = &behavior::Vtable {
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
        let mut behavior = Boxed::new(behavior);
        let place = behavior.as_ptr();
        let lends = lends_urgency();
        for claim in behavior.claims.as_mut() {
            // SAFETY: the set keeps the lanes of the claims that have one.
            unsafe { claim.belong_to(place.cast(), lends) };
        }
        let place = behavior.into_raw();
        // SAFETY: `place` points to the behavior that has just been made, so the field is inside
        // its allocation.
        let slot = unsafe { &raw mut (*place.as_ptr()).slot };
        Scheduled {
            wait: WaitSlot::default(),
            // SAFETY: one of the references of a fresh behavior belongs to the future.
            behavior: unsafe { BehaviorRef::from_counted(place.cast()) },
            slot: NonNull::new(slot).expect("a field"),
        }
    }

    /// See [`behavior::Vtable::run`].
    unsafe fn run_erased(header: NonNull<Header>, cancel: bool) -> Option<Waker> {
        // SAFETY: the vtable belongs to a behavior of this type, which the caller keeps.
        let behavior = unsafe { header.cast::<Self>().as_ref() };
        let f = behavior.slot.begin()?;
        if cancel {
            contain(|| drop(f));
            return behavior.slot.finish(Outcome::Cancelled);
        }
        let outcome = behavior.slot.run(|| {
            // SAFETY: the caller of `run` in the vtable has all lanes, as the claims wanted them.
            unsafe { behavior.set.run(|_| false, f) }
        });
        behavior.slot.finish(outcome)
    }

    /// See [`behavior::Vtable::claims`].
    unsafe fn claims_erased(behavior: NonNull<Header>) -> *const [Claim] {
        // SAFETY: the vtable belongs to a behavior of this type, which the caller keeps alive.
        let behavior = unsafe { behavior.cast::<Self>().as_ref() };
        &raw const behavior.claims.as_ref()[..behavior.lanes]
    }

    /// See [`behavior::Vtable::free`].
    unsafe fn free_erased(behavior: NonNull<Header>) {
        // SAFETY: the vtable belongs to a behavior of this type, which `allocate` made, and the caller has
        // given back the last reference.
        let Self { set, slot, .. } =
            unsafe { Boxed::from_raw(behavior.cast::<Self>()) }.into_inner();
        // The set may keep the last clones of its cells.
        contain(|| drop((set, slot)));
    }
}
