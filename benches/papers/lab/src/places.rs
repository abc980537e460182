//! Where lanes go, by the papers: [`Places`].
//!
//! | paper | [`Place`] | steals |
//! |---|---|---|
//! | staged middleware: one run queue of stages | `Everybody` | no: there is nothing to steal |
//! | staged middleware: receiver-initiated, sender-initiated, both | `Usual`, `Least`, `Least` | yes, no, yes |
//! | libasync-smp: a color's number selects the processor | `Number` | no |
//! | Mely: a color stays where it ran, until it is stolen | `Home` | yes |

use colored_core::{Destination, Policy, Runnable, Scheduler};

/// Where lanes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// To the worker that the scheduler chooses: the one that has made the lane runnable.
    Usual,
    /// To the worker on which the lane ran last.
    Home,
    /// To the worker with the number of the color, modulo the number of workers.
    Number,
    /// Into one queue for all workers.
    Everybody,
    /// To the worker with the fewest lanes, if the worker that has the lane has at least this many more. So the
    /// sender balances the load, lane by lane: when it makes a lane runnable, and after each slice.
    Least(usize),
}

/// A place for all lanes, and whether workers take lanes from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Where lanes go.
    pub place: Place,
    /// Whether a worker without lanes takes some from others.
    pub steals: bool,
}

const fn all(steals: bool) -> [Places; 7] {
    [
        Places { place: Place::Usual, steals },
        Places { place: Place::Home, steals },
        Places { place: Place::Number, steals },
        Places { place: Place::Everybody, steals },
        Places { place: Place::Least(1), steals },
        Places { place: Place::Least(2), steals },
        Places { place: Place::Least(8), steals },
    ]
}

/// All settings, for tests: first with stealing, then without.
pub static PLACES: [[Places; 7]; 2] = [all(true), all(false)];

impl Places {
    /// Whether no worker sleeps while there is a lane that it could run (G6).
    #[must_use]
    pub fn conserve_work(self) -> bool {
        self.steals || self.place == Place::Everybody
    }
}

impl Policy for Places {
    fn destination(&self, lane: Runnable, scheduler: &Scheduler) -> Destination {
        match self.place {
            Place::Usual => Destination::Usual,
            Place::Home => lane.home.map_or(Destination::Usual, Destination::Worker),
            // The result is less than the number of workers, so it fits.
            Place::Number => {
                Destination::Worker((lane.color.number() % scheduler.workers() as u64) as usize)
            }
            Place::Everybody => Destination::Everybody,
            Place::Least(threshold) => {
                let Some(own) = lane.worker else { return Destination::Usual };
                let others = (0..scheduler.workers()).filter(|worker| *worker != own);
                let least = others.map(|worker| (scheduler.load(worker), worker)).min();
                match least {
                    Some((load, worker)) if scheduler.load(own) >= load + threshold => {
                        Destination::Worker(worker)
                    }
                    _ => Destination::Usual,
                }
            }
        }
    }

    fn steals(&self) -> bool {
        self.steals
    }
}
