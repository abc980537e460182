use super::{Limits, exhaust};
use crate::choices::Choices;
use crate::search::Outcome;
use crate::strategy::Act;
use std::collections::{BTreeSet, VecDeque};

/// By color: the colors that each of its turns pushes to.
type Program = Vec<Vec<Vec<usize>>>;

/// What is queued under a color: a turn of the program, or one without a push.
type Queued = Option<usize>;

/// A state of the program, with one actor for each color.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    queues: Vec<VecDeque<Queued>>,
    /// The pushes that are left of the turn in progress.
    turns: Vec<Option<VecDeque<usize>>>,
    orders: Vec<Vec<usize>>,
}

impl State {
    fn new(program: &Program) -> Self {
        let queues = program.iter().map(|turns| (0..turns.len()).map(Some).collect()).collect();
        let colors = program.len();
        Self { queues, turns: vec![None; colors], orders: vec![Vec::new(); colors] }
    }

    fn can_run(&self, color: usize) -> bool {
        self.turns[color].is_some() || !self.queues[color].is_empty()
    }

    /// Goes on under that color: up to the next push, or to the end of the turn. Returns the target of a push.
    fn step(&mut self, program: &Program, color: usize) -> Option<usize> {
        let pushes = match self.turns[color].take() {
            Some(pushes) => pushes,
            None => {
                let turn = self.queues[color].pop_front().expect("it can run");
                turn.map_or(VecDeque::new(), |turn| program[color][turn].clone().into())
            }
        };
        let mut pushes = pushes;
        let target = pushes.pop_front()?;
        self.queues[target].push_back(None);
        self.orders[target].push(color);
        if !pushes.is_empty() {
            self.turns[color] = Some(pushes);
        }
        Some(target)
    }
}

/// All orders, by trying all that can be next in each state.
fn enumerate(program: &Program) -> BTreeSet<Vec<Vec<usize>>> {
    let (mut left, mut seen, mut all) =
        (vec![State::new(program)], BTreeSet::new(), BTreeSet::new());
    while let Some(state) = left.pop() {
        let colors: Vec<usize> = (0..program.len()).filter(|of| state.can_run(*of)).collect();
        if colors.is_empty() {
            all.insert(state.orders.clone());
        }
        for color in colors {
            let mut next = state.clone();
            next.step(program, color);
            if seen.insert(next.clone()) {
                left.push(next);
            }
        }
    }
    all
}

fn run(program: &Program, mut choices: Choices) -> (Outcome, Choices) {
    let mut state = State::new(program);
    let mut inside = None;
    loop {
        let can_run = |state: &State| -> Vec<usize> {
            (0..program.len()).filter(|of| state.can_run(*of)).collect()
        };
        let paused = |state: &State| -> Vec<usize> {
            (0..program.len()).filter(|of| state.turns[*of].is_some()).collect()
        };
        let runnable = can_run(&state);
        if runnable.is_empty() {
            return (Ok(()), choices);
        }
        let color = match inside {
            Some(on) => {
                let by: usize = 0;
                choices.pass_point(Act { on, by: Some(by as u64), takes: false }, true);
                choices.give_way(&runnable, &paused(&state))
            }
            None => choices.choose(&runnable, &paused(&state)),
        };
        if let Some(on) = state.step(program, color) {
            choices.note_act(Act { on: on as u64, by: Some(color as u64), takes: false });
        }
        inside = state.turns[color].as_ref().map(|left| left[0] as u64);
    }
}

/// Programs of so many colors and turns, of which some push once or twice.
fn program(rng: &mut fastrand::Rng, colors: usize, turns: usize, percent: u8) -> Program {
    let mut turn = || -> Vec<usize> {
        let pushes = usize::from(rng.u8(..100) < percent) * rng.usize(1..3);
        (0..pushes).map(|_| rng.usize(..colors)).collect()
    };
    (0..colors).map(|_| (0..turns).map(|_| turn()).collect()).collect()
}

#[test]
fn all_classes_are_seen_as_by_an_enumeration() {
    let mut rng = fastrand::Rng::with_seed(1);
    let (mut runs, mut classes) = (0, 0);
    for (colors, turns, percent) in [(2, 2, 90), (3, 2, 60), (3, 3, 40), (4, 3, 20)] {
        for _ in 0..3 {
            let program = program(&mut rng, colors, turns, percent);
            let expected = enumerate(&program);
            let limits = Limits { workers: 1, runs: 1_000_000, shrink_runs: 0 };
            let found = exhaust(&limits, |_, choices| run(&program, choices));
            assert!(found.is_complete);
            assert_eq!(found.classes, expected.len(), "{program:?}");
            (runs, classes) = (runs + found.runs, classes + found.classes as u64);
        }
    }
    assert!(runs < 4 * classes, "{runs} runs for {classes} classes");
}

#[test]
fn the_limit_ends_it() {
    let program: Program = vec![vec![vec![1, 2], vec![2, 1]]; 3];
    let limits = Limits { workers: 1, runs: 5, shrink_runs: 0 };
    let found = exhaust(&limits, |_, choices| run(&program, choices));
    assert_eq!((found.runs, found.is_complete), (5, false));
}

#[test]
fn a_failure_ends_it() {
    let program: Program = vec![vec![vec![2]], vec![vec![2]], vec![]];
    let limits = Limits { workers: 1, runs: 100, shrink_runs: 100 };
    let found = exhaust(&limits, |_, choices| {
        let (_, choices) = run(&program, choices);
        let is_first =
            choices.class() != run(&program, Choices::replay(Default::default())).1.class();
        (if is_first { Err("color 1 was first".to_owned()) } else { Ok(()) }, choices)
    });
    let failure = found.failure.expect("one order fails");
    assert_eq!(failure.replay.choices(), 1);
    assert!(failure.differs.is_none());
}
