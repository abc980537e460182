//! Programs from seeds: tasks open, convert, share and close descriptors of every kind, beside each other. Whatever they
//! do, a byte that is written to a descriptor wakes the task that waits at its other end, and when all is closed, nothing
//! is registered any more.
//!
//! | variable | |
//! |---|---|
//! | `COLORED_DESCRIPTOR_SEEDS` | how many programs; or `1000..2000`, which ones |
//! | `COLORED_DESCRIPTOR_SEED` | one program; `COLORED_DESCRIPTOR_SEEDS` says how often |
//!
//! A seed gives each task the same operations in every run. The threads are real, so a seed that has failed once may need
//! many runs to fail again.

mod link;
mod reader;
mod writer;

use self::link::Link;
use super::registrations::registrations;
use colored::Handle;
use colored::time::{Duration, timeout};
use colored_tests::process::{threads, tries_streams};
use colored_tests::{Dice, Trace, child, runtime, shared};
use std::collections::BTreeSet;
use std::ops::Range;
use std::{env, process};

/// How many programs run unless a variable says how many: a second's work.
const PROGRAMS: u64 = 60;

/// The tasks of a program, and the operations of a task.
const TASKS: u64 = 4;
const OPERATIONS: u64 = 60;

/// A task keeps so many links at most.
const LINKS: usize = 6;

/// A wait that lasts longer has lost its event.
const LONG: Duration = Duration::from_secs(20);

/// What a task has done, for the report of a failure.
type Said = Trace<String>;

/// A task of a program.
struct Actor {
    dice: Dice,
    links: Vec<Link>,
    /// Another runtime, with which some sockets are registered.
    other: Handle,
    said: Said,
}

impl Actor {
    async fn run(mut self) -> Vec<Link> {
        for _ in 0..OPERATIONS {
            self.operate().await;
        }
        for index in 0..self.links.len() {
            self.check(index).await;
        }
        self.links
    }

    async fn operate(&mut self) {
        if self.links.is_empty() {
            return self.open().await;
        }
        let index = self.dice.below(self.links.len() as u64) as usize;
        let operation = self.dice.below(20);
        let link = &mut self.links[index];
        match operation {
            0..=4 => return self.open().await,
            5..=6 => {
                self.said.push(format!("wait at {link:?}, and give up"));
                link.give_up_a_wait(&mut self.dice).await;
            }
            7..=10 => {
                self.said.push(format!("convert {link:?}"));
                link.convert(&mut self.dice).await;
            }
            11 => {
                self.said.push(format!("convert the writer of {link:?}"));
                link.convert_writer().await;
            }
            12..=13 => {
                self.said.push(format!("clone {link:?}"));
                link.clone_reader(&mut self.dice).await;
            }
            14 => {
                self.said.push(format!("register {link:?} twice"));
                link.register_twice();
            }
            15 => {
                self.said.push("give up a connect".into());
                link::give_up_a_connect().await;
            }
            16..=17 => return self.close(index).await,
            18 => {
                self.said.push("close pipes that wait".into());
                link::close_pipes_that_wait().await;
            }
            _ => {}
        }
        self.check(index).await;
    }

    async fn open(&mut self) {
        if self.links.len() == LINKS {
            return self.close(0).await;
        }
        let kind = self.dice.below(link::KINDS);
        self.said.push(format!("open {kind}"));
        self.links.push(Link::open(kind, &self.other).await);
    }

    async fn close(&mut self, index: usize) {
        let link = self.links.swap_remove(index);
        self.said.push(format!("close {link:?}"));
        link.close(&mut self.dice).await;
    }

    /// Waits at the link, and writes to it then.
    async fn check(&mut self, index: usize) {
        let link = &mut self.links[index];
        self.said.push(format!("check {link:?}"));
        link.check(&mut self.dice).await;
    }
}

/// Runs a program. Where the seed is odd, its links outlive their runtimes.
fn program(seed: u64) {
    let before: BTreeSet<_> = registrations();
    let (first, second) = (runtime(2), runtime(1));
    let said: Vec<_> = (0..TASKS).map(|_| Said::new()).collect();
    let actors: Vec<_> = (0..TASKS)
        .zip(&said)
        .map(|(number, said)| Actor {
            dice: Dice::new(seed * TASKS + number),
            links: Vec::new(),
            other: second.handle().clone(),
            said: said.clone(),
        })
        .collect();
    let left = first.run(async move {
        let tasks: Vec<_> =
            actors.into_iter().map(|actor| colored::spawn_unique(actor.run())).collect();
        let mut left = Vec::new();
        for task in tasks {
            match timeout(LONG, task).await {
                Ok(Ok(links)) => left.extend(links),
                Ok(Err(error)) => return Err(format!("a task has failed: {error}")),
                Err(_) => return Err(String::from("a task waits for an event that is lost")),
            }
        }
        Ok(left)
    });
    let left = left.unwrap_or_else(|failure| fail(seed, &failure, &said));
    if tries_streams() && threads().values().any(|thread| thread.name.contains("-str-")) {
        fail(seed, "a read has waited on a thread", &said);
    }
    if seed.is_multiple_of(2) {
        first.run(async move { drop(left) });
        drop((first, second));
    } else {
        drop((first, second));
        drop(left);
    }
    let after = registrations();
    if after != before {
        fail(seed, &format!("{before:?} were registered before, {after:?} are now"), &said);
    }
}

fn fail(seed: u64, failure: &str, said: &[Said]) -> ! {
    for (task, said) in said.iter().enumerate() {
        eprintln!("task {task}:");
        let said = said.take();
        said.iter().skip(said.len().saturating_sub(12)).for_each(|line| eprintln!("  {line}"));
    }
    eprintln!(
        "program {seed}: {failure}; again: COLORED_DESCRIPTOR_SEED={seed} COLORED_DESCRIPTOR_SEEDS=100 cargo test -p \
         colored-tests net::generated"
    );
    // A runtime whose worker is blocked would not end.
    process::exit(1)
}

fn seeds() -> Vec<u64> {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text} is no number"));
    let seeds = env::var("COLORED_DESCRIPTOR_SEEDS").ok();
    let range = |text: &str| -> Range<u64> {
        match text.split_once("..") {
            Some((from, to)) => number(from)..number(to),
            None => 0..number(text),
        }
    };
    let seeds = seeds.map_or(0..PROGRAMS, |seeds| range(&seeds));
    match env::var("COLORED_DESCRIPTOR_SEED") {
        Ok(seed) => seeds.map(|_| number(&seed)).collect(),
        Err(_) => seeds.collect(),
    }
}

#[test]
fn a_byte_wakes_its_reader_whatever_becomes_of_descriptors() {
    let name = "a_byte_wakes_its_reader_whatever_becomes_of_descriptors";
    child::run(module_path!(), name, || {
        shared(|| seeds().into_iter().for_each(program));
    });
}
