#!/usr/bin/env bash
# The symmetry reduction of stateright has no effect on a breadth-first search: no error, no message, and all states.
#
# Version: stateright 0.31.0 (the newest in November 2026), Rust 1.95.0.
# One would guess 84 states with both searches: `symmetry` is a method of the builder that all searches share, it asks for a trait
# that the state must have, and neither its documentation nor that of `spawn_bfs` names an exception. Depth-first search and
# simulation look at what was set there. Breadth-first search, and the one on demand that the explorer in the browser uses, never
# read it. So somebody who wants the shortest path to an error, for which there is only breadth-first search, waits for a search
# of all permutations, and looks for the mistake in the representative.
#
# Seen, the unique states of six equal counters that go from 0 to 3, without and with `symmetry()`:
#   spawn_dfs: 4096, 84
#   spawn_bfs: 4096, 4096
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "symmetry"
version = "0.1.0"
edition = "2021"

[dependencies]
stateright = "=0.31.0"
E
cat >src/main.rs <<'E'
use stateright::{Checker, Model, Property, Representative};

/// Six counters from 0 to 3, of which one goes up by one in each step.
#[derive(Clone)]
struct Counters;

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct State([u8; 6]);

impl Representative for State {
    fn representative(&self) -> Self {
        let mut sorted = self.clone();
        sorted.0.sort();
        sorted
    }
}

impl Model for Counters {
    type State = State;
    type Action = usize;

    fn init_states(&self) -> Vec<State> {
        vec![State([0; 6])]
    }

    fn actions(&self, state: &State, actions: &mut Vec<usize>) {
        actions.extend((0..6).filter(|&counter| state.0[counter] < 3));
    }

    fn next_state(&self, state: &State, counter: usize) -> Option<State> {
        let mut next = state.clone();
        next.0[counter] += 1;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("at most 3", |_, state: &State| state.0.iter().all(|&counter| counter <= 3))]
    }
}

fn main() {
    let all = Counters.checker().spawn_dfs().join().unique_state_count();
    let fewer = Counters.checker().symmetry().spawn_dfs().join().unique_state_count();
    println!("spawn_dfs: {all}, {fewer}");
    let all = Counters.checker().spawn_bfs().join().unique_state_count();
    let fewer = Counters.checker().symmetry().spawn_bfs().join().unique_state_count();
    println!("spawn_bfs: {all}, {fewer}");
}
E
seen=$(cargo run -q)
echo "$seen"
expected='spawn_dfs: 4096, 84
spawn_bfs: 4096, 4096'
[ "$seen" = "$expected" ] || { echo "changed: the searches use the symmetry in another way"; exit 1; }
