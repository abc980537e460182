//! G2 does not depend on the colors that a program chooses: the requests of one task to one cell run in the order
//! in which the task makes them, whether all cells are under the task's own color or each has its own.
//!
//! A seed makes a program in which only one task uses each cell, so that the guarantees leave nothing about its
//! answers open. The program runs under several assignments of colors, and the test compares the answers with a
//! reference that executes one request after the other.

use crate::doubles::NeverParks;
use colored_core::{
    Color, ColorCell, Scheduler, SchedulerHandle, Step, hop, shared, when, yield_now,
};
use std::sync::{Arc, Mutex};

/// A xorshift generator: a program depends on its seed alone.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// A request of a task, to its own cells by their places.
#[derive(Clone, Debug)]
enum Request {
    /// Appends a number by `post`.
    Post(usize, u64),
    /// Appends a number by `call`, and answers the content.
    Call(usize, u64),
    /// As `Call`, and the closure posts the number to another cell.
    CallThatPosts(usize, usize, u64),
    Read(usize),
    /// Appends to one cell by `when`.
    WhenOne(usize, u64),
    /// Appends to both, and answers both.
    WhenTwo(usize, usize, u64),
    /// Answers all.
    WhenShared,
    /// Moves to the color of a cell, and appends by `with`, which is part of the turn.
    HopAndWith(usize, u64),
    /// Moves to the color of a cell where the task may be already, then back.
    Hop(usize),
    Yield,
}

type Content = Vec<u64>;

fn program(random: &mut Random, cells: usize) -> Vec<Request> {
    let number = |step: usize| 1000 + step as u64;
    let request = |step: usize, random: &mut Random| {
        let (a, b) = (random.below(cells), random.below(cells));
        match random.below(11) {
            0..3 => Request::Post(a, number(step)),
            3 => Request::Call(a, number(step)),
            4 if a != b => Request::CallThatPosts(a, b, number(step)),
            4 | 5 => Request::Read(a),
            6 => Request::WhenOne(a, number(step)),
            7 if a != b => Request::WhenTwo(a, b, number(step)),
            7 => Request::WhenShared,
            8 => Request::HopAndWith(a, number(step)),
            9 => Request::Hop(a),
            _ => Request::Yield,
        }
    };
    let steps = 1 + random.below(30);
    (0..steps).map(|step| request(step, random)).collect()
}

/// The answers of a program that does one thing after the other.
fn reference(program: &[Request], cells: usize) -> Vec<Content> {
    let mut contents = vec![Content::new(); cells];
    let mut answers = Vec::new();
    for request in program {
        match *request {
            Request::Post(cell, n) => contents[cell].push(n),
            Request::Call(cell, n) | Request::WhenOne(cell, n) | Request::HopAndWith(cell, n) => {
                contents[cell].push(n);
                answers.push(contents[cell].clone());
            }
            Request::CallThatPosts(cell, other, n) => {
                contents[cell].push(n);
                contents[other].push(n);
                answers.push(contents[cell].clone());
            }
            Request::Read(cell) => answers.push(contents[cell].clone()),
            Request::WhenTwo(a, b, n) => {
                for cell in [a, b] {
                    contents[cell].push(n);
                    answers.push(contents[cell].clone());
                }
            }
            Request::WhenShared => answers.extend(contents.iter().cloned()),
            Request::Hop(_) | Request::Yield => {}
        }
    }
    answers.extend(contents);
    answers
}

async fn run(program: Vec<Request>, cells: Vec<ColorCell<Content>>, home: Color) -> Vec<Content> {
    let mut answers = Vec::new();
    let push = |n| {
        move |content: &mut Content| {
            content.push(n);
            content.clone()
        }
    };
    for request in program {
        match request {
            Request::Post(cell, n) => cells[cell].post(move |content| content.push(n)),
            Request::Call(cell, n) => answers.push(cells[cell].call(push(n)).await),
            Request::CallThatPosts(cell, other, n) => {
                let other = cells[other].clone();
                let answer = cells[cell].call(move |content| {
                    other.post(move |content| content.push(n));
                    content.push(n);
                    content.clone()
                });
                answers.push(answer.await);
            }
            Request::Read(cell) => answers.push(cells[cell].read(Content::clone).await),
            Request::WhenOne(cell, n) => answers.push(when((&cells[cell],), push(n)).await),
            Request::WhenTwo(a, b, n) => {
                let both = move |a: &mut Content, b: &mut Content| [a, b].map(push(n));
                answers.extend(when((&cells[a], &cells[b]), both).await);
            }
            Request::WhenShared => {
                let all = when(shared(&cells), |all| all.iter().cloned().collect::<Vec<_>>());
                answers.extend(all.await);
            }
            Request::HopAndWith(cell, n) => {
                hop(cells[cell].color()).await;
                answers.push(cells[cell].with(push(n)));
                hop(home).await;
            }
            Request::Hop(cell) => {
                hop(cells[cell].color()).await;
                hop(home).await;
            }
            Request::Yield => yield_now().await,
        }
    }
    for cell in &cells {
        answers.push(cell.call(|content| content.clone()).await);
    }
    answers
}

/// The color of a cell, by its task and its place; and the color of a task.
type Colors = fn(task: usize, cell: usize) -> Color;
type Homes = fn(task: usize) -> Color;

const ASSIGNMENTS: [(&str, Colors, Homes); 5] = [
    ("all under the default color", |_, _| Color::DEFAULT, |_| Color::DEFAULT),
    ("a color for each cell", |task, cell| color(task * 10 + cell), |_| Color::DEFAULT),
    ("a color for each task, which its cells share", |task, _| color(task), color),
    ("two colors for all", |_, cell| color(cell % 2), |task| color(task % 2)),
    (
        "a color for each cell, the first one the task's",
        |task, cell| color(task * 10 + cell),
        |task| color(task * 10),
    ),
];

fn color(n: usize) -> Color {
    Color::new(100 + n as u64)
}

type Answers = Arc<Mutex<Vec<Option<Vec<Content>>>>>;

fn spawn_all(
    handle: &SchedulerHandle,
    programs: &[(Vec<Request>, usize)],
    (color, home): (Colors, Homes),
) -> Answers {
    let answers: Answers = Arc::new(Mutex::new(vec![None; programs.len()]));
    for (task, (program, count)) in programs.iter().enumerate() {
        let cells = (0..*count).map(|cell| ColorCell::new_in(handle, color(task, cell), vec![]));
        let (cells, program) = (cells.collect(), program.clone());
        let (answers, home) = (Arc::clone(&answers), home(task));
        drop(handle.spawn_colored(home, async move {
            let answer = run(program, cells, home).await;
            answers.lock().unwrap()[task] = Some(answer);
        }));
    }
    answers
}

fn check(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut programs = Vec::new();
    for _ in 0..1 + random.below(4) {
        let cells = 1 + random.below(4);
        programs.push((program(&mut random, cells), cells));
    }
    let count = 1 + random.below(3);
    for (name, color, home) in ASSIGNMENTS {
        let (handle, mut workers) = Scheduler::with_workers(count, seed, Box::new(NeverParks));
        let answers = spawn_all(&handle, &programs, (color, home));
        // The test steps the workers in any order, until each has found nothing in turn, twice.
        let mut idle = 0;
        while idle < 2 * count {
            let worker = if idle == 0 { random.below(count) } else { idle % count };
            idle = if workers[worker].step() == Step::Ran { 0 } else { idle + 1 };
        }
        for (task, (program, cells)) in programs.iter().enumerate() {
            let answer = answers.lock().unwrap()[task].clone();
            let expected = reference(program, *cells);
            assert_eq!(
                answer.as_ref(),
                Some(&expected),
                "seed {seed}, {name}, {count} workers, task {task}: {program:?}"
            );
        }
        handle.scheduler().shut_down();
        for worker in &mut workers {
            while worker.step() == Step::Ran {}
        }
    }
}

/// Shows G2.
#[test]
fn answers_do_not_depend_on_the_colors() {
    let seeds = if cfg!(miri) { 2 } else { 600 };
    (0..seeds).for_each(check);
}

/// The example of the guide.
/// Shows G2.
#[test]
fn a_call_comes_after_a_post_also_under_the_own_color() {
    for color in [Color::DEFAULT, Color::new(1)] {
        let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
        let cell = ColorCell::new_in(&handle, color, 0);
        let answer = Arc::new(Mutex::new(None));
        let put = Arc::clone(&answer);
        drop(handle.spawn_colored(Color::DEFAULT, async move {
            cell.post(|n| *n += 1);
            *put.lock().unwrap() = Some(cell.call(|n| *n).await);
        }));
        while workers[0].step() == Step::Ran {}
        assert_eq!(*answer.lock().unwrap(), Some(1), "{color:?}");
    }
}
