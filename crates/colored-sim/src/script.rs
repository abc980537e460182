//! The choices of a run of an exhaustive search: given ones, and from then on what may lead to another class.

use crate::strategy::{Act, Situation};

/// What an actor has done from one choice to the next.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The actors that could be chosen.
    pub(crate) runnable: Vec<usize>,
    pub(crate) actor: usize,
    pub(crate) acts: Vec<Act>,
    /// What need not be the next step: all that may follow was seen after another order of independent steps.
    pub(crate) asleep: Vec<Asleep>,
}

/// A step that was taken in another run, in the same state.
#[derive(Clone, Debug)]
pub(crate) struct Asleep {
    pub(crate) actor: usize,
    pub(crate) acts: Vec<Act>,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Script {
    given: Vec<usize>,
    asleep: Vec<Asleep>,
    steps: Vec<Step>,
    redundant: Option<usize>,
}

impl Script {
    /// The choices `given`, of which the last one is made in a state in which `asleep` need not follow.
    pub(crate) fn new(given: Vec<usize>, asleep: Vec<Asleep>) -> Self {
        Self { given, asleep, steps: Vec::new(), redundant: None }
    }

    pub(crate) fn choose(&mut self, at: Situation<'_>, default: usize) -> usize {
        let number = self.steps.len();
        let is_given = number < self.given.len();
        if let Some(last) = self.steps.last()
            && !is_given
        {
            let step = |asleep: &Asleep| (asleep.actor, last.actor);
            self.asleep.retain(|asleep| {
                let (one, two) = step(asleep);
                one != two && !are_dependent(&asleep.acts, &last.acts)
            });
        }
        let is_awake = |actor: &usize| self.asleep.iter().all(|asleep| asleep.actor != *actor);
        let actor = if is_given {
            self.given[number]
        } else if is_awake(&default) {
            default
        } else if let Some(actor) = at.runnable.iter().copied().find(is_awake) {
            actor
        } else {
            self.redundant.get_or_insert(number);
            default
        };
        // A program that something else decides may not follow.
        let actor = if at.runnable.contains(&actor) { actor } else { default };
        let asleep = if is_given { Vec::new() } else { self.asleep.clone() };
        self.steps.push(Step { runnable: at.runnable.to_vec(), actor, acts: Vec::new(), asleep });
        actor
    }

    pub(crate) fn note_act(&mut self, act: Act) {
        if let Some(step) = self.steps.last_mut() {
            step.acts.push(act);
        }
    }

    /// The steps of the run; and the first one after which all classes have been seen, if there is one.
    pub(crate) fn into_steps(self) -> (Vec<Step>, Option<usize>) {
        (self.steps, self.redundant)
    }
}

/// Whether the order of two steps of different actors matters: both act on one color, or one takes a color, which it finds
/// idle or not, while the other runs under it.
pub(crate) fn are_dependent(one: &[Act], two: &[Act]) -> bool {
    let takes = |acts: &[Act], others: &[Act]| {
        let runs_under = |color| {
            // A step without an act may be under any color.
            others.is_empty() || others.iter().any(|other| other.by == Some(color))
        };
        acts.iter().any(|act| act.takes && runs_under(act.on))
    };
    let both = one.iter().any(|one| two.iter().any(|two| one.on == two.on));
    both || takes(one, two) || takes(two, one)
}
