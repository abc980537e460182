//! The kind of program that a seed is: numbers drawn once, from which every later choice follows.

use crate::chance::Chance;
use crate::policy::Policy;
use crate::program::{DEEDS, Deed, MOVES, Move};
use std::fmt;

/// How colors are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    Uniform,
    /// Most choices are one of a few colors.
    Skewed,
    /// Nine choices of ten are the same color.
    OneHot,
}

/// How the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All tasks end first, and then the scheduler is shut down.
    Quiet,
    /// A shutdown comes at some moment, with everything in progress.
    Abrupt,
}

/// Whether sections wait for each other. The scheduler soon tells waits that can never end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crossing {
    None,
    /// Tasks may wait for anything, one color at a time.
    Free,
    /// Tasks may wait for anything, several colors at once too.
    Tangled,
    /// Tasks wait only for work under a later color, so that no cycle can close. They move to later colors only,
    /// and want several colors at once only where there are no sections.
    Ordered,
}

pub(crate) struct Profile {
    pub(crate) name: &'static str,
    pub(crate) workers: u32,
    pub(crate) policy: Policy,
    /// Colors that have a number.
    pub(crate) palette: u32,
    pub(crate) spread: Spread,
    /// Tasks that are alive while the program goes on, about.
    pub(crate) population: u32,
    /// Cells that the program keeps.
    pub(crate) cells: u32,
    /// Polls in a thousand during which the rest of the world goes on.
    pub(crate) overlap: u32,
    /// Steps that may be in progress at once.
    pub(crate) depth: u32,
    /// Nanoseconds of a poll, at most; short ones are likely.
    pub(crate) poll_nanos: u32,
    /// Nanoseconds of a long poll, at most.
    pub(crate) long_nanos: u32,
    /// Nanoseconds between two visits of other threads, at most.
    pub(crate) visit_nanos: u32,
    /// Nanoseconds that a worker takes to wake up, at most.
    pub(crate) wake_nanos: u32,
    /// Tasks in a thousand that look at their color.
    pub(crate) nosy: u32,
    /// Turns in a thousand that use what the color has of its own.
    pub(crate) possessive: u32,
    /// Polls that a task has ahead of it, at most.
    pub(crate) life: u32,
    /// Polls in a row of a task that does nothing but yield, at most.
    pub(crate) spins: u32,
    pub(crate) crossing: Crossing,
    pub(crate) ending: Ending,
    /// When an abrupt end comes, in events.
    pub(crate) end_at: u64,
    deeds: Vec<Deed>,
    moves: Vec<Move>,
}

/// A kind of program: its name, and what is particular to it.
type Kind = (&'static str, fn(&mut Profile, &Chance));

const KINDS: [Kind; 14] = [
    ("mixed", |_, _| {}),
    ("one worker", |profile, chance| {
        (profile.workers, profile.palette) = (1, chance.between(1, 24));
        profile.population = chance.between(8, 60);
    }),
    ("few colors", |profile, chance| {
        profile.palette = chance.between(1, 5);
        profile.moves.extend([Move::Again; 4]);
    }),
    ("one hot color", |profile, _| {
        profile.spread = Spread::OneHot;
        profile.moves.extend([Move::Again; 4]);
    }),
    ("unique colors", |profile, _| {
        profile.deeds.extend([Deed::SpawnUnique; 12]);
        profile.life = 4;
    }),
    ("cells", |profile, chance| {
        profile.deeds.extend([Deed::Post; 12]);
        profile.moves.extend([Move::Call; 12]);
        profile.moves.extend([Move::Again; 4]);
        profile.cells = chance.between(1, 40);
    }),
    ("endless", |profile, chance| {
        (profile.workers, profile.palette) = (chance.between(1, 4), chance.between(2, 8));
        profile.moves.extend([Move::Spin; 6]);
        profile.population = chance.between(6, 30);
    }),
    ("saturated", |profile, chance| {
        // Workers never run out of work, and threads that are no workers bring more.
        (profile.workers, profile.palette) = (chance.between(1, 4), chance.between(6, 60));
        profile.spread = chance.of(&[Spread::Uniform, Spread::Skewed]);
        profile.population = chance.between(20, 200);
        profile.deeds.extend([Deed::SpawnUnique; 4]);
        profile.deeds.extend([Deed::Wake; 30]);
        if !chance.one_in(4) {
            profile.deeds.retain(|deed| !matches!(deed, Deed::SpawnLocal | Deed::Classify));
            profile.deeds.retain(|deed| *deed != Deed::SpawnUrgent);
        }
        profile.moves.push(Move::Spin);
        profile.moves.extend([Move::Signal; 12]);
        profile.spins = chance.of(&[200, 5_000, 50_000]);
        profile.poll_nanos = chance.of(&[500, 2000, 20_000]);
        profile.visit_nanos = chance.of(&[1000, 10_000, 100_000]);
    }),
    ("rallies", |profile, chance| {
        (profile.workers, profile.palette) = (chance.of(&[1, 1, 2]), chance.between(3, 7));
        profile.population = chance.between(6, 14);
        profile.deeds.retain(|deed| *deed != Deed::SpawnUnique);
        profile.moves.extend([Move::Rally; 12]);
    }),
    ("classes", |profile, chance| {
        (profile.workers, profile.palette) = (chance.of(&[1, 1, 1, 2, 8]), chance.between(3, 8));
        profile.population = chance.between(8, 16);
        profile.deeds.retain(|deed| *deed != Deed::SpawnUnique);
        profile.deeds.extend([Deed::Classify, Deed::SpawnUrgent, Deed::SpawnLocal]);
        profile.deeds.extend([Deed::SpawnLocal; 4]);
        profile.moves.extend([Move::Rally; 12]);
    }),
    ("crossings", |profile, chance| crossings(profile, chance, Crossing::Free)),
    ("tangles", |profile, chance| {
        crossings(profile, chance, Crossing::Tangled);
        profile.deeds.extend([Deed::NewCell; 2]);
    }),
    ("in order", |profile, chance| crossings(profile, chance, Crossing::Ordered)),
    ("long polls", |profile, _| {
        profile.deeds.extend([Deed::LongPoll; 4]);
        (profile.overlap, profile.depth) = (600, 48);
    }),
];

/// Sections that wait for tasks and calls of other colors.
fn crossings(profile: &mut Profile, chance: &Chance, crossing: Crossing) {
    profile.crossing = crossing;
    profile.workers = chance.of(&[1, 2, 3, 8]);
    (profile.palette, profile.spread) = (chance.between(2, 10), Spread::Uniform);
    profile.population = chance.between(6, 40);
    profile.cells = chance.between(4, 20);
    profile.deeds = vec![Deed::SpawnColored, Deed::SpawnHere, Deed::SpawnHere, Deed::Post];
    profile.deeds.extend([
        Deed::Classify,
        Deed::Wake,
        Deed::Wake,
        Deed::Wake,
        Deed::NewCell,
        Deed::NewCell,
    ]);
    if chance.one_in(2) {
        profile.deeds.extend([Deed::Abort, Deed::Detach, Deed::DropCell, Deed::WakeForNothing]);
    }
    profile.moves = vec![Move::Cross; 6];
    profile.moves.extend([Move::Section; 6]);
    profile.moves.extend([Move::Again; 3]);
    profile.moves.extend([Move::Yield, Move::Sleep, Move::Signal, Move::WakeSelf, Move::Finish]);
    if !chance.one_in(4) {
        profile.ending = Ending::Quiet;
    }
}

impl Profile {
    /// Draws a profile of that kind, or of any.
    pub(crate) fn new(chance: &Chance, events: u64, kind: Option<&str>) -> Self {
        let any = chance.of(&KINDS);
        let wanted = |kind| KINDS.into_iter().find(|(name, _)| *name == kind);
        let (name, adapt) = kind.map_or(any, |kind| {
            wanted(kind).unwrap_or_else(|| {
                panic!("there is no kind {kind:?}: {:?}", KINDS.map(|(name, _)| name))
            })
        });
        let ending = if chance.one_in(3) { Ending::Quiet } else { Ending::Abrupt };
        let mut profile = Self {
            name,
            workers: chance.of(&[2, 3, 8, 64, 64, 64]),
            policy: Policy::plain(),
            palette: 1 + chance.skewed(256),
            spread: chance.of(&[Spread::Uniform, Spread::Skewed, Spread::Skewed, Spread::OneHot]),
            population: chance.between(16, 400),
            cells: chance.between(1, 12),
            overlap: chance.of(&[5, 30, 100, 300]),
            depth: chance.of(&[2, 4, 12, 40]),
            poll_nanos: chance.of(&[500, 2000, 20_000, 100_000]),
            long_nanos: chance.of(&[300_000, 2_000_000, 20_000_000]),
            visit_nanos: chance.of(&[2000, 20_000, 200_000]),
            wake_nanos: chance.of(&[1000, 10_000, 100_000]),
            nosy: chance.of(&[100, 500, 1000]),
            possessive: chance.of(&[0, 0, 20, 300]),
            life: chance.of(&[3, 10, 40]),
            spins: 200,
            crossing: Crossing::None,
            ending,
            end_at: if chance.one_in(4) { 0 } else { events / 4 * 3 }
                + chance.draw() % (events / 4),
            deeds: some_of(chance, &DEEDS),
            moves: some_of(chance, &MOVES),
        };
        adapt(&mut profile, chance);
        profile.policy = Policy::draw(chance, profile.workers);
        if profile.policy.goes_by_number() {
            // The numbers of fresh colors come in blocks of 1024, and each run has other blocks.
            let workers = profile.workers.next_power_of_two();
            (profile.workers, profile.policy.workers) = (workers, workers);
        }
        profile.deeds.push(Deed::SpawnColored);
        profile
    }

    /// Leaves out what waits in a way that the oracle does not see, and ends in quiet.
    pub(crate) fn simplify(&mut self) {
        (self.ending, self.possessive) = (Ending::Quiet, 0);
        self.deeds.retain(|deed| *deed != Deed::Limit);
        let kept = |of: &Move| {
            use Move::{Admission, Again, Cross, GiveUpWhen, Rally, Read, Section, When};
            !matches!(of, Admission | Again | Cross | GiveUpWhen | Rally | Read | Section | When)
        };
        self.moves.retain(kept);
        self.moves.extend([Move::Yield, Move::Finish]);
    }

    pub(crate) fn deed(&self, chance: &Chance) -> Deed {
        chance.of(&self.deeds)
    }

    pub(crate) fn next_move(&self, chance: &Chance) -> Move {
        chance.of(&self.moves)
    }
}

/// Each choice as often as its weight says, but some not at all: a program with only a few kinds of acts has more
/// combinations of them.
fn some_of<T: Copy>(chance: &Chance, weights: &[(T, u32)]) -> Vec<T> {
    let left_out = chance.of(&[0, 0, 200, 500]);
    let mut choices = Vec::new();
    for (choice, weight) in weights {
        if !chance.permille(left_out) {
            choices.extend((0..*weight).map(|_| *choice));
        }
    }
    if choices.is_empty() { vec![weights[0].0] } else { choices }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "a program of the kind {:?}, which ends {:?}:", self.name, self.ending)?;
        writeln!(
            f,
            "  {} workers, {} colors ({:?}), {} tasks, {} cells, {} polls a life",
            self.workers, self.palette, self.spread, self.population, self.cells, self.life
        )?;
        writeln!(
            f,
            "  up to {} steps at once, begun in {} of 1000 polls; nanoseconds of a poll {}, of a \
             long one {}, of a wake-up {}, between visits {}",
            self.depth,
            self.overlap,
            self.poll_nanos,
            self.long_nanos,
            self.wake_nanos,
            self.visit_nanos
        )?;
        writeln!(f, "  {:?}", self.policy.options)?;
        writeln!(f, "  deeds {}", counted(&self.deeds))?;
        writeln!(f, "  moves {}", counted(&self.moves))
    }
}

/// Each choice once, with the number of its copies.
fn counted<T: fmt::Debug>(choices: &[T]) -> String {
    let mut names: Vec<_> = choices.iter().map(|choice| format!("{choice:?}")).collect();
    names.sort_unstable();
    let runs = names.chunk_by(|a, b| a == b).map(|run| format!("{} x {}", run.len(), run[0]));
    runs.collect::<Vec<_>>().join(", ")
}
