//! One run of a simulation.

use super::attempts::{Attempts, Made, MadeAhead, Mode, Place};
use super::control::{Cancelled, Ended, Sometimes, with};
use super::faults::Faults;
use super::hosts::Program;
use super::runtime::Shell;
use super::turns::Way;
use crate::world::World;
use crate::{Asked, Choices, InOrder, Outcome, Replay, run_again};
use colored_core::Color;
use std::io::{self, Write};
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

/// After so many runs in which a thread was stuck, turns are whole.
const MOST_STUCK: u32 = 8;

/// After so many failures that threads did not show, all runs are made on threads.
const MOST_UNCONFIRMED: u32 = 8;

pub(super) fn is_on() -> bool {
    with(|_| ()).is_some()
}

/// The world of the run that this thread simulates.
pub(super) fn world() -> Option<Arc<World>> {
    with(|run| Arc::clone(&run.world))
}

/// The number of a color, in the order in which colors became runnable first.
pub(super) fn number_of(color: Color) -> Option<usize> {
    with(|run| run.number_of(color))
}

pub(super) fn random() -> u64 {
    with(|run| run.random.next()).unwrap_or_else(|| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(0)
    })
}

/// What the hosts of a run share beside the network: the run's one value of the type. It is made by the first call, and dropped
/// when the run has ended and its tasks are dropped, or later if somebody keeps it. A crash of a host leaves it as it is.
///
/// For a test that collects what its hosts have seen: runs that share by nothing else can be made at
/// [once](super::Builder::jobs). Costs some nanoseconds, and a comparison for each other type that the run shares.
///
/// ```
/// use colored::sim;
/// use colored::time::{Duration, sleep};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// // Ordering: one thread goes on at a time.
/// let host = || async { sim::shared::<AtomicU32>().fetch_add(1, Ordering::Relaxed); };
/// let report = sim::Builder::new().seeds(0..100).host("a", host).jobs(64).run(|| async {
///     sleep(Duration::from_secs(1)).await;
///     assert_eq!(sim::shared::<AtomicU32>().load(Ordering::Relaxed), 1);
/// });
/// report.assert_passed();
/// ```
///
/// # Panics
///
/// Outside of a simulation.
#[must_use]
#[track_caller]
pub fn shared<T: Default + Send + Sync + 'static>() -> Arc<T> {
    let find = || {
        with(|run| run.shared.iter().find_map(|of| Arc::clone(of).downcast().ok()))
            .expect("`sim::shared` outside of a simulation")
    };
    find().unwrap_or_else(|| {
        // It may ask for the run, and give way.
        let made = Arc::new(T::default());
        find().unwrap_or_else(|| {
            with(|run| run.shared.push(made.clone()));
            made
        })
    })
}

/// For the macro `buggify!`: a choice of the place of the call, and of the color.
#[must_use]
#[track_caller]
pub fn happens(one_in: u32) -> bool {
    let (at, color) = (Location::caller(), Color::current());
    let happens = with(|run| {
        let color = color.map_or(0, |color| run.number_of(color) as u64 + 1);
        run.choices.happens_in_program(number_of_place(at), color, false, one_in)
    });
    happens.is_some_and(|happens| {
        if happens {
            tell(&|| format!("`buggify!` at {at}"));
        }
        happens
    })
}

/// A number that names a place in the program, in each build. Few other places have it.
pub(super) fn number_of_place(at: &Location<'_>) -> u32 {
    let file = file_of_its_crate(at.file()).bytes();
    let bytes = file.chain(at.line().to_le_bytes()).chain(at.column().to_le_bytes());
    // FNV-1a, by Fowler, Noll and Vo.
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Returns an absolute path from the folder of the file's crate on, and a relative path as it is. Cargo gives libraries absolute
/// paths, and each machine has the folder elsewhere.
fn file_of_its_crate(file: &str) -> &str {
    if !Path::new(file).is_absolute() {
        return file;
    }
    let end = ["/src/", r"\src\"].iter().find_map(|src| file.rfind(src));
    let begin = end.and_then(|end| file[..end].rfind(['/', '\\']));
    begin.map_or(file, |begin| &file[begin + 1..])
}

pub(super) fn happens_at(site: usize, time: u64, one_in: u32) -> bool {
    with(|run| run.choices.happens_at(site, time, one_in)).unwrap_or(false)
}

pub(super) fn tell(what: &dyn Fn() -> String) {
    with(|run| run.choices.describe_fault(what));
}

/// For the macro `sometimes!`.
pub fn note_sometimes(name: &str, holds: bool) {
    with(|run| {
        let sometimes = &mut run.noted.sometimes;
        match sometimes.get_mut(name) {
            Some(held) => *held |= holds,
            None => drop(sometimes.insert(name.to_owned(), holds)),
        }
    });
}

/// What the runs of a simulation have in common.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) max_turns: u64,
    pub(super) faults: Faults,
    /// The hosts beside that of the main future, by name.
    pub(super) hosts: Vec<(String, Program)>,
    pub(super) on_threads: bool,
    /// Each runtime has a tokio runtime.
    pub(super) tokio: bool,
    /// Makes the runtimes of the hosts.
    pub(super) shell: Shell,
}

impl Setup {
    /// Two runs in which tasks of tokio run in another order may be of one class.
    #[track_caller]
    pub(super) fn assert_has_classes(&self, what: &str) {
        assert!(
            !self.tokio,
            "{what} compares classes of schedules, which do not tell tasks of tokio apart: leave out `tokio`"
        );
    }
}

/// What all runs of a search have seen.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The names of conditions that never held.
    pub(super) never: Vec<String>,
    /// The runs in which a thread was stuck, and which were made again.
    pub(super) stuck: u32,
    /// The runs that failed on stacks, and not on threads.
    pub(super) unconfirmed: u32,
    /// How many awaits were cancelled, each at least once.
    pub(super) cancelled: usize,
}

/// The runs of one search, in their order.
pub(super) struct Runs<'p, P> {
    attempts: &'p Attempts<'p, P>,
    place: Place,
    sometimes: Sometimes,
    cancelled: Arc<Cancelled>,
    stuck: u32,
    unconfirmed: u32,
    colors: usize,
}

impl<'p, P, F> Runs<'p, P>
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    pub(super) fn new(attempts: &'p Attempts<'p, P>) -> Self {
        Self {
            attempts,
            place: Place::default(),
            sometimes: Sometimes::new(),
            cancelled: Arc::default(),
            stuck: 0,
            unconfirmed: 0,
            colors: 0,
        }
    }

    /// The most colors of a run.
    pub(super) fn colors(&self) -> usize {
        self.colors
    }

    pub(super) fn seen(self) -> Seen {
        let Self { stuck, unconfirmed, .. } = self;
        let never = self.sometimes.into_iter().filter(|(_, held)| !held).map(|(name, _)| name);
        Seen { never: never.collect(), stuck, unconfirmed, cancelled: self.cancelled.len() }
    }

    /// Makes one run: on stacks where a search makes it for its own sake, and otherwise on threads. A run on stacks only finds:
    /// its failure is that of the run on threads with the same choices. If that one does not fail, there is none; but for a run
    /// that does not fail on stacks a second time: then something else than the choices decides, and the caller finds that out.
    pub(super) fn make(&mut self, replay: &Replay, choices: Choices) -> (Outcome, Choices) {
        if self.attempts.mode() != Mode::Stacks || !choices.explores() {
            return self.make_on_threads(replay, choices);
        }
        let again = choices.again();
        match self.attempt(replay, choices, Way::Stacks) {
            (Some(Err(message)), Some(choices)) => {
                self.confirm(&replay.of(&choices), message, choices)
            }
            (Some(Ok(())), Some(choices)) => (Ok(()), choices),
            _ => {
                // The thread was given up: all further runs are made on threads.
                self.attempts.turn_to(Mode::Threads);
                self.make_on_threads(replay, again)
            }
        }
    }

    /// A run on stacks, which is this one now, has failed in that way.
    fn confirm(
        &mut self,
        replay: &Replay,
        message: String,
        choices: Choices,
    ) -> (Outcome, Choices) {
        let on_threads = run_again(replay, |replay, choices| self.make_on_threads(replay, choices));
        if on_threads.0.is_err() {
            return on_threads;
        }
        let mut is_given_up = false;
        let (again, _) =
            run_again(replay, |replay, again| match self.attempt(replay, again, Way::Stacks) {
                (Some(outcome), Some(choices)) => (outcome, choices),
                _ => {
                    is_given_up = true;
                    (Ok(()), on_threads.1)
                }
            });
        if is_given_up {
            self.attempts.turn_to(Mode::Threads);
        } else if again.is_ok() {
            return (Err(message), choices);
        }
        self.unconfirmed += 1;
        if self.unconfirmed >= MOST_UNCONFIRMED {
            self.attempts.turn_to(Mode::Threads);
        }
        (Ok(()), choices)
    }

    fn make_on_threads(&mut self, replay: &Replay, choices: Choices) -> (Outcome, Choices) {
        let whole = choices.in_whole_turns();
        if self.stuck < MOST_STUCK {
            if let (Some(outcome), Some(choices)) = self.attempt(replay, choices, Way::Threads) {
                return (outcome, choices);
            }
            self.stuck += 1;
            if self.stuck == MOST_STUCK {
                self.attempts.turn_to(Mode::WholeTurns);
                report_whole_turns();
            }
        }
        let (outcome, choices) = self.attempt(replay, whole, Way::Threads);
        let outcome = outcome.expect("nobody waits inside a turn");
        (outcome, choices.expect("the run has ended"))
    }

    /// Makes one run. No outcome if a thread was stuck, and no choices if the thread was given up.
    fn attempt(
        &mut self,
        replay: &Replay,
        choices: Choices,
        way: Way,
    ) -> (Option<Outcome>, Option<Choices>) {
        let asked = vec![Asked { replay: replay.clone(), choices }];
        let cancelled = Arc::clone(&self.cancelled);
        let made = self.attempts.make(&mut self.place, asked, way, cancelled, false);
        match made.into_iter().next() {
            Some(Made::Ended(outcome, ended)) => (outcome, Some(self.note(*ended))),
            _ => (None, None),
        }
    }

    /// Takes in what a run has seen.
    fn note(&mut self, ended: Ended) -> Choices {
        let Ended { choices, noted, colors } = ended;
        self.colors = self.colors.max(colors);
        for (name, holds) in noted.sometimes {
            *self.sometimes.entry(name).or_default() |= holds;
        }
        if !noted.cancelled.is_empty() {
            Arc::make_mut(&mut self.cancelled).extend(noted.cancelled);
            self.attempts.set_cancelled(Arc::clone(&self.cancelled));
        }
        choices
    }
}

impl<P, F> InOrder<MadeAhead> for Runs<'_, P>
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    fn make(&mut self, replay: &Replay, choices: Choices) -> (Outcome, Choices) {
        Runs::make(self, replay, choices)
    }

    fn take(&mut self, made: MadeAhead) -> Option<Choices> {
        if made.mode != self.attempts.mode() {
            return None;
        }
        match made.made {
            Made::Ended(_, ended) => {
                // What the run has taken for new may have been cancelled in one before it.
                let is_new = |key: &(u32, u64)| !self.cancelled.contains(key);
                ended.noted.asked.iter().all(is_new).then(|| self.note(*ended))
            }
            Made::GivenUp => {
                self.attempts.turn_to(Mode::Threads);
                None
            }
            Made::PutOff => None,
        }
    }
}

/// Says what a search does not explore any more. A harness of tests keeps what `eprintln!` writes if the test passes.
fn report_whole_turns() {
    let _ = writeln!(
        io::stderr(),
        "colored: {MOST_STUCK} runs of a simulation stood still, because a turn waited for a lock of std that another turn held \
         while it woke, spawned or posted. The search goes on in whole turns, and explores less. If the lock is \
         the program's, drop it before such acts"
    );
}

#[cfg(test)]
mod tests {
    use super::file_of_its_crate;

    #[cfg(unix)]
    #[test]
    fn a_file_of_a_library_has_one_name_on_all_machines() {
        for (file, named) in [
            ("/home/a/.cargo/registry/src/index.io-1f/pool-1.2.0/src/a.rs", "pool-1.2.0/src/a.rs"),
            ("/home/b/.cargo/git/checkouts/pool-4e/1f3/src/a.rs", "1f3/src/a.rs"),
            ("/home/a/pool.rs", "/home/a/pool.rs"),
            ("crates/pool/src/a.rs", "crates/pool/src/a.rs"),
        ] {
            assert_eq!(file_of_its_crate(file), named);
        }
    }
}
