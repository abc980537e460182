//! All classes of the schedules of a small program.
//!
//! Dynamic partial-order reduction, with source sets and sleep sets (Abdulla, Aronis, Jonsson and Sagonas, POPL 2014). A
//! step of an actor reaches from one choice to the next, and has at most one act on another color as a rule. Two steps
//! depend on each other if they act on the same color ([`are_dependent`]); each pair of such steps that no other step has
//! put in order is a *race*, and some later run has the two the other way around. So at least one run of each
//! [class](crate::classes) is made, and few classes have several.
//!
//! What orders two steps, beside dependence: they are of one actor; or the first one has made the second one's actor
//! runnable. An act behind others in a queue orders its turn behind it too, which is not counted here: so some runs are made
//! in vain, but none is left out.

use crate::choices::Choices;
use crate::replay::Replay;
use crate::script::{Asleep, Script, Step, are_dependent};
use crate::search::{Failure, Outcome, confirm};
use std::collections::{BTreeSet, HashSet};

/// The settings of an exhaustive search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The workers of each run.
    pub workers: usize,
    /// The most runs.
    pub runs: u64,
    /// Runs that may be spent on shrinking a failure.
    pub shrink_runs: usize,
}

/// The result of an exhaustive search.
#[derive(Clone, Debug)]
pub struct Exhausted {
    /// How many runs were made.
    pub runs: u64,
    /// How many classes they were of.
    pub classes: usize,
    /// Whether all classes were seen.
    pub is_complete: bool,
    /// The first failure, with which the search has ended.
    pub failure: Option<Failure>,
}

/// A state in which a choice was made.
struct Node {
    step: Step,
    /// The steps that were taken from here before.
    taken: Vec<Asleep>,
    /// The actors that are to go first from here, in some run.
    wanted: BTreeSet<usize>,
}

/// Makes a run of each class. `run` makes the choices of a run, and gives them back with its outcome.
pub fn exhaust(
    limits: &Limits,
    mut run: impl FnMut(&Replay, Choices) -> (Outcome, Choices),
) -> Exhausted {
    let mut replay = Replay::new(0, limits.workers);
    let (mut nodes, mut classes) = (Vec::new(), HashSet::new());
    let mut next = Some(Script::new(Vec::new(), Vec::new()));
    let mut runs = 0;
    while let Some(script) = next.take_if(|_| runs < limits.runs) {
        runs += 1;
        let (outcome, choices) = run(&replay, Choices::script(script));
        classes.insert(choices.class());
        if let Err(message) = outcome {
            replay.deviations = choices.deviations();
            let (trail, shrink_runs) = (choices.trail(), limits.shrink_runs);
            let failure = Some(confirm(shrink_runs, replay, trail, message, &mut run));
            return Exhausted { runs, classes: classes.len(), is_complete: false, failure };
        }
        let (steps, redundant) = choices.into_script().expect("made of a script").into_steps();
        add_steps(&mut nodes, steps, redundant);
        next = next_script(&mut nodes);
    }
    let is_complete = next.is_none();
    Exhausted { runs, classes: classes.len(), is_complete, failure: None }
}

/// Takes in the steps of a run. The last node is the state in which it was to choose another actor than the runs before.
fn add_steps(nodes: &mut Vec<Node>, mut steps: Vec<Step>, redundant: Option<usize>) {
    steps.truncate(redundant.unwrap_or(usize::MAX));
    let known = nodes.len();
    for (number, step) in steps.into_iter().enumerate() {
        if number < known {
            let node = &mut nodes[number];
            (node.step.actor, node.step.acts) = (step.actor, step.acts);
        } else {
            let wanted = BTreeSet::from([step.actor]);
            nodes.push(Node { step, taken: Vec::new(), wanted });
        }
    }
    reverse_races(nodes, known.saturating_sub(1));
}

/// Wants the other order of each race whose second step is not before `first`.
fn reverse_races(nodes: &mut [Node], first: usize) {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    for second in 0..nodes.len() {
        let mut earlier = BTreeSet::new();
        let mut races = Vec::new();
        for other in (0..second).rev().filter(|other| *other != second) {
            if earlier.contains(&other) {
                continue;
            }
            let (one, two) = (&nodes[other].step, &nodes[second].step);
            let is_ordered = one.actor == two.actor || has_enabled(nodes, other, second);
            if is_ordered || are_dependent(&one.acts, &two.acts) {
                if !is_ordered {
                    races.push(other);
                }
                earlier.insert(other);
                earlier.extend(&before[other]);
            }
        }
        before.push(earlier);
        for other in races.into_iter().filter(|_| second >= first) {
            want_other_order(nodes, &before, other, second);
        }
    }
}

/// Whether the actor of the second step, which could not run before the first one, can since.
fn has_enabled(nodes: &[Node], first: usize, second: usize) -> bool {
    let actor = nodes[second].step.actor;
    let can_run = |number: usize| nodes[number].step.runnable.contains(&actor);
    !can_run(first) && (first + 1..=second).all(can_run)
}

/// Wants a run in which the second step of a race comes before the first one.
fn want_other_order(nodes: &mut [Node], before: &[BTreeSet<usize>], first: usize, second: usize) {
    let is_free = |number: &usize| !before[*number].contains(&first);
    let rest: Vec<usize> = (first + 1..second).filter(is_free).chain([second]).collect();
    let is_initial = |number: &&usize| rest.iter().all(|other| !before[**number].contains(other));
    let mut seen = BTreeSet::new();
    let mut initials = BTreeSet::new();
    for number in &rest {
        let actor = nodes[*number].step.actor;
        if seen.insert(actor) && is_initial(&number) {
            initials.insert(actor);
        }
    }
    let node = &mut nodes[first];
    if node.wanted.intersection(&initials).next().is_some() {
        return;
    }
    match initials.iter().find(|actor| node.step.runnable.contains(actor)) {
        Some(actor) => drop(node.wanted.insert(*actor)),
        None => node.wanted.extend(&node.step.runnable),
    }
}

/// The choices of the next run: another actor in the last state that wants one.
fn next_script(nodes: &mut Vec<Node>) -> Option<Script> {
    while let Some(node) = nodes.last_mut() {
        let Step { actor, acts, asleep, .. } = &node.step;
        node.taken.push(Asleep { actor: *actor, acts: acts.clone() });
        let is_over =
            |actor: &usize| node.taken.iter().chain(asleep).any(|other| other.actor == *actor);
        if let Some(next) = node.wanted.iter().copied().find(|actor| !is_over(actor)) {
            let asleep = node.taken.iter().chain(asleep).cloned().collect();
            node.step.actor = next;
            let given = nodes.iter().map(|node| node.step.actor).collect();
            return Some(Script::new(given, asleep));
        }
        nodes.pop();
    }
    None
}

#[cfg(test)]
mod tests;
