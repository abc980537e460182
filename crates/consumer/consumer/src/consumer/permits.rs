//! How the claims of a consumer share the runs that may be under way at a time: each run needs a permit.
//!
//! Invariants:
//!
//! * The permits that are free, and those that claims have, are as many as runs may be under way.
//! * No claim waits while a permit is free, but for one that has a permit on its way. So a claim that gives a permit back hands
//!   it to the first in line.
//! * A claim that waits is in line once, and gets a permit before any that came later get their next one. One that got permits by a
//!   post is in line again when it has heard of them: so a claim whose turn takes long gets no others meanwhile.

use std::collections::{BTreeMap, VecDeque};
use std::mem;

/// What a claim has, and what it waits for.
#[derive(Debug, Default)]
struct Has {
    permits: usize,
    wanted: usize,
    is_in_line: bool,
}

/// The permits of a consumer.
#[derive(Debug)]
pub(crate) struct Permits {
    free: usize,
    claims: BTreeMap<u64, Has>,
    line: VecDeque<u64>,
}

/// Claims that got permits, with how many.
pub(crate) type Granted = Vec<(u64, usize)>;

impl Permits {
    pub(crate) fn new(free: usize) -> Permits {
        Permits { free, claims: BTreeMap::new(), line: VecDeque::new() }
    }

    pub(crate) fn insert(&mut self, id: u64) {
        self.claims.insert(id, Has::default());
    }

    /// The claim has gone, with all its runs.
    pub(crate) fn remove(&mut self, id: u64) -> Granted {
        self.free += self.claims.remove(&id).map_or(0, |of| of.permits);
        self.grant(id).1
    }

    /// A claim gives so many permits back, and wants so many from now on. Returns how many it got, and what others got.
    pub(crate) fn settle(&mut self, id: u64, back: usize, wanted: usize) -> (usize, Granted) {
        // One that has gone has given all back.
        let Some(of) = self.claims.get_mut(&id) else { return (0, Vec::new()) };
        of.permits -= back;
        self.free += back;
        of.wanted = wanted;
        if wanted > 0 && !mem::replace(&mut of.is_in_line, true) {
            self.line.push_back(id);
        }
        self.grant(id)
    }

    /// Gives what is free to those in line.
    fn grant(&mut self, own: u64) -> (usize, Granted) {
        let (mut to_own, mut to_others) = (0, Vec::new());
        while self.free > 0
            && let Some(id) = self.line.pop_front()
        {
            let Some(of) = self.claims.get_mut(&id) else { continue };
            // Its part: it may be long before it hears of them.
            let granted = of.wanted.min(self.free.div_ceil(self.line.len() + 1));
            self.free -= granted;
            of.permits += granted;
            of.wanted -= granted;
            of.is_in_line = of.wanted > 0 && id == own;
            if of.is_in_line {
                self.line.push_back(id);
            }
            match granted {
                0 => {}
                _ if id == own => to_own += granted,
                _ => to_others.push((id, granted)),
            }
        }
        (to_own, to_others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a claim of the test has: lanes that are ready, runs, and permits that are on their way to it.
    #[derive(Clone, Default)]
    struct Model {
        ready: usize,
        runs: usize,
        coming: usize,
    }

    const MOST: usize = 3;

    fn settle(permits: &mut Permits, all: &mut BTreeMap<u64, Model>, id: u64, back: usize) {
        let of = all.get_mut(&id).unwrap();
        let (granted, others) = permits.settle(id, back, of.ready);
        of.ready -= granted;
        of.runs += granted;
        note(all, others);
    }

    fn note(all: &mut BTreeMap<u64, Model>, others: Granted) {
        others.into_iter().for_each(|(id, granted)| all.get_mut(&id).unwrap().coming += granted);
    }

    /// Claims come and go, records come, runs end, and permits are on their way, in any order. None is lost, none is made, and while
    /// one is free nobody waits who has none on its way.
    #[test]
    fn no_claim_waits_while_a_permit_is_free() {
        for seed in 0..300 {
            let mut chance = fastrand::Rng::with_seed(seed);
            let (mut permits, mut all) = (Permits::new(MOST), BTreeMap::<u64, Model>::new());
            for step in 0..400 {
                let of = chance.choice(all.keys().copied().collect::<Vec<_>>());
                let of = of.filter(|_| chance.u8(..8) > 0);
                match (of, chance.u8(..8)) {
                    (None, _) => {
                        permits.insert(step);
                        all.insert(step, Model::default());
                    }
                    (Some(id), 0) => {
                        all.remove(&id);
                        let granted = permits.remove(id);
                        note(&mut all, granted);
                    }
                    (Some(id), 1..4) => {
                        all.get_mut(&id).unwrap().ready += chance.usize(..4);
                        settle(&mut permits, &mut all, id, 0);
                    }
                    (Some(id), 4..6) => {
                        let of = all.get_mut(&id).unwrap();
                        let back = chance.usize(..=of.runs);
                        of.runs -= back;
                        settle(&mut permits, &mut all, id, back);
                    }
                    (Some(id), _) => {
                        // It uses what has come, or less: its lanes may wait for another reason meanwhile.
                        let of = all.get_mut(&id).unwrap();
                        let came = mem::take(&mut of.coming);
                        let used = chance.usize(..=came.min(of.ready));
                        of.ready -= used;
                        of.runs += used;
                        settle(&mut permits, &mut all, id, came - used);
                    }
                }
                let taken: usize = all.values().map(|of| of.runs + of.coming).sum();
                assert_eq!(taken + permits.free, MOST, "seed {seed}, step {step}");
                let waits = |of: &Model| of.ready > 0 && of.coming == 0;
                let someone_waits = all.values().any(waits);
                assert!(permits.free == 0 || !someone_waits, "seed {seed}, step {step}");
            }
        }
    }

    /// However much others want, the next permits go to who has waited longest.
    #[test]
    fn no_claim_starves() {
        let mut permits = Permits::new(2);
        (0..3).for_each(|id| permits.insert(id));
        assert_eq!(permits.settle(0, 0, 100), (2, vec![]));
        assert_eq!(permits.settle(1, 0, 1), (0, vec![]));
        assert_eq!(permits.settle(2, 0, 100), (0, vec![]));
        assert_eq!(permits.settle(0, 1, 98), (1, vec![]), "it was first in line");
        assert_eq!(permits.settle(0, 2, 97), (0, vec![(1, 1), (2, 1)]));
        assert_eq!(permits.settle(1, 1, 5), (0, vec![(0, 1)]));
        assert_eq!(permits.remove(2), vec![(1, 1)]);
        assert_eq!(permits.settle(1, 0, 0), (0, vec![]));
    }

    /// It may be long until a claim hears of its permits: it gets no others until then, and no more than its part.
    #[test]
    fn no_claim_hoards() {
        let mut permits = Permits::new(4);
        (0..3).for_each(|id| permits.insert(id));
        assert_eq!(permits.settle(0, 0, 4), (4, vec![]));
        assert_eq!(permits.settle(1, 0, 100), (0, vec![]));
        assert_eq!(permits.settle(2, 0, 1), (0, vec![]));
        assert_eq!(permits.settle(0, 2, 100), (0, vec![(1, 1), (2, 1)]));
        assert_eq!(permits.settle(0, 2, 100), (2, vec![]), "the others have theirs to come");
        assert_eq!(permits.settle(1, 0, 99), (0, vec![]), "it has heard of it");
        assert_eq!(permits.settle(0, 2, 0), (0, vec![(1, 2)]));
    }
}
