//! The actors that can go on.

use super::Turns;
use super::state::State;
use crate::sim::hosts::Hosts;
use std::mem;

/// Threads of a run. Some 20 µs each, for runs that use them.
pub(super) const MOST_THREADS: usize = 65;

impl Turns {
    /// Lists the actors that can go on. `inside` is the actor whose turn this thread is in.
    pub(super) fn list_candidates(
        &self,
        state: &mut State,
        hosts: &Hosts,
        inside: Option<usize>,
        thread: usize,
    ) {
        let is_between = inside.is_none() && state.paused.is_empty();
        let changes = if is_between { hosts.changes() } else { None };
        if changes.is_some() && changes == state.candidates.changes {
            return;
        }
        let mut of = mem::take(&mut state.candidates);
        of.changes = changes;
        of.paused.clear();
        of.paused.extend(state.paused.iter().map(|paused| paused.actor));
        hosts.list_runnable(&mut of.runnable);
        if inside.is_some() || !of.paused.is_empty() || hosts.has_pins() {
            let has_thread = !state.idle.is_empty() || state.threads < MOST_THREADS;
            of.runnable.retain(|actor| {
                if inside == Some(*actor) || of.paused.contains(actor) {
                    return false;
                }
                match hosts.thread_of(*actor) {
                    Some(pinned) => {
                        state.idle.contains(&pinned) || inside.is_none() && pinned == thread
                    }
                    None => inside.is_none() || has_thread,
                }
            });
            of.runnable.extend(inside.iter().chain(&of.paused));
            of.runnable.sort_unstable();
        }
        state.candidates = of;
    }
}
