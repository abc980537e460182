//! What the system says about a process's memory: each figure is of a process of its own.

mod stacks;

use crate::executors::{Executor, Pool, Smol};
use crate::setup::Setup;
use crate::{actors, options};
use colored_benches::measure::{Mode, Sample, Unit};
use colored_benches::{Entry, Role};
use std::future::Future;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{env, fs, io, process};

/// Bytes. A [`Sample`] holds a time, so a byte is written as a nanosecond.
pub(crate) const fn bytes(text: &'static str) -> Unit {
    Unit { text, per_second: 1e9 }
}

/// KiB, likewise.
pub(crate) const fn kibibytes(text: &'static str) -> Unit {
    Unit { text, per_second: 1e9 / 1_024.0 }
}

/// A rival whose sample is the memory that a new process of this program fills.
pub(crate) fn entry(role: Role, name: &'static str, what: String, mode: Mode) -> Entry {
    let sample = move || {
        let output = Command::new(env::current_exe().expect("this program has a path"))
            .args([format!("--memory={what}"), options::flag(mode).to_owned()])
            .stderr(Stdio::inherit())
            .output()
            .expect("this program can be started again");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        parse(&text).unwrap_or_else(|| panic!("{what}: {:?}, {text:?}", output.status))
    };
    Entry { name, role, sample: Box::new(sample) }
}

/// The least that the system tells, in bytes.
pub(crate) const PAGE: u64 = 4_096;

fn parse(text: &str) -> Option<Sample> {
    let (bytes, count) = text.trim().split_once(' ')?;
    let cost = Duration::from_nanos(bytes.parse::<u64>().ok()?.max(PAGE));
    Some(Sample { cost, wall: cost, ops: count.parse().ok()? })
}

/// The child: `idle:<runtime>` or `post:<actor>`. Prints the bytes, and the number of things among
/// which they are shared.
pub(crate) fn main(what: &str, mode: Mode) -> io::Result<()> {
    let setup = Setup::new(mode);
    let (grown, count) = match what.split_once(':') {
        Some(("idle", runtime)) => {
            let count = match runtime.starts_with("stacks_") {
                true => setup.count(10_000, 100),
                false => setup.count(200_000, 1_000),
            };
            let on = setup.runtimes();
            let grown = match runtime {
                "stacks_colored" => stacks::colored(on.unique(), count),
                "stacks_may" => stacks::may(count),
                "stacks_threads" => stacks::threads(count),
                "colored" => idle(on.serial(), count),
                "colored_unique" => idle(on.unique(), count),
                "tokio" => idle(on.tokio(), count),
                "smol" => idle(Smol, count),
                "async-executor" => idle(Pool::start(), count),
                _ => return Err(io::Error::other(format!("no runtime is called {runtime:?}"))),
            };
            (grown, count)
        }
        Some(("post", actor)) => {
            let count = setup.count(actors::POSTS, 1_000);
            let mut post = actors::post(&setup, actor)
                .ok_or_else(|| io::Error::other(format!("no actor is called {actor:?}")))?;
            // The first messages make what every process has: threads, pools, caches.
            assert_eq!(post(1_000), 1_000, "a message was lost");
            let before = reset_peak()?;
            assert_eq!(post(count), count, "a message was lost");
            (status("VmHWM:")?.saturating_sub(before), 1)
        }
        _ => return Err(io::Error::other(format!("{what:?} is neither idle nor post"))),
    };
    println!("{grown} {count}");
    process::exit(0);
}

/// A future that counts its first poll and then waits for ever.
struct Idle {
    polled: Option<&'static AtomicUsize>,
}

impl Future for Idle {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if let Some(polled) = self.polled.take() {
            // Ordering: Release, for the waiting loop of `idle`.
            polled.fetch_add(1, Ordering::Release);
        }
        Poll::Pending
    }
}

/// The growth of the process by this many idle tasks, without their handles.
fn idle<E: Executor>(on: E, count: u64) -> u64 {
    static POLLED: AtomicUsize = AtomicUsize::new(0);
    on.run(async move {
        let mut handles = Vec::with_capacity(count as usize);
        let before = resident();
        handles.extend((0..count).map(|_| on.spawn(Idle { polled: Some(&POLLED) })));
        // Ordering: Acquire, so that what the polls have allocated is seen.
        while POLLED.load(Ordering::Acquire) < count as usize {
            on.yield_now().await;
        }
        let grown = resident().saturating_sub(before);
        let own = handles.len() * size_of::<E::Handle<()>>();
        // The tasks stay as they are: the process ends next.
        std::mem::forget(handles);
        grown.saturating_sub(own as u64)
    })
}

fn resident() -> u64 {
    status("VmRSS:").expect("the system tells")
}

/// The memory of another process, in bytes.
pub(crate) fn resident_of(process: u32) -> io::Result<u64> {
    line(&process.to_string(), "VmRSS:")
}

/// Sets the peak of this process's memory to what is in use, which it returns.
fn reset_peak() -> io::Result<u64> {
    fs::write("/proc/self/clear_refs", "5")?;
    status("VmRSS:")
}

/// A line of this process's status, in bytes.
fn status(name: &str) -> io::Result<u64> {
    line("self", name)
}

fn line(process: &str, name: &str) -> io::Result<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kib.ok_or(io::ErrorKind::InvalidData)? * 1_024)
}
