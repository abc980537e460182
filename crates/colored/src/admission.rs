//! Admission by delay: under overload, an [`Admission`] refuses early the work that would begin too
//! late.
//!
//! A server that accepts twice its maximum load answers every request too late, and soon no client
//! waits for the answers any more. An [`Admission`] measures how long work waits before it begins,
//! and refuses as much work as needed to keep this delay near a target. It need not know the
//! throughput of a color or a stage, which may change.
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
//!     // The work may begin when its turn comes, if that is soon enough.
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
//! The module needs the feature `stage`.
//!
//! # Where requests come in
//!
//! An accept loop keeps the connection out of the future that may be dropped, so that it can answer
//! a refused request:
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
//!         // Dropping the handle detaches the task.
//!         drop(match admission.admit() {
//!             Ok(admitted) => spawn_colored(Color::named("work"), async move {
//!                 match admitted.begin() {
//!                     // It is counted as running until the end of the block.
//!                     Ok(_running) => answer(&mut stream).await,
//!                     Err(overloaded) => refuse(&mut stream, overloaded).await,
//!                 }
//!             }),
//!             // The refusal does not run under the busy color.
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
//! use colored::admission::{Admission, Admitted, Overloaded};
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
//! *Delay* is the time from [`admit`](Admission::admit), or from the moment given to
//! [`admit_since`](Admission::admit_since), to [`begin`](Admitted::begin), on the system's
//! monotonic clock, or on that of the run in a [simulation](crate#features). The duration of the work after that does not matter here. An admission makes
//! three checks:
//!
//! | check | refuses | against |
//! |---|---|---|
//! | CoDel, at arrival | one request, and then ever more of them, once no request has waited for less than the target during an interval | senders that slow down when they are refused |
//! | queue length, at arrival | while more requests wait than will begin within one target if the queue stands, and within four if it does not | senders that do not slow down |
//! | age, at arrival and at the turn | a request that has waited for more than two targets | every late start |
//!
//! So no request begins that has waited for more than two targets, whatever happens. The number of
//! waiting requests is at most the number that arrives within two targets after idleness, and
//! afterwards the number that begins within four. A queue that empties now and then is a burst, and
//! bursts pass: a queue must stand for an interval before CoDel or the stricter check of the queue
//! length acts.
//!
//! **Idle.** When nothing waits, the admission resets everything but CoDel's last rate, which it
//! resets after 16 intervals: it refuses nothing in the first moments of load, whatever the load
//! was before.
//!
//! **Order.** Admitted requests may begin in any order, but the controller assumes a first-in
//! first-out queue, as colors and stages are.
//!
//! # Sources
//!
//! * The delay at the begin of work, its minimum over an interval, and the law of refusals: K.
//!   Nichols and V. Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012; RFC 8289.
//! * Refusal at arrival, by the observed delay: M. Welsh, "An Architecture for Highly Concurrent,
//!   Well-Conditioned Internet Services", 2002 (SEDA).

#[doc(inline)]
pub use colored_stage::admission::{Admission, Admitted, Metrics, Overloaded, Run, Running};
