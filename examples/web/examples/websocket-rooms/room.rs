//! A room: state of one color, without a lock.

use colored::limit::Permit;
use colored::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A line for everybody. All members share one text, and its permit of the room's limit: it is free again when
/// the last one has sent the line, or is out.
#[derive(Clone)]
pub(crate) struct Line(Arc<(String, Option<Permit>)>);

impl Line {
    pub(crate) fn text(&self) -> &str {
        &self.0.0
    }
}

/// The members.
#[derive(Default)]
pub(crate) struct Room {
    members: BTreeMap<u64, Member>,
    next: u64,
}

struct Member {
    name: String,
    /// This queue needs no limit of its own: the room has one.
    lines: UnboundedSender<Line>,
}

impl Room {
    /// Admits a member. Returns its number, and the lines that it is to hear until it leaves.
    pub(crate) fn join(&mut self, name: String) -> (u64, UnboundedReceiver<Line>) {
        let (lines, receiver) = unbounded_channel();
        let number = self.next;
        self.next += 1;
        let news = format!("* {name} is here\n");
        self.members.insert(number, Member { name, lines });
        self.tell(news, None);
        (number, receiver)
    }

    pub(crate) fn say(&mut self, number: u64, text: &str, permit: Permit) {
        if let Some(member) = self.members.get(&number) {
            let line = format!("{}: {text}\n", member.name);
            self.tell(line, Some(permit));
        }
    }

    /// Does nothing for a member that has already left.
    pub(crate) fn put_out(&mut self, number: u64, why: &str) {
        if let Some(member) = self.members.remove(&number) {
            self.tell(format!("* {} {why}\n", member.name), None);
        }
    }

    fn tell(&mut self, line: String, permit: Option<Permit>) {
        let line = Line(Arc::new((line, permit)));
        for member in self.members.values() {
            // A member whose connection has failed hears no more, and will leave.
            let _ = member.lines.send(line.clone());
        }
    }
}
