//! [`Early`]: the things of one color that have come before their turns, and the record that says whose turn is next.

use crate::kernel::lane::base::LanePtr;
use crate::kernel::queue::Node;
use crate::kernel::queue::Tag;
use colored_record::{Event, Mark, Reader, Source, SourceKind, Turn};
use std::collections::{HashMap, VecDeque};
use std::ptr::NonNull;

/// A node that has been pushed, and is in no chain.
#[derive(Clone, Copy)]
pub(super) struct Pushed {
    pub(super) node: NonNull<Node>,
    pub(super) lane: LanePtr,
    pub(super) is_task: bool,
}

/// A task that has had a turn under the color.
struct Known {
    pushed: Pushed,
    is_ready: bool,
}

/// What comes next.
pub(super) enum Next {
    /// A turn is in progress, or nothing is to wait.
    Busy,
    /// Let this in.
    Admit(Pushed),
    /// This task is the next one, and waits.
    Wake(Pushed),
    /// It is not covered.
    Refused { text: String },
    /// It has not come.
    Missing { text: String, is_outside: bool },
    /// The poll of the turn in progress waits.
    Blocked { text: String },
    /// The record has no more turns of the color, and more has come.
    Over { text: String },
    /// Nothing is missing.
    End,
}

pub(super) struct Early {
    pub(super) reader: Reader,
    pushed: HashMap<Source, VecDeque<Pushed>>,
    tasks: HashMap<u32, Known>,
    next_task: u32,
    is_in_turn: bool,
    /// What the poll in progress waits for.
    pub(super) blocked: Option<Mark>,
}

impl Early {
    pub(super) fn new(reader: Reader) -> Self {
        Self {
            reader,
            pushed: HashMap::new(),
            tasks: HashMap::new(),
            next_task: 0,
            is_in_turn: false,
            blocked: None,
        }
    }

    /// Takes a node that is pushed.
    pub(super) fn put(&mut self, pushed: Pushed, tag: &Tag) {
        if let Some(known) = tag.task().and_then(|task| self.tasks.get_mut(&task)) {
            known.pushed = pushed;
            known.is_ready = true;
        } else {
            self.pushed.entry(tag.source()).or_default().push_back(pushed);
        }
    }

    /// Takes all nodes out that wait.
    pub(super) fn take_all(&mut self) -> Vec<Pushed> {
        let mut all: Vec<_> = self.pushed.drain().flat_map(|(_, pushed)| pushed).collect();
        for known in self.tasks.values_mut().filter(|known| known.is_ready) {
            known.is_ready = false;
            all.push(known.pushed);
        }
        all
    }

    /// The tasks that have had a turn, and are not among those that wait to be let in.
    pub(super) fn known(&self) -> impl Iterator<Item = Pushed> + '_ {
        self.tasks.values().filter(|known| !known.is_ready).map(|known| known.pushed)
    }

    /// What comes next. `Admit` begins a turn.
    pub(super) fn next(&mut self, color: Source, is_forced: bool, takes: bool) -> Next {
        if self.is_in_turn {
            return self.blocked.map_or(Next::Busy, |mark| Next::Blocked {
                text: format!(
                    "{color}, turn {}: {mark} waits for its outcome",
                    self.reader.turns()
                ),
            });
        }
        let next = self.reader.turns() + 1;
        let Some(Event::Turn(turn)) = self.reader.peek().ok().flatten() else {
            return match self.pushed.iter().find(|(_, pushed)| !pushed.is_empty()) {
                Some((source, _)) => Next::Over {
                    text: format!(
                        "{color}: the record ends before its turn {next}, and {source} has pushed more"
                    ),
                },
                None => Next::End,
            };
        };
        let found = match turn {
            Turn::Push(source) if source.kind == SourceKind::Stranger => {
                let text = format!(
                    "no record covers what another thread spawns or posts: {color}, turn {next}"
                );
                return Next::Refused { text };
            }
            Turn::Push(source) => {
                let queue = self.pushed.get_mut(&source);
                queue.and_then(
                    |queue| if takes { queue.pop_front() } else { queue.front().copied() },
                )
            }
            Turn::Again { task, outside } => match self.tasks.get_mut(&task) {
                Some(known) if known.is_ready => {
                    known.is_ready = !takes;
                    Some(known.pushed)
                }
                Some(known) if outside || is_forced => return Next::Wake(known.pushed),
                _ => None,
            },
        };
        match found {
            Some(pushed) => {
                self.is_in_turn |= takes;
                Next::Admit(pushed)
            }
            None => {
                let is_outside =
                    matches!(turn, Turn::Push(source) if source.kind == SourceKind::Maker);
                let text = format!(
                    "{color}, turn {next}: the record has {}, which does not come",
                    Event::Turn(turn)
                );
                Next::Missing { text, is_outside }
            }
        }
    }

    /// The turn of a node begins that has been let in. False if it is another one's.
    pub(super) fn begin(&mut self, pushed: Pushed, tag: &Tag) -> bool {
        let turn = match self.reader.take() {
            Ok(Some(Event::Turn(turn))) => turn,
            _ => return false,
        };
        match turn {
            Turn::Push(source) if tag.task().is_none() && source == tag.source() => {
                if pushed.is_task {
                    tag.set_task(Some(self.next_task));
                    self.tasks.insert(self.next_task, Known { pushed, is_ready: false });
                    self.next_task += 1;
                }
                true
            }
            Turn::Again { task, .. } => tag.task() == Some(task),
            Turn::Push(_) => false,
        }
    }

    /// The turn is over. The event that it should have come to, if there is one.
    pub(super) fn end(&mut self) -> Option<Event> {
        self.is_in_turn = false;
        self.reader.peek().ok().flatten().filter(|event| !matches!(event, Event::Turn(_)))
    }

    /// A task has had its last turn here.
    pub(super) fn forget(&mut self, task: u32) {
        self.tasks.remove(&task);
    }
}
