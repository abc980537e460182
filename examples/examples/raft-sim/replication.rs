//! A host's log: what its leader adds, what a majority has, and what is applied.

use crate::Bug;
use crate::message::{Address, Answer, Command, Entry, Message, Term};
use crate::network::Transport;
use crate::node::{HOSTS, Node, Role};

impl<T: Transport> Node<T> {
    pub(crate) fn lead(&mut self) {
        self.observer.note_leader(self.durable.term, self.own);
        let length = self.durable.log.len();
        self.role = Role::Leader {
            same: HOSTS.map(|host| (host, 0)).into(),
            next: HOSTS.map(|host| (host, length)).into(),
        };
        self.add(Command::Begin, None);
    }

    /// A client's command: the leader adds it to the log, and answers when it is applied.
    pub(crate) fn request(&mut self, client: Address, number: u64, command: Command) {
        let refused = Message::Answer { number, answer: Answer::Refused };
        match self.role {
            Role::Leader { .. } if self.bug == Bug::ReadsLocally && command == Command::Read => {
                let answer = Answer::Value(self.register);
                self.transport.send(client, Message::Answer { number, answer });
            }
            Role::Leader { .. } => self.add(command, Some((client, number))),
            _ => self.transport.send(client, refused),
        }
    }

    fn add(&mut self, command: Command, request: Option<(Address, u64)>) {
        self.durable.log.push(Entry { term: self.durable.term, command, request });
        self.save();
        self.send_entries();
    }

    /// Sends each host what it lacks; to one that lacks nothing, a heart-beat.
    pub(crate) fn send_entries(&mut self) {
        self.await_heartbeat();
        let Role::Leader { next, .. } = &self.role else { return };
        for (&host, &before) in next.iter().filter(|(host, _)| **host != self.own) {
            let message = Message::Append {
                term: self.durable.term,
                before,
                before_term: self.durable.term_before(before),
                entries: self.durable.log[before..].to_vec(),
                committed: self.committed,
            };
            self.transport.send(host, message);
        }
    }

    /// Adds what the leader has sent, in place of what differs. Whether the logs are the same up to there.
    pub(crate) fn append(
        &mut self,
        term: Term,
        before: usize,
        before_term: Term,
        entries: &[Entry],
        committed: usize,
    ) -> bool {
        if !self.meet_term(term) {
            return false;
        }
        self.role = Role::Follower;
        self.await_leader();
        let length = self.durable.log.len();
        if before > length || self.durable.term_before(before) != before_term {
            return false;
        }
        let log = &mut self.durable.log;
        for (index, entry) in (before..).zip(entries) {
            if log.get(index).is_none_or(|own| own.term != entry.term) {
                log.truncate(index);
                log.push(*entry);
            }
        }
        self.save();
        self.commit(committed.min(before + entries.len()));
        true
    }

    pub(crate) fn count_appended(
        &mut self,
        from: Address,
        term: Term,
        is_same: bool,
        length: usize,
    ) {
        let is_present = self.meet_term(term);
        let own_length = self.durable.log.len();
        let Role::Leader { same, next } = &mut self.role else { return };
        if !is_present {
            return;
        }
        let of = next.get_mut(&from).expect("it is a host");
        if !is_same {
            // One step back for each refusal, or to the end of a shorter log.
            *of = of.saturating_sub(1).min(length);
            return;
        }
        *of = length;
        let mut lengths: Vec<usize> = same
            .iter_mut()
            .map(|(host, known)| {
                if *host == from {
                    *known = length.max(*known);
                }
                if *host == self.own { own_length } else { *known }
            })
            .collect();
        lengths.sort_unstable();
        // The middle one of three: a majority has so many entries.
        let common = lengths[1];
        if self.durable.term_before(common) == self.durable.term {
            self.commit(common);
        }
    }

    /// The first `length` entries are committed: applies them.
    fn commit(&mut self, length: usize) {
        self.committed = self.committed.max(length);
        while self.applied < self.committed {
            let entry = self.durable.log[self.applied];
            self.observer.note_applied(self.applied, entry);
            self.applied += 1;
            let answer = match entry.command {
                Command::Begin => continue,
                Command::Write(value) => {
                    self.register = value;
                    Answer::Written
                }
                Command::Read => Answer::Value(self.register),
            };
            let leads = matches!(self.role, Role::Leader { .. });
            if let Some((client, number)) = entry.request.filter(|_| leads) {
                self.transport.send(client, Message::Answer { number, answer });
            }
        }
    }
}
