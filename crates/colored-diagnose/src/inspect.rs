//! The socket on which a runtime tells what it does, for the program `colored-top` and for scripts.
//!
//! `Options::inspect`, or the environment variable `COLORED_INSPECT`, opens a Unix socket. A
//! reader connects, writes a request, a line, and gets a reply, a line with a JSON object. Then it may write the next
//! request. A shell can do so: `echo snapshot | nc -U -W 1 PATH`.
//!
//! | request | reply |
//! |---|---|
//! | `snapshot` | the state of the runtime, below |
//! | `dump` | [`Dump::to_json`](crate::dump::Dump::to_json), or an error if there are more than 20,000 tasks |
//! | `trace` | `{"trace":"PATH.pftrace","bytes":12345}`: the runtime has written what it has recorded for <https://ui.perfetto.dev>, beside the socket, in place of an earlier file; or an error if it records nothing, or cannot write |
//! | `level 1` | `{"level":1}`: until this reader disconnects, the runtime records at [`Level::Slices`](crate::usage::Level::Slices) at least, and so measures waits |
//! | `level 0` | `{"level":0}`: this reader needs no waits any more. The number is the level that the runtime has then |
//! | anything else | `{"error":".."}`, which names the allowed requests |
//!
//! # Who may read
//!
//! The file has the mode 0600 from the moment when it is there, and the system tells which user is at the other end: the
//! runtime answers the user under which it runs, and root. Other readers get an error and are disconnected; so are all on
//! a system that does not tell the user of a peer (`UnixStream::peer_cred`).
//!
//! # What it costs
//!
//! A thread of its own (`colored-inspect`), which sleeps while no reader asks. Readers share snapshots, of which the
//! thread makes two a second at most, however many readers ask: a reader that asks earlier gets its reply later. The same
//! holds for dumps and traces. A trace costs what `Handle::trace` costs, and some 100 ms of this
//! thread for the file. A snapshot costs what `Handle::usage` costs, and a dump too while a partition of a consumer stands; a dump costs what
//! `Handle::dump` costs. The thread allows four readers at once, keeps one reply
//! for each, and disconnects a reader that takes nothing of its reply for 5 s, or asks nothing for 60 s. No worker waits for
//! a reader.
//!
//! # A snapshot
//!
//! Times are in seconds, places are `file:line:column`, and colors are named as in texts. Later versions may add fields. A
//! *total* counts from the begin of the runtime. A *window* is what was added between the last two snapshots of the
//! thread, and null for the first one after a time without readers.
//!
//! | field | |
//! |---|---|
//! | `protocol` | 1; another number if the meaning of a field has changed |
//! | `program`, `pid` | the name of the program's file, and the number of the process |
//! | `seconds` | the age of the runtime |
//! | `window` | the length of the window |
//! | `level`, `measures_waits` | what the runtime records; whether the waits of the window are complete |
//! | `tasks`, `active_workers`, `cpus` | numbers |
//! | `wakes` | `total` and `window`: how often a sleeping worker was woken by another thread |
//! | `workers` | by worker, spare ones last, `total` and `window`: the fields of [`WorkerUsage`](crate::usage::WorkerUsage) |
//! | `colors` | those with the most work, the longest waits, and the most tasks in line, up to 200: `color`, `priority`, and `total` and `window` with the fields of [`Usage`](crate::usage::Usage) |
//! | `colors_in_use` | the number of colors, of which `colors` is a part |
//! | `others` | `total` and `window`: colors whose lanes are gone |
//! | `sites` | places of spawns, up to 50: `site` (null for callbacks), and `total` and `window` with `run_default` and `run_colored` |
//! | `timers` | `pending`; `total` and `window` with `fired` and `turns` |
//! | `long_polls` | the latest 64: `worker`, `seconds`, `color`, `site`, `cpu` |
//! | `partitions` | the partitions that consumers of logs own, each as its consumer told half a second before: `partition`, `generation`, `lag`, `in_flight`, `done_above`, `retries`, `dead_letters`, `paused`, and `first`, the record that holds the partition back, or null: `key`, `offset`, `seconds`, `attempts`, `waits_for` |
//! | `report` | [`Report::to_json`](crate::report::Report::to_json) of the last ten windows; null without one |

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
#[doc(hidden)]
pub use self::absent::Server;
#[cfg(unix)]
#[doc(hidden)]
pub use self::unix::Server;

use std::io;
use std::thread::JoinHandle;

/// Starts a thread with this name and this body, as the runtime starts its threads.
#[doc(hidden)]
pub type Launch<'a> = &'a dyn Fn(String, Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>>;
