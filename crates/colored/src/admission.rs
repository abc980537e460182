//! Admission by delay: under overload, refuse early what would come too late.
//!
//! A server that is given twice what it can do, and takes it all, answers everything too late, and
//! soon nobody waits for the answers any more. An [`Admission`] measures how long work waits before
//! it begins, and refuses as much as is needed to keep that near a target. What a color or a stage
//! can do need not be known, and may change.
//!
//! ```
//! use colored::admission::Admission;
//! use colored::{Color, spawn_colored};
//! use std::time::Duration;
//!
//! # #[colored::main(workers = 2)]
//! # async fn main() {
//! let admission = Admission::new(Duration::from_millis(20));
//! // For each request that arrives:
//! match admission.admit() {
//!     // It may begin when its color comes to it, if that is soon enough.
//!     Ok(admitted) => {
//!         let work = admitted.run(async { "the answer" });
//!         match spawn_colored(Color::named("requests"), work).await.unwrap() {
//!             Ok(answer) => assert_eq!(answer, "the answer"),
//!             Err(overloaded) => println!("503: {overloaded}"),
//!         }
//!     }
//!     Err(overloaded) => println!("503: {overloaded}"),
//! }
//! # }
//! ```
//!
//! # Where requests come in
//!
//! An accept loop keeps the connection out of the work that may be shed, so that it can be told:
//!
//! ```
//! use colored::admission::{Admission, Overloaded};
//! use colored::io::AsyncWriteExt;
//! use colored::net::{TcpListener, TcpStream};
//! use colored::{Color, spawn_colored, spawn_unique};
//!
//! async fn accept_loop(listener: TcpListener, admission: Admission) -> std::io::Result<()> {
//!     loop {
//!         let (mut stream, _peer) = listener.accept().await?;
//!         // Dropped, a handle detaches its task.
//!         drop(match admission.admit() {
//!             Ok(admitted) => spawn_colored(Color::named("work"), async move {
//!                 match admitted.begin() {
//!                     // It is counted as running until the end of the block.
//!                     Ok(_running) => answer(&mut stream).await,
//!                     Err(overloaded) => refuse(&mut stream, overloaded).await,
//!                 }
//!             }),
//!             // Not under the color that is busy.
//!             Err(overloaded) => {
//!                 spawn_unique(async move { refuse(&mut stream, overloaded).await })
//!             }
//!         });
//!     }
//! }
//!
//! async fn answer(stream: &mut TcpStream) -> std::io::Result<()> {
//!     stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").await
//! }
//!
//! async fn refuse(stream: &mut TcpStream, overloaded: Overloaded) -> std::io::Result<()> {
//!     let answer = format!("HTTP/1.0 503 Service Unavailable\r\n\r\n{overloaded}\n");
//!     stream.write_all(answer.as_bytes()).await
//! }
//! # #[colored::main(workers = 2)]
//! # async fn main() -> std::io::Result<()> {
//! #     use colored::io::AsyncReadExt;
//! #     let listener = TcpListener::bind("127.0.0.1:0").await?;
//! #     let mut client = TcpStream::connect(listener.local_addr()?).await?;
//! #     let admission = Admission::new(std::time::Duration::from_secs(1));
//! #     let _server = colored::spawn(accept_loop(listener, admission));
//! #     let mut said = String::new();
//! #     client.read_to_string(&mut said).await?;
//! #     assert!(said.contains("200 OK"), "{said}");
//! #     Ok(())
//! # }
//! ```
//!
//! A [stage](crate::stage) takes each request together with its [`Admitted`], and begins each event on its own:
//!
//! ```
//! use colored::admission::{Admission, Overloaded, Admitted};
//! use colored::stage::{Builder, Events};
//! use colored::sync::oneshot;
//!
//! struct Request {
//!     number: u64,
//!     answer: oneshot::Sender<Result<u64, Overloaded>>,
//! }
//!
//! # #[colored::main(workers = 2)]
//! # async fn main() {
//! let admission = Admission::new(std::time::Duration::from_secs(1));
//! let squares = Builder::new().build(|events: Events<(Admitted, Request)>| async {
//!     for (admitted, request) in events {
//!         let squared = admitted.begin().map(|_running| request.number.pow(2));
//!         let _ = request.answer.send(squared); // the client may have gone
//!     }
//! });
//!
//! match admission.admit() {
//!     Ok(admitted) => {
//!         let (answer, answered) = oneshot::channel();
//!         squares.send((admitted, Request { number: 7, answer })).await.unwrap();
//!         assert_eq!(answered.await.unwrap(), Ok(49));
//!     }
//!     Err(overloaded) => println!("503: {overloaded}"),
//! }
//! # }
//! ```
//!
//! # How it decides
//!
//! *Delay* is the time from [`admit`](Admission::admit), or from the moment that
//! [`admit_since`](Admission::admit_since) was told, to [`begin`](Admitted::begin), on the system's
//! monotonic clock. How long work takes after that does not matter here. There are three gates:
//!
//! | gate | refuses | for |
//! |---|---|---|
//! | CoDel, at arrival | one, and ever more of them, once nothing has waited for less than the target for an interval | senders that slow down when they are refused |
//! | the door, at arrival | while more wait than will begin within one target if the queue stands, and within four if it does not | senders that do not |
//! | the valve, at arrival and at its turn | what has waited for more than two targets | certainty |
//!
//! So nothing begins that has waited for more than two targets, whatever happens. What waits is
//! bounded by what arrives within two targets after idleness, and afterwards by what begins within
//! four. A queue that empties now and then is a burst, and bursts pass: a queue must stand for an
//! interval before CoDel or the stricter door act.
//!
//! **Idle.** When nothing waits, all but CoDel's last rate is forgotten, and that after 16
//! intervals: nothing is refused in the first moments of load, whatever was before.
//!
//! **Order.** Admitted requests may begin in any order, but the controller takes the queue for first-in
//! first-out, which colors and stages are.
//!
//! # Sources
//!
//! * The delay of what begins, its minimum over an interval, and the law of refusals: K. Nichols
//!   and V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012; RFC 8289.
//! * To refuse at the door, by the delay that is seen: M. Welsh, "An Architecture for Highly
//!   Concurrent, Well-Conditioned Internet Services", 2002 (SEDA).

mod admitted;
mod codel;
mod control;
mod door;
mod metrics;
mod overloaded;
mod run;
mod shared;
#[cfg(test)]
mod tests;

pub use self::admitted::{Admitted, Running};
pub use self::metrics::Metrics;
pub use self::overloaded::Overloaded;
pub use self::run::Run;

use self::control::Control;
use self::overloaded::Gate;
use self::shared::{Shared, YEAR};
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// The interval of CoDel, in targets.
///
/// RFC 8289 section 4.3 wants a target of 5 to 10 % of the interval.
const TARGETS: u32 = 10;
/// Keeps the delay of work near a target by refusing some of it; see the [module](self).
///
/// Clones share their state. Works inside and outside of runtimes. [`admit`](Self::admit) and
/// [`begin`](Admitted::begin) cost a look at the clock and a lock that is held for some 20 ns.
#[derive(Clone)]
pub struct Admission {
    shared: Arc<Shared>,
}

impl Admission {
    /// Holds a delay of `target`: the time that work may wait for its turn. CoDel's interval is ten
    /// targets.
    ///
    /// The target should be longer than a piece of work takes, divided by how many run at once: else
    /// hardly anything may wait.
    ///
    /// # Panics
    ///
    /// As [`with_interval`](Self::with_interval).
    #[must_use]
    #[track_caller]
    pub fn new(target: Duration) -> Self {
        Self::with_interval(target, target.saturating_mul(TARGETS))
    }

    /// Holds a delay of `target`, and takes a queue for standing when nothing in it has waited for
    /// less during `interval`. The longer the interval, the longer the bursts that pass unharmed, and
    /// the later senders are told of a small but lasting overload.
    ///
    /// # Panics
    ///
    /// If the target is zero, or longer than the interval, or the interval longer than a year.
    #[must_use]
    #[track_caller]
    pub fn with_interval(target: Duration, interval: Duration) -> Self {
        assert!(
            !target.is_zero() && target <= interval && interval <= YEAR,
            "an admission with target {target:?} and interval {interval:?}: the target must be \
             above zero, the interval as long or longer, up to a year"
        );
        Self { shared: Arc::new(Shared::new(target, interval)) }
    }

    /// Admits work that arrives now, or refuses it.
    ///
    /// # Errors
    ///
    /// [`Overloaded`]: answer so, or close the connection, at once.
    pub fn admit(&self) -> Result<Admitted, Overloaded> {
        let (control, now) = self.shared.lock();
        self.arrive(control, now, now)
    }

    /// Admits work that has waited since `arrived`, or refuses it.
    ///
    /// For requests that came before the program came to them, and that say when: such as were
    /// stamped by the kernel, by a queue or by a thread that reads ahead. That time counts like the
    /// time until the turn, so nothing begins later than two targets after `arrived`. A moment that
    /// is still to come counts as now.
    ///
    /// ```
    /// use colored::admission::Admission;
    /// use std::thread::sleep;
    /// use std::time::{Duration, Instant};
    ///
    /// let arrived = Instant::now();
    /// let admission = Admission::new(Duration::from_millis(1));
    /// sleep(Duration::from_millis(3));
    /// let overloaded = admission.admit_since(arrived).unwrap_err();
    /// assert!(overloaded.delay() >= Duration::from_millis(3));
    /// assert!(admission.admit().is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// [`Overloaded`], also if it has waited for more than two targets already.
    pub fn admit_since(&self, arrived: Instant) -> Result<Admitted, Overloaded> {
        let (control, now) = self.shared.lock();
        self.arrive(control, self.shared.time(arrived).min(now), now)
    }

    fn arrive(
        &self,
        mut control: MutexGuard<'_, Control>,
        arrived: u64,
        now: u64,
    ) -> Result<Admitted, Overloaded> {
        match control.arrive(arrived, now) {
            Ok(()) => {
                drop(control);
                Ok(Admitted::new(Arc::clone(&self.shared), arrived))
            }
            Err(gate) => {
                let delay = match gate {
                    Gate::Door => control.delay(now),
                    Gate::Late | Gate::Valve => now.saturating_sub(arrived),
                };
                Err(Overloaded::new(gate, delay))
            }
        }
    }

    /// What has been done so far, and how it stands.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let (control, now) = self.shared.lock();
        // Ordering: a figure, not a signal.
        Metrics::of(&control, now, self.shared.running.load(Ordering::Relaxed))
    }

    /// The delay now; see [`Metrics::delay`].
    #[must_use]
    pub fn delay(&self) -> Duration {
        let (control, now) = self.shared.lock();
        Duration::from_nanos(control.delay(now))
    }

    /// The delay that is held.
    #[must_use]
    pub fn target(&self) -> Duration {
        self.shared.target
    }

    /// For how long a queue must stand.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.shared.interval
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission")
            .field("target", &self.target())
            .field("metrics", &self.metrics())
            .finish_non_exhaustive()
    }
}
