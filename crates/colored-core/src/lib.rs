//! The scheduler of the `colored` runtime, with no operating system in it.
//!
//! The crate has no thread, no clock and no socket: the caller of [`Worker::step`] decides on which
//! thread a worker runs, and [`Park`] tells the time and wakes sleepers. So the code that ships
//! also runs in a model checker, and many workers can run in one thread. This page describes the
//! design; each module has the details. **Where is it?** The first page of [`kernel`] leads to the function that answers a
//! question: where a steal decides, who may poll, which line frees a lane. The crate is internal to `colored-rt`: its
//! interface changes without notice.
//!
//! # Words
//!
//! The last column has the term that readers of other schedulers know.
//!
//! | word | meaning | elsewhere |
//! |---|---|---|
//! | **color** | [`Color`], the key. Two tasks of one color never run at the same time | key of a strand |
//! | **task** | one future in one allocation ([`task`](kernel::task)). It has one color at a time, and can move | task |
//! | **callback** | a closure that runs once under a color: a post or a call of a [`ColorCell`] | job |
//! | **lane** | the queue of one color, while the color is in use, and the right to run it ([`lane`](kernel::lane)) | strand, serial queue |
//! | **chain** | the linked list inside a lane ([`chain`](kernel::chain)). Its nodes are the first fields of tasks and callbacks | intrusive MPSC queue |
//! | **holder** | the thread that has the right to run a lane. It alone takes nodes out of the chain | owner of a lock |
//! | **slice** | one turn of a lane: a bounded number of polls, then the lane goes back | time slice |
//! | **worker** | [`Worker`]: runs slices, one lane after another | worker |
//! | **deque** | a worker's queue of lanes. Thieves take whole lanes from its old end | work-stealing deque |
//! | **`next` slot** | the one lane that a worker runs before those in its deque | LIFO slot |
//! | **injector** | the queue of lanes that other threads made runnable | global queue |
//! | **policy** | says where runnable lanes go, in place of the scheduler ([`Policy`]): for comparisons | scheduling policy |
//! | **round** | how a worker goes through its queues: as many lanes of the injector as there are, then as many of its deque | round robin |
//! | **inbox** | lanes whose next task is pinned to that one thread | queue of pinned tasks |
//! | **home** | the home of a lane is the worker that ran it last | affinity |
//! | **home queue** | lanes that another worker has left for their home after a batch of many events; and lanes that a worker runs behind all others | affinity queue |
//! | **pause** | a worker whose thefts were not worth it steals nothing for a while. The others treat it as a worker in a slice | backoff |
//! | **rest** | the whole scheduler is at rest when nothing runs and nothing is runnable ([`Scheduler::rest`]) | quiescence |
//! | **unique color** | a fresh color for one task alone ([`SchedulerHandle::spawn_unique`]) | |
//! | **snapshot** | the tasks and waits that a dump has read. A lane's holder, or the thread that dumps, has a **view** of the lane while it reads | snapshot |
//! | **guest** | a thread inside [`SchedulerHandle::block_on`]: it runs only lanes that are pinned to it | thread in `block_on` |
//! | **class** | how urgent a lane is: the priority of its color, or the highest while an urgent task, or work that an urgent color waits for, is scheduled in it | priority |
//! | **hop** | a task moves to another color ([`hop`]) | executor switch |
//! | **behavior** | a closure that needs several lanes at once ([`when()`]), and runs when it has them | behaviour of BoC: takes several locks at once |
//! | **claim** | a behavior's node in the chain of one lane: its turn gives the lane to the behavior | waiter in a lock's queue |
//! | **reader** | a closure that reads beside others ([`ColorCell::read`]), or a shared claim. It is *inside* until it leaves | shared owner |
//! | **section** | the time in which a task keeps its lane across its awaits ([`exclusive()`]) | critical section |
//! | **park** | a worker sleeps because nothing is runnable | park |
//!
//! A task is *scheduled* onto its lane. A lane is *dispatched* to a worker, which *runs* a slice of
//! it and *polls* its tasks. A lane that is idle and unreferenced is *retired*.
//!
//! # The life of a task
//!
//! 1. **Spawn.** [`SchedulerHandle::spawn_colored`] finds the lane of the color in the table, or makes it.
//!    Future, state and output share one allocation, which has two references: the runtime's and
//!    the handle's. The task also owns a reference to its lane until it is complete or hops.
//! 2. **Schedule.** The task's node is pushed on the lane's chain. A push that finds the chain idle
//!    makes its thread the holder, which gets the right to run the lane as a value
//!    (`lane::ReadyLane`).
//! 3. **Dispatch.** That value goes into the `next` slot of the worker that pushed, into the
//!    injector from any other thread, or into the inbox of the thread that the node is pinned to.
//! 4. **Slice.** A worker takes the value and runs the lane. The node at the head stays in the
//!    chain while it runs, so no other thread can take the lane meanwhile.
//! 5. **Poll.** The future is polled, with the color, the task and a fresh [`budget`] in
//!    thread-locals. The poll takes the wakes since the task was scheduled; if there are none, this
//!    is a load.
//! 6. **Wait.** If the future is pending, the holder *first* takes the node out of the chain, and
//!    *then* clears `SCHEDULED`. The clearing exchange finds an earlier wake, and the same thread
//!    then schedules the task again; a later wake schedules the task itself. Only the thread that
//!    moves the node may read the task's lane. A task that was woken during its poll, or yields,
//!    goes behind the others without leaving the chain. A wake of the polled task by its own thread
//!    sets a flag of that thread. A task with an open section **keeps its lane**: the node stays at
//!    the head, and the exchange that clears `SCHEDULED` leaves the right to run the lane to the
//!    thread that wakes the task. That thread dispatches the lane instead of pushing the node
//!    (`lane/turn.rs`).
//! 7. **Hop.** The task gets its new lane while it is still `SCHEDULED`, and is pushed there after
//!    it has left the old lane: it is in one chain at a time.
//! 8. **End.** The holder drops the future in place, under its color, stores the output, and sets
//!    `COMPLETE` with the same exchange that finds the joiner's waker. When the node is out of the
//!    chain, the runtime releases its reference.
//! 9. **Idle.** Taking out the last node makes the chain idle and ends the hold. The holder counts
//!    the references that it took and released once for the slice. The release of the last
//!    reference retires the lane under the lock of its table shard; if the color has values of its
//!    own ([`ColorLocal`]), one more turn drops them first.
//!
//! An abort is a wake with a flag: the next turn drops the future instead of polling it. Shutdown
//! does the same to every task (`sched/shutdown.rs`).
//!
//! # Several lanes, and readers
//!
//! The right to run a lane is a value, so code can keep, collect and share it:
//!
//! * A **claim** takes the right. When the claim's turn comes the slice ends, and the lane belongs
//!   to the behavior of the claim. A count says how many lanes are missing; the thread that takes
//!   the last one runs the closure and releases all lanes (`lane/behavior.rs`). A waiting behavior
//!   consists of nodes in chains, and blocks no thread. All claims of one behavior are pushed in
//!   one step with respect to other behaviors that have lanes in common, under a few locks taken in
//!   order. So behaviors are in the same order in all lanes, and never wait for each other in a
//!   cycle (`lane/base.rs`). If all lanes are idle, the behavior takes them at once, without
//!   claims (`lane/behavior/request.rs`).
//! * **Readers** share a lane, and no thread has the right to run it meanwhile. The chain counts the
//!   readers inside; the exchange that takes the count to zero makes its thread the holder, if a node
//!   waits (`chain/readers.rs`, `lane/readers.rs`). No reader enters while something waits. The
//!   holder admits the readers that had to wait (`lane/readers.rs`), those next to each other
//!   together. As many spare lanes as there are workers then run these
//!   readers one by one, in parallel (`lane/readers.rs`).
//! * A shared claim is both: a reader that stays inside for the time of its behavior.
//!
//! # Shelves
//!
//! The modules, which are files, import each other in no cycle, and `kernel` names nothing of `ext`, nor calls a method that
//! `ext` adds to its types: `tests/layers/cycles.rs` checks that, but for public methods with the name of one of the kernel's.
//!
//! | modules | purpose | port to what is above |
//! |---|---|---|
//! | `sync` | atomics, cells, locks and deques: the product's or loom's | |
//! | [`budget`], `color`, [`memory`](kernel::memory), [`chain`](kernel::chain), in [`kernel`] | the leaves: keys, chains, free lists | |
//! | [`task`](kernel::task) | state word, cell, waker, handle | `Schedule`: a task is ready |
//! | [`lane`](kernel::lane) | exclusion and order; slices; callbacks; behaviors and readers; the exact map from colors to lanes. [`base`](kernel::lane::base) is below the rest | `Dispatch`: a lane is runnable |
//! | `wait` | records of waits | `WaitKind`, [`Room`](port::Room): the target of a wait |
//! | [`sched`](kernel::sched) | workers, stealing, sleep, guests, shutdown; spawning, [`JoinHandle`], [`AbortHandle`] | [`Park`]: nothing to run; [`Policy`]: where a lane goes. `Routing`, `FindByClass`: who decides in place of the scheduler |
//! | [`cell`](kernel::cell), [`spawn`](kernel::spawn) | the functions that users call | |
//! | [`hooks`] | **the seam**: the moments of lanes, tasks and workers, which the kernel calls, and the one place that calls who listens. It stands above `lane::base`, and below the rest of the kernel | |
//! | [`ext::observe`], [`ext::meter`], [`ext::trace`], [`ext::points`], [`ext::span`] | who listens | |
//! | [`ext::priority`], `ext::policy` | priorities between colors; where a program decides in place of the scheduler | |
//! | [`ext::deadlock`](look_for_deadlocks), [`ext::exclusive`](exclusive()), [`ext::locals`](ColorLocal) | the search for deadlocks; sections; values of colors | |
//! | [`dump`], [`ext::snapshot`] | the tasks and their waits, without a poll | `Dispatch::show`: the holder of a lane shows it |
//! | [`port`] | the port to the crates above, `colored-limit` and `colored-stage` | |
//! | `model` | the loom models | |
//!
//! # Invariants
//!
//! Numbered as in `docs/guarantees.md`. The models are in `src/model/`.
//!
//! | | mechanism | argument | models |
//! |---|---|---|---|
//! | **G1** exclusion | A chain gives the right to run to the one push or exchange that finds it idle. `ReadyLane` is that right: not `Clone`, consumed by `run`. A lane that waits in a deque is a `ReadyLane` in a deque; the right to a lane that a waiting task keeps goes to the one wake that schedules the task | [`queue`](kernel::chain), `chain.rs`; [`lane`](kernel::lane); `lane/behavior.rs`, `chain/readers.rs`, `lane/readers.rs` | `chain`, `lane`, `inline`, `exclusive`, `when`, `read_chain`, `readers`, `admit`, `read_batch` |
//! | **G2** order | The order of a lane is the order of the swaps on its chain's tail. The chain belongs to the lane, so a steal does not touch it. The claims of one behavior are pushed in one step; a reader enters at once only if nothing waits; the holder of a lane accesses it at once only if its own node is the last one | `chain.rs`; [`lane`](kernel::lane); `lane/base.rs` | `chain`, `lane`, `when`, `readers` |
//! | **G3** serial by default | Every task has a lane; without a named color it is the lane of [`Color::DEFAULT`]. A guest's future is a pinned task on it | `sched/guest.rs` | `scheduler` |
//! | **G4** no leak of color | The color is an argument of the spawn. Only [`spawn_here`] and [`spawn_local`] read the lane that runs | | none: nothing interleaves |
//! | **G5** exact colors | The table compares whole colors. A published lane's count reaches zero only under its shard's lock, under which look-ups add to it; one word holds the count and whether the table has the lane | `lane/refs.rs`, [`lane`](kernel::lane) | `table`, `retire` |
//! | **G6** work conservation | A thread publishes a lane, then looks for sleepers. A worker announces its sleep, then looks at the queues. A fence stands between the two steps of each. A `next` slot is exempt: it may be stolen once its worker is late, and [`Scheduler::rescue`] finds it. A pausing worker counts as busy, and looks again in time. A spare worker that leaves hands its lanes over first | `sched/idle.rs`, `sched/worker/spare.rs`, `ext/policy.rs`, `ext/priority/classes.rs` | `scheduler`, `policy`, `classes`, `spares` |
//! | **G7** bounded turns | A worker ends a slice after 64 polls, 4,096 closures or 200 µs and puts the lane behind all others. At most 3 lanes in a row come from the `next` slot, where a lane that has filled its slice stays for as many turns as a theft has freed; the lanes that are in the injector when a round of a worker's deque begins come before that round; an inbox has every other step. A task that has given its color up, after a section, goes behind what is scheduled before it begins another one | `sched/worker.rs`, `sched/worker/find.rs`, `lane/turn.rs`, `ext/exclusive.rs`, [`budget`] | `exclusive::taken_again_behind_a_push`; tests and the simulator count slices and sections |
//! | **G8** destructors on color | Only the holder drops a future, so a cancellation waits for its turn. A waiting task is on the list of its lane; a lane with such a list is in the table, where a shutdown finds it; a task that keeps its lane is in a list of such tasks. A worker stays until all that is pinned to it has been dropped. If the worker is dropped before, these values leak: no other thread may drop them | `sched/shutdown.rs`, `sched/guest.rs`, `task/waiting.rs`, `ext/locals.rs` | `shutdown`, `pinned`, `task`, `turn`, `join`, `exclusive`, `locals` |
//! | **G9** panic isolation | Polls, callbacks and destructors run inside `catch_unwind`; foreign wakers inside [`contain()`]; the shell hears of each task by [`Park::panicked`] | `task/cell.rs` | none |
//! | **G11** color per poll | The hold ends with the slice, and thread-locals record what the thread holds. A [`ColorCell`] gives its value to a closure, never across an await. A section is a count in the task's state: while it is not zero, a poll that ends leaves lane and node where they are | `lane/current.rs`, `lane/turn.rs`, [`cell`](kernel::cell) | `cell`, `inline`, `exclusive` |
//! | **G12** diagnosed waits | The thread that polls a task records the waits of the task in it. The search for deadlocks takes the right to run the sections that have waited long, and the tasks that it reaches, for its duration: so the records do not change meanwhile. It ends the youngest wait of a cycle that is inside a section with an error | `task/wait_record.rs`, `wait.rs`, `ext/deadlock.rs`, `lane/behavior.rs` | `record`, `exclusive`, `waits` |
//!
//! The shell above this crate provides G10 (no stuck worker delays I/O).
//!
//! The models run the code that ships, with `std` exchanged for loom in `sync` and the deques for
//! locked ones. `model/canary.rs` holds models that must fail. Loom cannot explore many workers, long runs and real
//! deques. These are left to `tests/simulator/`, which steps up to 64 workers in virtual time from a seed, to
//! `tests/storm/`, and to the workspace's `tests/`.
//!
//! # Memory order
//!
//! Every atomic operation has a comment that begins with `Ordering:` and names its partner, or says
//! that it is a hint. In summary there are these pairs:
//!
//! | what is handed over | released by | acquired by |
//! |---|---|---|
//! | the records of a task, from a poll to the search for deadlocks, and back | clearing `SCHEDULED`; the end of a pause | the pause that sets it; the wake that sets it |
//! | a lane's content, holder to holder | the exchange of the chain's tail to null | the swap or exchange that takes the idle chain |
//! | a task or callback, producer to holder | the swap of the tail, the store of the link | the load of the link |
//! | the content of a lane that a task keeps | clearing `SCHEDULED` with `KEPT` | the wake that sets it |
//! | a task's future and lane, poll to poll | clearing `SCHEDULED`; after a yield, the chain | the wake that sets it; the chain |
//! | what a waker wrote, to the poll | the wake that sets `NOTIFIED`, or finds it; one that sets `SCHEDULED` by the chain | the exchange that clears it as the poll begins; the chain |
//! | the output and the joiner's waker | setting `COMPLETE`, `JOINER` | the other side's load or exchange of the state word |
//! | a lane, holder to behavior | the count of missing lanes | the exchange that takes the last one |
//! | a cell's content, writer to readers and back | the end of the hold, or the admission; each leave | each enter; the last leave, or the exchange that takes the idle chain |
//! | a lane, worker to worker | the deque, the injector, the `next` slot, an inbox's lock | the same |
//!
//! These need a total order, and use `fence(SeqCst)` between a store and a load on both sides: sleep
//! against dispatch (`kernel/sched/idle.rs`), and the last worker's end against a late dispatch
//! (`kernel/sched/shutdown.rs`). Reference counts go up with `Relaxed`, down with `Release`, and the last
//! owner acquires.
//!
//! # Costs
//!
//! Atomic read-modify-writes (RMW) of the common case, all locks uncontended. Loads and stores are
//! not counted; an uncontended lock is two RMWs.
//!
//! | operation | RMWs |
//! |---|---|
//! | push on a lane that is held | 1: the tail. |
//! | push on an idle lane, by a worker | 2: the tail, the `next` slot; and one fence if others could run something now |
//! | push on an idle lane, by another thread | 3 and two fences: the tail, the injector's two. Unless it is a spawn by a handle, the count of the lane's port up and down as well |
//! | spawn | the push, and for the lane: 0 by [`spawn_here`], or in the default color while it runs here; 1 in the default color from elsewhere; 1 and a lock in a named one; 0 in a fresh one with a spare lane. On a worker the memory comes from its own free lists |
//! | drop of a handle | 1 before the task has waited, or given a waker away; 2 later |
//! | poll that completes | 0 if no handle and no waker is left; else 2: complete, the runtime's reference |
//! | poll that waits | 1: the end |
//! | poll of a task that has been woken again since it was scheduled | 1 more: the begin |
//! | wake | 1 if the task is scheduled already, else 1 and a push; 0 by `wake_by_ref` of the task that this thread polls |
//! | head leaves the chain | 0 if its successor can be seen, else 1 |
//! | yield, or a wake of the polled task by itself | 0, or 1 with others behind: the tail |
//! | hop | the target lane (as for a spawn), the push there |
//! | section | 2, a record, and for the first wait in it a lock, twice. A wait in a section costs the same as other waits; a wake there costs no push: it dispatches the lane |
//! | the record of a wait | 0, if it ends in a poll of its task: a block from the worker's free lists, and a place in the task's list. 1 more if it ends elsewhere |
//! | lane taken from the `next` slot, or the own deque | 1 |
//! | lane taken from the injector by a worker that has others | 2; and at the begin of each round a load that says whether there is one |
//! | a turn, once a priority has been named | 6: the lane is noted as queued, and not any more; two locks. A raise of a queued lane searches its queue. Before: a load of the worker's own line where a lane is dispatched, put back and looked for |
//! | steal | 1 for up to half of the victim's lanes, 2 for the count of searchers; and a look at the clock |
//! | end of a slice | at most 1 for all lane references taken and given back in it |
//! | use of a color's own value | 0; when the color goes idle, a callback |
//! | post | the push; 1 for the block's chunk when it has run. No reference, of lane or cell |
//! | call, color idle | 2 exchanges, as for a lock; the cell's count up and down |
//! | call, caller's own color | 0, and a load that says whether something is scheduled there; if so, as for a busy color |
//! | `when`, all idle | 2 exchanges a lane |
//! | `when`, some busy | for each lane a swap, a count, the cell's count up and down, and a lock if there are several lanes; one allocation, a locked slot for the result, a wake that takes a lock |
//! | read, color idle, or others inside | 2: enter and leave |
//! | read, color busy | a node with a reference of the cell, a part of a callback on a spare lane, a locked slot, a wake |
//! | call, color busy | a callback with a reference of lane and cell, a locked slot for the result, a wake |
//!
//! # Sources
//!
//! * The chain is the queue lock of Mellor-Crummey and Scott (1991), with a run queue in place of
//!   the waiting threads.
//! * Deques and injector come from `crossbeam-deque`, after Chase and Lev (2005).
//! * Free lists that exchange batches with a shared one are the magazines and the depot of Bonwick and Adams (2001).
//! * The sleep protocol is Dekker's: each side writes its own word, then reads the other's.
//! * Claims are enqueued as in Behaviour-Oriented Concurrency (Cheeseman and others, OOPSLA 2023):
//!   two-phase locking of the enqueueing only.
//! * The unit of queueing and stealing is the color, not the event, as in Mely (Gaud and others,
//!   2010), which took colors from libasync-smp (Zeldovich and others, 2003).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod ext;
mod hooks;
mod kernel;
#[cfg(all(test, colored_loom))]
mod model;
#[doc(hidden)]
pub mod port;
mod sync;

pub use self::ext::deadlock::look_for_deadlocks;
#[doc(hidden)]
pub use self::ext::dump;
pub use self::ext::exclusive::{Exclusive, exclusive};
pub use self::ext::leaf::Leaf;
pub use self::ext::locals::{ColorLocal, ColorLocalError};
pub use self::ext::meter::Level;
pub use self::ext::observe::figures::{Observed, ObservedColor, ObservedSite};
pub use self::ext::observe::long_poll::LongPoll;
pub use self::ext::observe::times::Phase;
pub use self::ext::priority::Priority;
pub use self::ext::span::Origin;
#[doc(hidden)]
pub use self::ext::trace;
pub use self::ext::usage::Usage;
pub use self::kernel::budget;
#[doc(hidden)]
pub use self::kernel::cell::sets;
pub use self::kernel::cell::{
    AccessError, Call, CallError, Cells, Checked, ColorCell, Read, RemoteCall, RemoteCallWait,
    Several, Shared, When, checked_when, shared, when,
};
pub use self::kernel::color::Color;
pub use self::kernel::lane::Address;
pub use self::kernel::sched::{AbortHandle, JoinHandle};
pub use self::kernel::sched::{
    Destination, Entered, Entries, InPlace, Nested, Options, Park, Policy, Rest, Runnable,
    RunningSlice, Scheduler, SchedulerHandle, Step, Unsuitable, Worker, WorkerMemory,
    WorkerMetrics, block_in_place, spawn_here, spawn_local,
};
pub use self::kernel::spawn::{Hop, Job, YieldNow, blocking, current_task, hop, yield_now};
pub use self::kernel::task::{
    Deadlock, Id, JoinError, NameFor, TaskName, TaskPanic, contain, task_name,
};
