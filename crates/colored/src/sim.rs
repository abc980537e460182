//! Simulation: a program under many schedules, by seed, in a time of its own.
//!
//! A test of concurrent code runs under one schedule out of very many, and one that fails once in a thousand runs fails
//! where nobody can look at it. A simulation runs the program under a schedule for each seed. The run that fails is
//! repeated, its choices are removed one by one for as long as it fails, and what is left is printed with a line that
//! runs it again.
//!
//! ```
//! use colored::{ColorCell, sim, spawn_colored};
//!
//! let report = sim::Builder::new().seeds(0..100).run(|| async {
//!     let balance = ColorCell::new(1, 100);
//!     let withdraw = |client: u64| {
//!         let balance = balance.clone();
//!         spawn_colored(client, async move {
//!             let seen = balance.call(|balance| *balance).await;
//!             // Another client may come between these calls.
//!             balance.call(move |balance| *balance = seen - 10).await;
//!         })
//!     };
//!     let (one, two) = (withdraw(2), withdraw(3));
//!     one.await.unwrap();
//!     two.await.unwrap();
//!     sim::always!(balance.call(|balance| *balance).await == 80, "both withdrawals count");
//! });
//! let failure = report.failure().expect("it is found");
//! assert!(failure.message().contains("both withdrawals count"));
//! assert!(failure.choices() <= 5, "one client comes between two calls of the other: {failure}");
//! ```
//!
//! The program is the same as outside: no type is replaced, and nothing is compiled in another way. The runtime is
//! another one, which [`Builder::run`] makes for each seed.
//!
//! **A debug build takes up to 20 times as long** unless the `Cargo.toml` of the workspace has these lines; a report says so:
//!
//! ```toml
//! [profile.dev.package.colored-core]
//! opt-level = 1
//! ```
//!
//! # What a schedule is
//!
//! A *turn* is one poll of a task, or one closure that was sent to a color. Each color belongs to one worker: the first
//! color to the first worker, and so on, in turn; a seed draws the number of workers. The colors of one worker run in the
//! order in which they became runnable. One worker goes on at a time. A [`Strategy`] chooses which one, after each turn and,
//! in some of the runs, also inside a turn, before and behind each act on another color: a wake, a spawn, a post, a call, a
//! read, a claim of [`when`](crate::when()). Then the turn waits there, and its color with it, while others run; so a task
//! that posts to B and then to C finds that B's answer has reached C in between. In some turns, a choice each, the poll has
//! a budget of one operation or of none: it ends before, or between, calls, joins, reads and sleeps of the runtime that
//! might go on at once.
//!
//! **No failure is a false alarm.** What is reported is a failure of a run [on threads](#how-runs-are-made): there a turn that
//! waits inside is a turn of the real scheduler on a thread of its own, which is made to wait where the system may have any
//! thread wait. So it is a run that the threads of a real runtime can make. If another turn waits for a lock of std that such
//! a turn holds, nothing is reported: after a quarter of a second the run is made again in whole turns, and
//! [`Report::stuck`] counts that. The reverse is not true:
//!
//! | a real runtime also shows | here |
//! |---|---|
//! | two polls that race between two acts, on memory that colors share by atomics or locks | not shown: that belongs to `loom` and `shuttle` |
//!
//! # How runs are made
//!
//! A search makes each run on one thread, where a turn that waits inside keeps a stack of its own. The runtime and the world of a
//! run are made for it. A thread makes one run after another, and each finds the program's thread-locals as they are at first: on
//! Linux with glibc, the bytes of all thread-locals are compared behind each run, and a thread in which the program has left
//! something makes no other run. After three such threads, and on other systems, each run has a thread of its own. What belongs to a worker or
//! to a task goes with the stack. Two things of the program do not: another turn finds what the first one has left in a
//! thread-local, and never gets a lock of std that it holds. So a run on one thread only finds:
//!
//! | a run on one thread | then |
//! |---|---|
//! | fails | the run is made on threads, with the same choices: if that one fails, it is what is repeated, shrunk and reported; if not, it counts in [`Report::unconfirmed`] |
//! | stands still in a lock of std, for a quarter to half a second | it is given up, once in a search: its thread sleeps for ever, with what it has. This run and all others are made on threads |
//!
//! Replays, kept failures and the runs that shrink a failure are made on threads. [`Builder::on_threads`] makes all runs
//! there. Under Miri, and on processors that corosensei has no stacks for, there are threads only.
//!
//! # Classes
//!
//! What happens under a color depends on the order in which others have acted on it. Two schedules in which each color was
//! acted on by the same colors in the same order are of one *class*, and do the same, if colors share no memory beside.
//! [`Report::classes`] counts them, and [`Report::unseen`] estimates the chance that one more seed shows a new one;
//! [`Builder::until_plateau`] ends a search that finds no more. [`check_exhaustively`] runs all classes of a small program.
//!
//! # What is simulated
//!
//! | | in a simulation |
//! |---|---|
//! | the order of colors | by the strategy |
//! | [`time`](crate::time): sleeps, timeouts, intervals, `Instant` | a clock that moves to the next timer when nothing is runnable: an hour takes no time; with [`Fault::Stall`] and [`Fault::Expiry`], also while tasks are runnable; with [`Fault::Lateness`], timers fire late |
//! | deadlines of limits, stages and sections; delays of admissions, and what adaptive batches measure; the search for deadlocks (G12) | by that clock |
//! | [`time::system_time`](system_time) | the host's time of day, which begins at 2026-01-01 00:00 UTC |
//! | [`spawn_blocking`](crate::spawn_blocking()), and files where they would block | one call at a time, as turns of one more worker, in the order in which they were made |
//! | [`sim::random`](random) | by the seed |
//! | [`colored::fs`](crate::fs) | a tree in memory for each host, which loses in a crash what is not synced: [`sim::fs`](fs). `std::fs` has the real files |
//! | [`net`](crate::net): TCP, UDP, Unix streams, names | the network of the run, which answers as Linux does: see [`net`](mod@net). The path of a Unix socket is a file of the host |
//! | [`select!`](macro@crate::select), the order of wakes of [`watch`](crate::sync::watch) and [`Barrier`](crate::sync::Barrier) | a choice each, which a replay repeats |
//! | `UnixDatagram`, pipes, children, signals, `AsyncFd`, sockets of std | refused, with an error of the kind `Unsupported`: give the code a stream in memory, such as `tokio::io::duplex` |
//! | what libraries hand to `tokio::spawn` | with [`Builder::tokio`], in turns; otherwise a panic: there is no tokio runtime |
//! | `Handle::block_on` in a blocking call | a panic: one thread goes on at a time |
//!
//! A run must depend on its choices and on nothing else. These depend on more: the order of a `HashMap` with std's hasher,
//! tokio's own `select!` and `watch`, the clocks and random numbers of std and other crates, threads of the program, state
//! that a run leaves behind in statics. Each failing run, and each 64th one that ends well, is run twice; if the two differ, the
//! report says so, with the first turn that differs. A test by the [attribute](#tests) also runs in a fresh process then, twice,
//! and the report names what is likely: a thread that has woken a task or has begun during the run, a static, hashers with
//! random keys, or else a clock. On Linux with glibc the crate `colored-sim-libc` gives std and all other crates the clock and the random
//! numbers of the simulation.
//!
//! # Tests
//!
//! ```
//! # #[cfg(feature = "macros")] mod example {
//! #[colored::test(sim, seeds = 200)]
//! async fn both_deposits_count() {
//!     let balance = colored::ColorCell::new(1, 100);
//!     let deposit = balance.call(|balance| *balance += 10);
//!     colored::join!(deposit, balance.call(|balance| *balance += 10));
//!     colored::sim::always!(balance.call(|balance| *balance).await == 120, "both deposits count");
//! }
//! # }
//! ```
//!
//! [`#[colored::test(sim)]`](macro@crate::test) takes the settings of [`Builder`] as options, and does two things more, which
//! [`Builder::test`] and [`Builder::keep_failures`] do for other tests:
//!
//! * **A failing run is confirmed alone.** The test binary is started again, with the name of this test and with the run, and
//!   without random addresses on Linux where the system permits that. The two runs are compared, turn by turn. Takes some
//!   milliseconds, and at most 30 s.
//! * **A failing run is kept**, in a file beside the source file: the failures of `tests/bank.rs` in `tests/bank.sim-failures`.
//!   The test runs them again before it draws new seeds. Each line of the file is the name of the test, the value of
//!   `COLORED_SIM_REPLAY`, and behind `#` what was wrong; lines that begin with `#` are comments. The file belongs under
//!   version control. Nothing removes a line: it costs a run. One of another version of this crate, in whose runs turns have other numbers, is
//!   refused by its place in the file. Where the variable `CI` is set, the report shows the line in place of
//!   writing it.
//!
//! Tests run the same seeds each time, unless a variable names others: so CI finds more with
//! `COLORED_SIM_SEED=$RUN_NUMBER COLORED_SIM_SEEDS=1000` and a number that differs from run to run, in steps of 1000.
//!
//! # Hosts and faults
//!
//! The main future runs on a host, and [`Builder::host`] adds others: each has a runtime of its own, on the one thread and
//! in the one time of the run. Colors and cells belong to their host; hosts talk by sockets. [`host()`] crashes, restarts and
//! pauses them, [`net`](mod@net) cuts the network between them, and [`Builder::faults`] lets faults happen by choices of the
//! run.
//!
//! ```
//! use colored::io::{AsyncReadExt, AsyncWriteExt};
//! use colored::net::{TcpListener, TcpStream};
//! use colored::sim::{self, Faults};
//! use colored::time::{Duration, sleep, timeout};
//!
//! async fn serve() {
//!     let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
//!     loop {
//!         let (mut stream, _) = listener.accept().await.unwrap();
//!         colored::spawn_unique(async move { stream.write_all(b"hello").await });
//!     }
//! }
//!
//! async fn ask() -> std::io::Result<[u8; 5]> {
//!     let mut stream = TcpStream::connect("a:80").await?;
//!     let mut answer = [0; 5];
//!     stream.read_exact(&mut answer).await?;
//!     Ok(answer)
//! }
//!
//! let simulation = sim::Builder::new().seeds(0..50).host("a", serve).faults(Faults::swarm());
//! let report = simulation.run(|| async {
//!     // Whatever happens, an attempt succeeds at last.
//!     while !matches!(timeout(Duration::from_secs(5), ask()).await, Ok(Ok(_))) {
//!         sleep(Duration::from_secs(1)).await;
//!     }
//! });
//! report.assert_passed();
//! ```
//!
//! # Failures
//!
//! | a run fails if | |
//! |---|---|
//! | the main future panics | as by `assert!` or [`always!`](always) |
//! | a task or a blocking call that has no handle panics; or a post, a destructor, a waker, a host | nobody else will hear of it |
//! | nothing is runnable, no timer is due, and the main future waits | the program hangs, also without [faults](Faults) |
//! | it takes more than [`Builder::max_turns`] turns | it does not end |
//!
//! # Variables
//!
//! | variable | |
//! |---|---|
//! | `COLORED_SIM_SEEDS` | how many seeds [`check`] and [`Builder::run`] run, from 0 or from `COLORED_SIM_SEED` on, in place of the program's |
//! | `COLORED_SIM_SEED` | the first seed; alone, the only one |
//! | `COLORED_SIM_JOBS` | how many runs are made at once, 1 to 1024; one for each core by default. The report, and the failure that is kept, are the same: see [`Builder::jobs`] |
//! | `COLORED_SIM_REPLAY` | the text that a failure prints: this run only. The command that a report shows gives it as one more name of a test, `COLORED_SIM_REPLAY=TEXT` |
//! | `COLORED_SIM_LINES` | how many turns of a failing run are shown, 20 by default: those with a choice first, then the last ones |
//! | `COLORED_SIM_TRACE` | the path of a file, to which the turns of a failing run are written: see [`Failure::write_trace`] |
//! | `COLORED_SIM_KEEP` | 1: failures are kept in CI too; 0: nowhere |
//!
//! A seed names a run of one build of the program: another version of it, or of this crate, may choose otherwise. Some
//! strategies take the length of a run from the run of half its number in the search, so a seed alone may name another run than it
//! does behind the seeds before it. The text of a failure repeats its run in any case, by the same version of
//! this crate; a later one may refuse it.

use crate::services::current;

#[doc(hidden)]
pub use crate::runtime::simulated::OfThisCrate;
#[doc(inline)]
pub use colored_sim::sim::{
    Cancellable, Exhaustive, Failure, Fault, Faults, FaultsError, Host, Report, begin_quiet_phase,
    cancellable, fs, host, is_on, net, random, shared,
};
#[doc(hidden)]
pub use colored_sim::sim::{attribute, happens, note_sometimes};
pub use colored_sim::{Strategy, StrategyError};

#[doc(inline)]
pub use crate::time::system_time;

/// The settings of a simulation.
///
/// # Examples
///
/// ```
/// use colored::sim::{Builder, Strategy};
/// use colored::time::{Duration, sleep};
///
/// let report = Builder::new().seeds(0..20).workers(1..=4).strategy(Strategy::Random).run(|| async {
///     sleep(Duration::from_secs(3600)).await;
/// });
/// report.assert_passed();
/// assert_eq!(report.seeds(), 20);
/// ```
pub type Builder = colored_sim::sim::Builder<OfThisCrate>;

/// Runs of [`check_exhaustively`].
const EXHAUSTIVE_RUNS: u64 = 100_000;

/// Runs a program with the settings of [`Builder::new`], and panics with the report if a run fails.
///
/// # Panics
///
/// If a run fails, and as [`Builder::run`].
///
/// # Examples
///
/// ```
/// # fn main() {
/// colored::sim::check(|| async {
///     let task = colored::spawn_colored(7, async { 6 * 7 });
///     assert_eq!(task.await.unwrap(), 42);
/// });
/// # }
/// ```
#[track_caller]
pub fn check<F, P>(program: P)
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    Builder::new().run(program).assert_passed();
}

/// Makes a run of each [class](self#classes) of schedules of a small program, and panics with the report if a run fails, or
/// if the program has too many: [`Builder::exhaust`] with at most 100,000 runs. Returns the number of classes.
///
/// # Panics
///
/// So.
///
/// # Examples
///
/// ```
/// use colored::{ColorCell, sim, spawn_colored};
///
/// let classes = sim::check_exhaustively(|| async {
///     let sum = ColorCell::new(1, 0);
///     let add = |color: u64| {
///         let sum = sum.clone();
///         spawn_colored(color, async move { sum.call(|sum| *sum += 1).await })
///     };
///     let (one, two) = (add(2), add(3));
///     one.await.unwrap();
///     two.await.unwrap();
///     assert_eq!(sum.call(|sum| *sum).await, 2);
/// });
/// assert!(classes > 1, "either task may be the first");
/// ```
#[track_caller]
pub fn check_exhaustively<F, P>(program: P) -> usize
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    let found = Builder::new().exhaust(EXHAUSTIVE_RUNS, program);
    assert!(found.is_complete(), "{found}");
    found.classes()
}

/// The name of the host that this code runs on. None outside of a simulation.
#[must_use]
pub fn host_name() -> Option<String> {
    current::machine().map(|machine| machine.name().to_owned())
}

/// Panics unless the condition holds; the message says what must always hold.
///
/// As `assert!`, also outside a simulation. In the report, a run of another schedule fails in the same way if it panics with
/// the same message.
#[doc(hidden)]
#[macro_export]
macro_rules! __sim_always {
    ($condition:expr, $name:expr $(,)?) => {
        if !$condition {
            ::core::panic!("not always: {}", $name);
        }
    };
}

/// Notes that the condition has held in some run. [`Report::never_seen`] lists the names whose condition never held.
///
/// A test whose interesting case never happens tests nothing. Does nothing outside a simulation.
#[doc(hidden)]
#[macro_export]
macro_rules! __sim_sometimes {
    ($condition:expr, $name:expr $(,)?) => {
        $crate::sim::note_sometimes($name, $condition)
    };
}

/// Whether a fault happens here: once in 10 times by default, or once in the given number of times, in a simulation; never
/// outside. Faults are choices: a replay repeats them, and the report names those that the failure needs. Such a choice is
/// named by its place in the program, by the color, and by how often that color came there: it stays the same one when the
/// report removes other choices.
#[doc(hidden)]
#[macro_export]
macro_rules! __sim_buggify {
    () => {
        $crate::sim::happens(10)
    };
    ($one_in:expr $(,)?) => {
        $crate::sim::happens($one_in)
    };
}

#[doc(inline)]
pub use crate::{__sim_always as always, __sim_buggify as buggify, __sim_sometimes as sometimes};
