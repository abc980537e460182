//! A host: elections, and its loop. [`replication`](crate::replication) has the rest.

use crate::Bug;
use crate::disk::{Disk, Durable};
use crate::message::{Address, Message, Term};
use crate::network::Transport;
use crate::observer::Observer;
use colored::sim;
use colored::time::{Duration, Instant, timeout_at};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};

/// The addresses of the hosts.
pub(crate) const HOSTS: [Address; 3] = [0, 1, 2];

/// So many hosts decide.
const MAJORITY: usize = 2;

const HEARTBEAT: Duration = Duration::from_millis(50);

pub(crate) enum Role {
    Follower,
    Candidate {
        votes: BTreeSet<Address>,
    },
    /// By host, the length of its log that it has in common with the leader's, and where to go on.
    Leader {
        same: BTreeMap<Address, usize>,
        next: BTreeMap<Address, usize>,
    },
}

pub(crate) struct Node<T> {
    pub(crate) own: Address,
    pub(crate) transport: T,
    pub(crate) observer: Observer,
    pub(crate) bug: Bug,
    disk: Disk,
    pub(crate) durable: Durable,
    pub(crate) role: Role,
    /// The number of entries that a majority has.
    pub(crate) committed: usize,
    pub(crate) applied: usize,
    pub(crate) register: u64,
    /// When it does something by itself.
    pub(crate) deadline: Instant,
    random: Rng,
}

impl<T: Transport> Node<T> {
    /// A host that begins, maybe again.
    pub(crate) fn new(
        own: Address,
        transport: T,
        disk: Disk,
        observer: Observer,
        bug: Bug,
    ) -> Self {
        let durable = disk.load();
        let mut node = Self {
            own,
            transport,
            observer,
            bug,
            disk,
            durable,
            role: Role::Follower,
            committed: 0,
            applied: 0,
            register: 0,
            deadline: Instant::now(),
            random: Rng::with_seed(sim::random()),
        };
        node.await_leader();
        node
    }

    /// Runs until it is aborted: a crash.
    pub(crate) async fn run(mut self) {
        loop {
            match timeout_at(self.deadline, self.transport.receive()).await {
                Ok(envelope) => self.handle(envelope.from, envelope.message),
                Err(_) if matches!(self.role, Role::Leader { .. }) => self.send_entries(),
                Err(_) => self.stand_for_election(),
            }
        }
    }

    fn handle(&mut self, from: Address, message: Message) {
        match message {
            Message::RequestVote { term, length, last_term } => {
                self.vote(from, term, length, last_term);
            }
            Message::Vote { term, is_granted } => self.count_vote(from, term, is_granted),
            Message::Append { term, before, before_term, entries, committed } => {
                let is_same = self.append(term, before, before_term, &entries, committed);
                let length = if is_same { before + entries.len() } else { self.durable.log.len() };
                let term = self.durable.term;
                self.transport.send(from, Message::Appended { term, is_same, length });
            }
            Message::Appended { term, is_same, length } => {
                self.count_appended(from, term, is_same, length);
            }
            Message::Request { number, command } => self.request(from, number, command),
            Message::Answer { .. } => {}
        }
    }

    pub(crate) fn save(&self) {
        self.disk.save(&self.durable, self.bug);
    }

    pub(crate) fn send_all(&mut self, message: &Message) {
        for host in HOSTS.into_iter().filter(|host| *host != self.own) {
            self.transport.send(host, message.clone());
        }
    }

    /// Waits for a leader, for a time that differs from host to host.
    pub(crate) fn await_leader(&mut self) {
        self.deadline = Instant::now() + Duration::from_millis(self.random.u64(150..300));
    }

    pub(crate) fn await_heartbeat(&mut self) {
        self.deadline = Instant::now() + HEARTBEAT;
    }

    /// Follows whoever is ahead. Whether the message is not of the past.
    pub(crate) fn meet_term(&mut self, term: Term) -> bool {
        if term > self.durable.term {
            self.durable.term = term;
            self.durable.voted_for = None;
            self.save();
            self.role = Role::Follower;
            self.await_leader();
        }
        term == self.durable.term
    }

    fn stand_for_election(&mut self) {
        self.durable.term += 1;
        self.durable.voted_for = Some(self.own);
        self.save();
        self.role = Role::Candidate { votes: BTreeSet::from([self.own]) };
        self.await_leader();
        let (term, length) = (self.durable.term, self.durable.log.len());
        let last_term = self.durable.last_term();
        self.send_all(&Message::RequestVote { term, length, last_term });
    }

    fn vote(&mut self, from: Address, term: Term, length: usize, last_term: Term) {
        let is_present = self.meet_term(term);
        let own = (self.durable.last_term(), self.durable.log.len());
        let is_up_to_date = (last_term, length) >= own || self.bug == Bug::VotesBlindly;
        let is_free = self.durable.voted_for.is_none_or(|host| host == from);
        let is_granted = is_present && is_up_to_date && is_free;
        if is_granted {
            self.durable.voted_for = Some(from);
            self.save();
            self.await_leader();
        }
        self.transport.send(from, Message::Vote { term: self.durable.term, is_granted });
    }

    fn count_vote(&mut self, from: Address, term: Term, is_granted: bool) {
        let is_present = self.meet_term(term);
        let Role::Candidate { votes } = &mut self.role else { return };
        if is_present && is_granted {
            votes.insert(from);
            if votes.len() >= MAJORITY {
                self.lead();
            }
        }
    }
}
