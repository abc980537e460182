//! What a program does, what limits it, and what it waits for: the feature `diagnose`.
//!
//! A runtime of a program with this feature observes itself, and [warns](Options::warnings) of what limits the program.
//! [`Options`], which [`Builder::diagnose`](crate::Builder::diagnose) takes, say what else it does, and methods of
//! [`Handle`](crate::Handle) ask it:
//!
//! | | asks for | |
//! |---|---|---|
//! | [`report`] | [`Handle::observe`](crate::Handle::observe) | what limits the program, and what to change |
//! | [`dump`] | [`Handle::dump`](crate::Handle::dump) | the tasks, what each waits for, and what the workers do |
//! | [`usage`] | [`Handle::usage`](crate::Handle::usage) | where the time has gone, by worker, color and place of the spawn |
//! | [`trace`] | [`Handle::trace`](crate::Handle::trace) | what happened when, for <https://ui.perfetto.dev> |
//! | [`partitions`] | [`Handle::observe`](crate::Handle::observe) | the partitions of consumers of logs, and the key that holds each back |
//! | [`inspect`] | [`Options::inspect`] | a socket on which the program `colored-top` reads all of this |
//!
//! Without the feature there is nothing of this: a runtime has its [`metrics`](crate::metrics), and writes nothing to the
//! standard error but a line for each panic of a task that nobody joins.
//!
//! ```
//! use colored::diagnose::Options;
//! use colored::diagnose::trace::{Level, Trigger};
//! use std::time::Duration;
//!
//! # fn main() -> std::io::Result<()> {
//! let options = Options::new().trace_level(Level::Tasks).freeze_on([Trigger::Panic]);
//! let runtime = colored::Builder::new().diagnose(options).build()?;
//! runtime.run(async {
//!     let report = colored::Handle::current().observe(Duration::from_millis(50)).await;
//!     println!("{report}");
//! });
//!
//! let mut file = Vec::new();
//! runtime.handle().trace().write_perfetto(&mut file)?;
//! assert!(!file.is_empty());
//! assert!(runtime.handle().frozen().is_none(), "no task has panicked");
//! # Ok(())
//! # }
//! ```
//!
//! # Environment variables
//!
//! The operator of a program can change these defaults. A setting that the program makes itself is kept, and its
//! variable is not read; `COLORED_WARNINGS=0` turns the warnings off in any case. A value that is not allowed is an error
//! of [`Builder::build`](crate::Builder::build), which names the variable, the value, and what is allowed.
//!
//! | variable | in place of the default of | allowed |
//! |---|---|---|
//! | `COLORED_WARNINGS` | 0 acts as [`warnings(false)`](Options::warnings) | 0, 1 |
//! | `COLORED_NAMES` | [`Color::remember_keys`](crate::Color::remember_keys), of the whole process, from the build on | 0, 1 |
//! | `COLORED_TRACE` | [`trace_level`](Options::trace_level): the number of a [`Level`](trace::Level) | 0 to 3 |
//! | `COLORED_TRACE_FILE` | [`trace_file`](Options::trace_file), which is then written at the end, too | a path, in which `{pid}` is the number of the process |
//! | `COLORED_INSPECT` | [`inspect`](Options::inspect) | a path, in which `{pid}` is the number of the process |

mod attach;
mod environment;
mod options;
mod view;

pub(crate) use self::attach::Attached;
pub use self::options::Options;
pub(crate) use self::view::View;
pub use colored_diagnose::dump::Dump;
#[doc(inline)]
pub use colored_diagnose::{dump, inspect, partitions, report, trace, usage};
