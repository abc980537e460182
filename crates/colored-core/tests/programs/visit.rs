//! Closures of cells.

use crate::act;
use crate::here;
use crate::plan::Acts;
use crate::value::Value;
use crate::world::{Hands, Token};

/// A closure that the runtime takes to a value: its acts, and the order in which it must come.
pub(crate) struct Visit {
    hands: Hands,
    acts: Acts,
    order: Option<(u64, u64)>,
    token: Token,
}

impl Visit {
    pub(crate) fn new(hands: &Hands, acts: &Acts, order: Option<(u64, u64)>) -> Self {
        let token = Token::new(&hands.world);
        Self { hands: hands.give(acts.keep), acts: acts.clone(), order, token }
    }

    fn write(&self, value: &mut Value) {
        self.token.look();
        match self.order {
            Some(order) => value.write_in_order(order),
            None => value.write(),
        }
    }

    pub(crate) fn change(mut self, value: &mut Value) {
        here::under(Some(value.hue().clone()), || {
            self.write(value);
            act::all(&mut self.hands, &self.acts, None);
            value.write();
        });
    }

    /// Changes some of the values, and looks at the others.
    pub(crate) fn change_all(mut self, places: &mut [Place<'_>]) {
        let sum = |places: &[Place<'_>]| {
            let seen = places.iter().map(|place| match place {
                Place::Seen(value) => value.read(),
                Place::Changed(_) => 0,
            });
            seen.sum::<u64>()
        };
        let mut first = None;
        for place in places.iter_mut() {
            if let Place::Changed(value) = place {
                // Several values may be of one color; this thread has all of their colors.
                let hue = value.hue().clone();
                here::under(Some(hue.clone()), || self.write(value));
                first.get_or_insert(hue);
            }
        }
        let before = sum(places);
        // The closure may run beside its colors, and not under them. There an act could wait for the closure
        // itself.
        here::keep(|| here::under(first, || act::all(&mut self.hands, &self.acts, None)));
        assert_eq!(before, sum(places), "somebody has changed what is looked at");
    }

    pub(crate) fn act(mut self) {
        self.token.look();
        act::all(&mut self.hands, &self.acts, None);
    }
}

/// The access that a closure has to a cell.
pub(crate) enum Place<'a> {
    Changed(&'a mut Value),
    Seen(&'a Value),
}
