//! Claims: how a closure gets several lanes at once.
//!
//! A **behavior** is a closure that wants some lanes, each for itself alone or together with other readers. It has a
//! **claim** for each of them, a node of that lane's chain. When the claim's turn comes the behavior gets the lane: the
//! slice ends, no other thread gets the right to run the lane, and the claim stays at the head. A shared claim is a
//! reader ([`readers`]) until the behavior has run. The thread that grants the last lane runs the closure at once, and
//! gives all lanes back: the claims have had their turns.
//!
//! So a behavior waits as nodes of chains, never as a thread, and a node behind a claim waits as behind any other node.
//! A fixed order, not a timeout, keeps two behaviors from waiting for each other: [`as_one_step`].
//!
//! # Pending work
//!
//! A word counts the lanes that are pending, and one for the thread that enqueues. The exchange that takes the last one
//! acquires what all others released: all lanes, as their holders left them. The thread that made it is the holder of
//! all of them until it has given them back.
//!
//! # References
//!
//! A claim has one reference to the behavior until it is out of its chain and its lane given back. The future has one,
//! and one belongs to the run. The behavior's cells keep the lanes.
//!
//! No behavior is made if all lanes are idle ([`request`]), nor for one lane that is wanted exclusively: there the
//! closure is a [callback](push).

pub(crate) mod request;

use self::request::{Mode, Request};
use crate::hooks::{self, Acts, InlineCall};
use crate::kernel::chain::{Kind, Node};
use crate::kernel::lane::base::{AfterTurn, Lane, LanePtr, as_one_step};
use crate::kernel::lane::current::{self, Hold};
use crate::kernel::lane::turn::{Reader, Table, TableNode};
use crate::kernel::lane::{push, readers};
use crate::kernel::task::{Named, TaskRef};
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering};
use std::ops::Deref;
use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

/// The head of every behavior.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Header {
    /// Lanes that the behavior lacks, and one for the thread that enqueues.
    pending: AtomicUsize,
    refs: AtomicUsize,
    vtable: &'static Vtable,
    /// The lane under whose color the closure runs.
    color: Option<LanePtr>,
    /// Where the behavior was made.
    pub(crate) site: &'static Location<'static>,
    /// The task that made it.
    pub(crate) maker: Option<Named>,
}

/// The operations on a behavior whose type is forgotten.
#[derive(Debug)]
pub(crate) struct Vtable {
    /// Runs the closure, or drops it if the second argument is true, and lets nothing unwind. Returns the waker to wake
    /// when the lanes have been given back. The caller has all lanes.
    pub(crate) run: unsafe fn(NonNull<Header>, bool) -> Option<Waker>,
    /// Its claims. They do not move, and are the same each time.
    pub(crate) claims: unsafe fn(NonNull<Header>) -> *const [Claim],
    /// Frees the behavior, and lets nothing unwind.
    pub(crate) free: unsafe fn(NonNull<Header>),
}

impl Header {
    /// The header of a behavior that wants that many lanes. The future has a reference.
    pub(crate) fn new(
        wants: usize,
        color: Option<LanePtr>,
        vtable: &'static Vtable,
        site: &'static Location<'static>,
    ) -> Self {
        let (pending, refs) = (AtomicUsize::new(wants + 1), AtomicUsize::new(wants + 2));
        let maker = current::task().map(TaskRef::named);
        Self { pending, refs, vtable, color, site, maker }
    }
}

/// A counted reference to a behavior.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct BehaviorRef(NonNull<Header>);

// SAFETY: the set, the closure and the result of a behavior are `Send`, so any thread may drop the last reference.
unsafe impl Send for BehaviorRef {}

impl BehaviorRef {
    /// # Safety
    ///
    /// The caller gives one reference.
    pub(crate) unsafe fn from_counted(behavior: NonNull<Header>) -> Self {
        Self(behavior)
    }

    /// A new reference.
    ///
    /// # Safety
    ///
    /// Another reference keeps the behavior alive during this call.
    pub(crate) unsafe fn retain(behavior: NonNull<Header>) -> Self {
        // SAFETY: the caller promises that the behavior is alive.
        let header = unsafe { behavior.as_ref() };
        // Ordering: a new reference comes from an existing one, which orders it.
        header.refs.fetch_add(1, Ordering::Relaxed);
        Self(behavior)
    }

    /// The behavior's address, which identifies it.
    pub(crate) fn address(&self) -> NonNull<Header> {
        self.0
    }

    pub(crate) fn claims(&self) -> &[Claim] {
        // SAFETY: this reference keeps the behavior alive, and the vtable is its own.
        let claims = unsafe { (self.vtable.claims)(self.0) };
        // SAFETY: a claim changes only through its node, which is shared, and this reference keeps the behavior.
        unsafe { &*claims }
    }
}

impl Deref for BehaviorRef {
    type Target = Header;

    fn deref(&self) -> &Header {
        // SAFETY: this reference keeps the behavior alive.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for BehaviorRef {
    fn drop(&mut self) {
        // Ordering: Release orders this owner's use before the free, Acquire the others'.
        if self.refs.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: the exchange took the last reference, and the function is the behavior's own.
            unsafe { (self.vtable.free)(self.0) };
        }
    }
}

/// A behavior's node for one lane.
#[derive(Debug)]
#[repr(C)]
pub struct Claim {
    head: TableNode,
    pub(crate) behavior: NonNull<Header>,
    pub(crate) want: Request,
    /// The behavior has got the lane, and keeps it until it has run.
    pub(crate) has: AtomicBool,
}

impl Claim {
    /// A claim of that lane, or of nothing, to fill a place.
    pub(crate) fn new(want: Option<Request>) -> Self {
        let nothing = Request { lane: LanePtr::nowhere(), mode: Mode::Exclusive };
        let want = want.unwrap_or(nothing);
        let kind = match want.mode {
            Mode::Exclusive => Kind::Claim,
            Mode::Shared => Kind::Read,
        };
        let table = match want.mode {
            Mode::Exclusive => &Table { run: grant, free, reader: None },
            Mode::Shared => &Table {
                run: readers::let_in,
                free: readers::not_freed,
                reader: Some(Reader::Claim(admit)),
            },
        };
        let head = TableNode { node: Node::new(kind, 0), table };
        let has = AtomicBool::new(false);
        Self { head, behavior: NonNull::dangling(), want, has }
    }

    /// The behavior is at its final address. `lends` says whether its maker lends urgency.
    ///
    /// # Safety
    ///
    /// Either nothing is wanted, or the lane is alive.
    pub(crate) unsafe fn belong_to(&mut self, behavior: NonNull<Header>, lends: bool) {
        self.behavior = behavior;
        let lane = self.want.lane;
        if lends && lane != LanePtr::nowhere() {
            // SAFETY: the caller promises that the lane is alive, since one is wanted.
            self.head.node.urgent = hooks::takes_urgency(unsafe { lane.get() });
        }
    }

    /// The lane, of a claim that wants one.
    pub(crate) fn lane(&self) -> &Lane {
        // SAFETY: a claim that wants a lane belongs to a behavior, which keeps its lanes.
        unsafe { self.want.lane.get() }
    }

    /// The lock under which the claim is pushed, beside others of its behavior.
    fn claim_lock(&self) -> &Mutex<()> {
        let lane = self.lane();
        lane.port.common().claim_locks.of(lane.number)
    }

    /// Notes that the behavior has the lane. The caller takes it off the pending count afterwards.
    fn set_owned(&self) {
        // Ordering: pairs with the Acquire in `Behavior::wants`.
        self.has.store(true, Ordering::Release);
    }
}

/// The right to run a behavior that has all its lanes, with the run's reference.
#[must_use]
struct Complete(BehaviorRef);

/// Takes that many lanes off the pending count; each has been noted in its claim. If nothing is pending any more,
/// returns the right to run the behavior. Otherwise the behavior may be gone.
///
/// # Safety
///
/// These lanes have been pending, and are taken off once.
unsafe fn take(behavior: NonNull<Header>, granted: usize) -> Option<Complete> {
    // SAFETY: the caller's pending lanes keep the behavior alive.
    let pending = unsafe { &behavior.as_ref().pending };
    // Ordering: Release hands the lanes, as their holders leave them, to the thread that takes the last one; Acquire
    // takes the others.
    (pending.fetch_sub(granted, Ordering::AcqRel) == granted).then(|| {
        // SAFETY: one exchange takes the last pending lane, and its thread gets the reference that belongs to the run.
        Complete(unsafe { BehaviorRef::from_counted(behavior) })
    })
}

/// Puts a behavior's claims on their lanes, and runs it if it has all lanes then; true if so. In that case no waker is
/// woken: the caller is the one that would wait.
///
/// # Safety
///
/// The behavior is fresh, its claims belong to it, and it keeps the lanes.
pub(crate) unsafe fn enqueue(behavior: &BehaviorRef) -> bool {
    let claims = behavior.claims();
    let mut granted = 1;
    let push = |claim: &Claim| {
        let (lane, node) = (claim.lane(), NonNull::from(claim).cast());
        let is_granted = match claim.want.mode {
            Mode::Exclusive => {
                hooks::pushed(lane, &claim.head.node);
                // SAFETY: the claim is in no chain, and the behavior keeps claim and lane until the claim is out again.
                unsafe { lane.push_node(node) }
            }
            // SAFETY: as above; the claim has been in no chain.
            Mode::Shared => unsafe { lane.enter_or_push(node) },
        };
        if is_granted {
            hooks::entered(lane, &claim.head.node);
            hooks::taken(lane);
            claim.set_owned();
            granted += 1;
        }
    };
    // The lanes are raised before the nodes are there: the turn of each node takes the urgency back.
    let urgent = claims.iter().filter(|claim| claim.head.node.urgent);
    urgent.for_each(|claim| hooks::raise(claim.lane()));
    let acts = Acts::push(claims.iter().map(Claim::lane));
    as_one_step(claims.iter().map(Claim::claim_lock), || claims.iter().for_each(push));
    acts.end();
    // SAFETY: the granted lanes were pushed just now, and this thread's own count is among them.
    let complete = unsafe { take(behavior.address(), granted) };
    let has_run = complete.is_some();
    drop(complete.map(|complete| complete.run(None, false)));
    has_run
}

impl Complete {
    /// Runs the behavior, and gives back all its lanes but `kept`, which the caller goes on with. Returns the waker to
    /// wake.
    fn run(self, kept: Option<LanePtr>, cancel: bool) -> Option<Waker> {
        let Self(behavior) = self;
        let exclusive = || {
            let wants = behavior.claims().iter().map(|claim| claim.want);
            wants.filter(|want| want.is_exclusive()).map(Request::lane)
        };
        // SAFETY: this thread has the lanes, which the behavior keeps.
        let call = unsafe { InlineCall::begin(exclusive()) };
        let color = behavior.color.filter(|color| !current::is(*color));
        // SAFETY: the behavior has all its lanes, and keeps them.
        let hold = color.map(|color| unsafe { Hold::begin(color) });
        // SAFETY: this value is the right to run the behavior, which has all its lanes.
        let waker = unsafe { (behavior.vtable.run)(behavior.address(), cancel) };
        // SAFETY: as above.
        unsafe { call.end(exclusive()) };
        if let Some(hold) = hold {
            hold.count_refs();
        }
        for claim in behavior.claims() {
            let Request { lane, mode } = claim.want;
            match mode {
                _ if kept == Some(lane) => {}
                Mode::Exclusive => {
                    // SAFETY: this thread has the lane; the run's reference keeps the behavior, and so the lane.
                    let hold = unsafe { Hold::begin(lane) };
                    // SAFETY: the claim is at the head, and its turn is over; the lane is kept, as above.
                    unsafe { hold.hand_on() };
                }
                Mode::Shared => {
                    // SAFETY: the claim is counted in, this is its one leave, and the run's reference keeps the behavior,
                    // and so the lane.
                    unsafe { readers::leave(lane) };
                    // SAFETY: the reference is the claim's, whose node is in no chain.
                    drop(unsafe { BehaviorRef::from_counted(behavior.address()) });
                }
            }
        }
        waker
    }
}

/// The turn of a claim: gives the lane to the behavior. If that was the last pending lane, the behavior runs, and this
/// thread goes on with the lane.
#[cold]
unsafe fn grant(node: NonNull<Node>, hold: &Hold, closing: bool) -> AfterTurn {
    hold.count_refs();
    hooks::taken(&hold.lane());
    // SAFETY: the claim is at the head of the chain, and its reference keeps the behavior and the claim.
    let claim = unsafe { node.cast::<Claim>().as_ref() };
    let behavior = claim.behavior;
    claim.set_owned();
    // SAFETY: the claim's lane has been pending, and the turn of a claim comes once.
    let Some(complete) = (unsafe { take(behavior, 1) }) else { return AfterTurn::LaneGone };
    if let Some(waker) = complete.run(Some(hold.ptr()), closing) {
        // The lanes that the behavior has given back come first, or their lines would never end.
        current::wake_last(waker);
    }
    AfterTurn::Unlink
}

/// Gives back the reference of a claim that is out of its chain.
///
/// # Safety
///
/// `node` begins a claim, has had its turn, and is in no chain.
unsafe fn free(node: NonNull<Node>) {
    // SAFETY: the caller promises that `node` begins a claim, whose reference keeps it alive.
    let behavior = unsafe { node.cast::<Claim>().as_ref() }.behavior;
    // SAFETY: the reference is the claim's, which is out of its chain.
    drop(unsafe { BehaviorRef::from_counted(behavior) });
}

/// A shared claim is counted in, even if its future is gone: other lanes of its behavior wait until it has run.
///
/// # Safety
///
/// `node` begins a claim, and is in no chain.
unsafe fn admit(node: NonNull<Node>) {
    // SAFETY: the caller promises that `node` begins a claim, whose reference keeps it alive.
    let claim = unsafe { node.cast::<Claim>().as_ref() };
    let (behavior, lane, urgent) = (claim.behavior, claim.want.lane, claim.head.node.urgent);
    claim.set_owned();
    // SAFETY: the claim's lane has been pending, and a claim is admitted once.
    if let Some(complete) = unsafe { take(behavior, 1) } {
        // The caller has other readers to send on, so another thread may run the behavior. SAFETY: the behavior keeps the
        // lane.
        let spare = unsafe { lane.get() }.spare();
        let complete = Posted(Some(complete));
        push::post_urged(&spare, urgent, move || complete.run());
    }
}

/// A complete behavior that another thread runs. It is cancelled if this is dropped.
struct Posted(Option<Complete>);

impl Posted {
    fn run(mut self) {
        self.finish(false);
    }

    fn finish(&mut self, cancel: bool) {
        let Some(complete) = self.0.take() else { return };
        if let Some(waker) = complete.run(None, cancel) {
            current::wake_last(waker);
        }
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        self.finish(true);
    }
}
