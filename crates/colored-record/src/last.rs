//! [`LastTurn`]: a turn with the events behind it, which may come again.

use crate::event::Event;

/// The events of a turn that has more are not remembered. A guess: a turn that receives and sends a message has four.
const MOST: usize = 16;

/// The events from the last turn that stands in the bytes; none if they are too many. The writer and the reader have the
/// same.
#[derive(Debug, Default)]
pub(crate) struct LastTurn(Vec<Event>);

impl LastTurn {
    /// This event stands in the bytes.
    pub(crate) fn note(&mut self, event: Event) {
        if let Event::Turn(_) = event {
            self.0.clear();
            self.0.push(event);
        } else if self.0.len() == MOST {
            self.0.clear();
        } else if !self.0.is_empty() {
            self.0.push(event);
        }
    }

    /// The turn and what is behind it.
    #[inline]
    pub(crate) fn events(&self) -> &[Event] {
        &self.0
    }

    /// Only so many events of the turn stand in the bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }
}
