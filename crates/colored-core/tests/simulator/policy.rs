//! The options of a scheduler, and the promises of each, from which the oracle's rules follow.

use crate::chance::Chance;
use colored_core::{Color, Options};
use colored_lab::places::PLACES;
use colored_lab::{Place, Places};

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) options: Options,
    /// Where lanes go, if the scheduler does not say that itself.
    places: Option<Places>,
    pub(crate) workers: u32,
}

impl Policy {
    pub(crate) fn plain() -> Self {
        Self { options: Options::default(), places: None, workers: 1 }
    }

    /// The default options half of the time, else any.
    pub(crate) fn draw(chance: &Chance, workers: u32) -> Self {
        if chance.one_in(2) {
            let spares = if chance.one_in(3) { chance.between(1, 3) as usize } else { 0 };
            let options = Options { spares, ..Options::default() };
            return Self { options, workers, ..Self::plain() };
        }
        let places = (!chance.one_in(4)).then(|| {
            let of_kind = &PLACES[usize::from(chance.one_in(2))];
            &of_kind[chance.index(of_kind.len())]
        });
        let options = Options {
            slice_polls: chance.of(&[1, 2, 8, 64, 64, 1000]),
            slice_nanos: chance.of(&[1000, 20_000, 200_000, 200_000, 5_000_000]),
            reuse: !chance.one_in(4),
            policy: places.map(|places| places as _),
            ..Options::default()
        };
        Self { options, places: places.copied(), workers }
    }

    fn place(&self) -> Place {
        self.places.map_or(Place::Usual, |places| places.place)
    }

    /// Workers and spare workers.
    pub(crate) fn seats(&self) -> u32 {
        self.workers + self.options.spares as u32
    }

    /// Whether workers take lanes from each other.
    pub(crate) fn steals(&self) -> bool {
        self.places.is_none_or(|places| places.steals)
    }

    /// Whether no worker sleeps while there is a lane that it could run (G6).
    pub(crate) fn conserves_work(&self) -> bool {
        self.places.is_none_or(Places::conserve_work)
    }

    /// Whether lanes from outside wait where all workers find them.
    pub(crate) fn shares_arrivals(&self) -> bool {
        !matches!(self.place(), Place::Home | Place::Number)
    }

    /// Whether a color's number decides on which worker it runs.
    pub(crate) fn goes_by_number(&self) -> bool {
        self.place() == Place::Number
    }

    /// The worker on which a color runs all its life.
    pub(crate) fn worker_of(&self, color: Option<Color>) -> Option<u32> {
        let color = color.filter(|_| self.goes_by_number() && !self.steals())?;
        Some((color.number() % u64::from(self.workers)) as u32)
    }

    /// Whether a lane stays with the worker that has run it last.
    pub(crate) fn stays(&self) -> bool {
        self.place() == Place::Home && !self.steals()
    }
}
