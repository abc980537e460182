//! All classes of schedules of small programs.

use colored::sim::{Builder, check_exhaustively};
use colored::time::{Duration, sleep};
use colored::{ColorCell, spawn_colored};
use colored_tests::panic_of;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// By color: the color that each of its turns posts to, before it posts the next turn.
#[derive(Clone, Debug)]
struct Program(Vec<Vec<Option<usize>>>);

/// A turn of a color by its number, or one that does nothing.
type Queued = Option<usize>;

/// The runtime's view of such a program: the main future posts the first turns.
mod model {
    use super::*;

    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
    struct State {
        queues: Vec<VecDeque<Queued>>,
        /// The posts that are left of the turn in progress. The last actor is the main future.
        turns: Vec<VecDeque<(usize, Queued)>>,
        orders: Vec<Vec<usize>>,
    }

    fn posts(program: &Program, color: usize, turn: usize) -> VecDeque<(usize, Queued)> {
        let turns = &program.0[color];
        let leaf = turns[turn].map(|to| (to, None));
        let next = (turn + 1 < turns.len()).then_some((color, Some(turn + 1)));
        leaf.into_iter().chain(next).collect()
    }

    /// The number of different orders, by trying all that can be next in each state.
    pub(super) fn count(program: &Program) -> usize {
        let colors = program.0.len();
        let mut turns = vec![VecDeque::new(); colors];
        turns.push((0..colors).map(|color| (color, Some(0))).collect());
        let queues = vec![VecDeque::new(); colors];
        let first = State { queues, turns, orders: vec![Vec::new(); colors] };
        let (mut left, mut seen, mut all) = (vec![first], BTreeSet::new(), BTreeSet::new());
        while let Some(state) = left.pop() {
            let mut is_last = true;
            for actor in 0..=colors {
                let mut next = state.clone();
                if let Some((to, what)) = next.turns[actor].pop_front() {
                    next.queues[to].push_back(what);
                    next.orders[to].push(actor);
                } else if let Some(turn) = next.queues.get_mut(actor).and_then(VecDeque::pop_front)
                {
                    next.turns[actor] =
                        turn.map_or(VecDeque::new(), |turn| posts(program, actor, turn));
                } else {
                    continue;
                }
                is_last = false;
                if seen.insert(next.clone()) {
                    left.push(next);
                }
            }
            if is_last {
                all.insert(state.orders);
            }
        }
        all.len()
    }
}

fn post_turn(program: Arc<Program>, cells: Arc<Vec<ColorCell<()>>>, color: usize, turn: usize) {
    let cell = cells[color].clone();
    cell.post(move |()| {
        let turns = &program.0[color];
        if let Some(to) = turns[turn] {
            cells[to].post(|()| ());
        }
        if turn + 1 < turns.len() {
            post_turn(program.clone(), cells.clone(), color, turn + 1);
        }
    });
}

async fn run(program: Program) {
    let colors = program.0.len();
    let cells: Vec<_> = (1..=colors as u64).map(|color| ColorCell::new(color, ())).collect();
    let (program, cells) = (Arc::new(program), Arc::new(cells));
    for color in 0..colors {
        post_turn(program.clone(), cells.clone(), color, 0);
    }
    // Time moves when all is over.
    sleep(Duration::from_secs(1)).await;
}

#[test]
fn as_many_as_an_enumeration_finds() {
    let mut random = 7_u64;
    let mut draw = |below: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    for (colors, turns, percent) in [(2, 2, 100), (2, 3, 60), (3, 2, 50), (3, 3, 30), (4, 3, 20)] {
        for _ in 0..2 {
            let mut turn = || (draw(100) < percent).then(|| draw(colors) as usize);
            let program = (0..colors).map(|_| (0..turns).map(|_| turn()).collect()).collect();
            let program = Program(program);
            let expected = model::count(&program);
            let found = Builder::new().exhaust(200_000, || run(program.clone()));
            assert!(found.is_complete(), "{program:?}: {found}");
            assert_eq!(found.classes(), expected, "{program:?}: {found}");
        }
    }
}

#[test]
fn calls_and_handles_are_tried_in_both_orders() {
    let program = |wrong: bool| async move {
        let balance = ColorCell::new(1, 100);
        let withdraw = |client: u64| {
            let balance = balance.clone();
            spawn_colored(client, async move {
                if wrong {
                    let seen = balance.call(|balance| *balance).await;
                    balance.call(move |balance| *balance = seen - 10).await;
                } else {
                    balance.call(|balance| *balance -= 10).await;
                }
            })
        };
        let (one, two) = (withdraw(2), withdraw(3));
        one.await.unwrap();
        two.await.unwrap();
        let left = balance.call(|balance| *balance).await;
        assert!(left == 80, "{left} are left");
    };
    let found = Builder::new().exhaust(10_000, || program(true));
    assert!(found.failure().unwrap().message().contains("90 are left"), "{found}");
    assert!(check_exhaustively(|| program(false)) > 2);
}

#[test]
fn what_is_not_exhausted_says_so() {
    let program = Program(vec![vec![Some(0), Some(1), Some(2), Some(0)]; 3]);
    let found = Builder::new().exhaust(20, || run(program.clone()));
    assert_eq!((found.runs(), found.is_complete()), (20, false));
    assert!(found.to_string().contains("the runs were not enough for all classes"), "{found}");
    let many = || async {
        for color in 0..70_u64 {
            spawn_colored(color, async {}).await.unwrap();
        }
    };
    let panic = panic_of(move || assert!(check_exhaustively(many) > 0));
    assert!(panic.contains("more than 64 colors") || panic.contains("not enough"), "{panic}");
}

/// Prints how long the classes of programs of four colors take that have four turns each.
#[test]
#[ignore = "a table of times: run with --release and --nocapture"]
fn four_colors_of_four_turns() {
    println!(
        "| turns that post | classes | by the enumeration | runs | seconds |\n|---|---|---|---|---|"
    );
    let mut random = 3_u64;
    for percent in [10, 20, 20, 20, 25, 25, 25] {
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        let mut turn = || (draw(100) < percent).then(|| draw(4) as usize);
        let program = Program((0..4).map(|_| (0..4).map(|_| turn()).collect()).collect());
        let expected = model::count(&program);
        let begin = std::time::Instant::now();
        let found = Builder::new().exhaust(1_000_000, || run(program.clone()));
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "| {percent} % | {} | {expected} | {} | {seconds:.2} |",
            found.classes(),
            found.runs()
        );
        assert!(found.is_complete() && found.classes() == expected, "{program:?}: {found}");
    }
}
