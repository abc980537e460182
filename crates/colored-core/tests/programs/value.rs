//! The values of the cells.

use crate::here;
use crate::plan::Acts;
use crate::world::{Hands, Hue, Later, Token};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that reports two writers at once, or a reader beside a writer.
pub(crate) struct Value {
    hue: Hue,
    number: u64,
    same: Box<u64>,
    writers: AtomicUsize,
    readers: AtomicUsize,
    /// Each writer that must be in order, and the number of its last write.
    last: Vec<(u64, u64)>,
    token: Token,
    later: Option<Later>,
}

impl Value {
    pub(crate) fn new(hands: &Hands, hue: Hue, destructor: Option<&Acts>) -> Self {
        Self {
            hue,
            number: 0,
            same: Box::new(0),
            writers: AtomicUsize::new(0),
            readers: AtomicUsize::new(0),
            last: Vec::new(),
            token: Token::new(&hands.world),
            later: destructor.map(|acts| Later::bare(hands, acts)),
        }
    }

    pub(crate) fn hue(&self) -> &Hue {
        &self.hue
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Changes the value.
    pub(crate) fn write(&mut self) {
        self.token.look();
        assert_eq!(self.writers.fetch_add(1, Ordering::Relaxed), 0, "two change a value at once");
        assert_eq!(self.readers.load(Ordering::Relaxed), 0, "somebody looks at what is changed");
        assert_eq!(self.number, *self.same, "a value is half changed");
        self.number += 1;
        *self.same += 1;
        self.writers.fetch_sub(1, Ordering::Relaxed);
    }

    /// As `write`, for a writer whose writes must come in their order.
    pub(crate) fn write_in_order(&mut self, (who, count): (u64, u64)) {
        self.write();
        match self.last.iter_mut().find(|last| last.0 == who) {
            Some((_, last)) => {
                assert!(*last < count, "{count} of {who} came after {last}");
                *last = count;
            }
            None => self.last.push((who, count)),
        }
    }

    /// Looks at the value.
    pub(crate) fn read(&self) -> u64 {
        self.token.look();
        self.readers.fetch_add(1, Ordering::Relaxed);
        assert_eq!(self.writers.load(Ordering::Relaxed), 0, "somebody changes what is looked at");
        assert_eq!(self.number, *self.same, "a value is half changed");
        self.readers.fetch_sub(1, Ordering::Relaxed);
        self.number
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        here::in_destructor(|| {
            here::under(Some(self.hue.clone()), || {
                self.token.look();
                drop(self.later.take());
            });
        });
    }
}
