//! [`Member`]: a member of a group of the embedded engine.

use super::control::EmbeddedControl;
use super::engine::{Members, Shared, unknown};
use super::group::{Change, Group, Joining, MemberId};
use super::step::{self, Done, Prepared, Readable, Step};
use super::topics;
use crate::log::{Cursor, Partition};
use crate::source::{Assignment, Error, Event, Owned, Record, Room, Source, TopicPartition};
use colored::sync::Notify;
use colored::time::{Duration, Instant, timeout_at};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// The time for which a member need not be heard. Kafka's clients have 45 s; here no network can be slow.
const SESSION: Duration = Duration::from_secs(10);

/// The options of a member that is to join a group.
#[derive(Debug)]
#[must_use = "a member joins by `join`"]
pub struct MemberOptions {
    shared: Arc<Shared>,
    group: String,
    joining: Joining,
}

impl MemberOptions {
    pub(crate) fn new(shared: Arc<Shared>, group: String, topics: BTreeSet<Arc<str>>) -> Self {
        Self { shared, group, joining: Joining { topics, instance: None, session: SESSION } }
    }

    /// A static member: when it leaves, its partitions wait for the next member of this name until its session ends, and
    /// that member gets them at once. A member of the same name that is still there loses everything.
    pub fn instance(mut self, name: impl Into<String>) -> Self {
        self.joining.instance = Some(name.into());
        self
    }

    /// A member that is not polled for so long is taken for dead. Default: 10 s.
    pub fn session(mut self, time: Duration) -> Self {
        self.joining.session = time;
        self
    }

    /// Joins the group. Not cancel safe: a dropped call may leave a member behind until its session ends.
    ///
    /// # Errors
    ///
    /// If a topic does not exist, none is named, or the session is shorter than 10 ms.
    pub async fn join(self) -> Result<Member, Error> {
        let MemberOptions { shared, group, joining } = self;
        if joining.session < Duration::from_millis(10) {
            let text = format!("a session of {:?}: at least 10 ms are allowed", joining.session);
            return Err(Error::new(text));
        }
        if joining.topics.is_empty() {
            return Err(Error::new("a member that reads no topic: at least one must be named"));
        }
        let counts = shared.topics.call(|topics| topics::counts(topics)).await;
        if let Some(topic) = joining.topics.iter().find(|topic| !counts.contains_key(*topic)) {
            return Err(unknown(topic));
        }
        let generation = shared.offsets.last_generation(&group).await;
        let (wake, now) = (Arc::new(Notify::new()), shared.now());
        let (name, joins, weak) = (group.clone(), joining.clone(), Arc::downgrade(&wake));
        let joined = shared.groups.call(move |groups| {
            let members = groups.entry(name).or_insert_with(|| Members {
                group: Group::new(generation),
                wakes: Default::default(),
            });
            members.group.set_topics(&counts, now);
            let id = members.group.join(joins, now);
            members.wakes.insert(id, weak);
            members.wake();
            id
        });
        let id = joined.await;
        Ok(Member {
            control: EmbeddedControl { shared, group },
            id,
            joining,
            heard: Instant::now(),
            wake,
            readers: Vec::new(),
            last: 0,
            spare: Vec::new(),
            changes: VecDeque::new(),
            assigned: Vec::new(),
            events: VecDeque::new(),
            step: None,
            waits_for_room: false,
            late: None,
            next: Next::Hear,
        })
    }
}

/// A member of a group of the embedded engine. A member that is dropped leaves its group.
pub struct Member {
    control: EmbeddedControl,
    id: MemberId,
    joining: Joining,
    /// When the group has heard of the member.
    heard: Instant,
    wake: Arc<Notify>,
    readers: Vec<Reader>,
    /// The reader that was read last.
    last: usize,
    /// An empty vector for what is read next: a large allocation for each read would cost more than the read.
    spare: Vec<Record>,
    /// Not prepared yet.
    changes: VecDeque<Change>,
    /// Prepared, and told with those that are assigned next, all at once.
    assigned: Vec<Assignment>,
    events: VecDeque<Event>,
    step: Option<Step>,
    /// Whether the step only waits for room.
    waits_for_room: bool,
    /// What was read, when there was no room for it any more.
    late: Option<Done>,
    next: Next,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("group", &self.control.group).field("id", &self.id).finish()
    }
}

/// What a member does when nothing is to be told.
#[derive(Clone, Copy, Debug)]
enum Next {
    Hear,
    Read,
    /// Another member has the name of this static member.
    Fail,
}

/// An owned partition.
#[derive(Debug)]
struct Reader {
    owned: Owned,
    log: Arc<Partition>,
    /// None until the consumer begins, and after an offset out of range.
    cursor: Option<Cursor>,
    is_paused: bool,
}

impl Member {
    fn reader(&mut self, owned: &Owned) -> Option<&mut Reader> {
        self.readers.iter_mut().find(|reader| reader.owned == *owned)
    }

    fn next_step(&mut self, room: Room) -> Step {
        let EmbeddedControl { shared, group } = self.control.clone();
        if let Some(change) = self.changes.front() {
            return Box::pin(step::prepare(shared, group, change.clone()));
        }
        match self.next {
            Next::Hear => {
                self.heard = Instant::now();
                let (id, joining, wake) = (self.id, self.joining.clone(), Arc::clone(&self.wake));
                Box::pin(step::hear(shared, group, id, joining, wake))
            }
            Next::Fail => Box::pin(step::refuse(self.joining.instance.clone())),
            Next::Read => {
                self.waits_for_room = room.records == 0;
                // Without room nothing is looked for: it would count as the partition's turn.
                let readable = if self.waits_for_room { None } else { self.readable() };
                match readable {
                    Some(readable) => {
                        Box::pin(step::read(readable, room, std::mem::take(&mut self.spare)))
                    }
                    None => Box::pin(step::wait(Arc::clone(&self.wake), self.joining.session / 3)),
                }
            }
        }
    }

    /// The next partition that may be read and has a record, or has not the wanted one.
    fn readable(&mut self) -> Option<Readable> {
        let count = self.readers.len();
        let mut order = (1..=count).map(|step| (self.last + step) % count);
        let may_be_read = |reader: &Reader| {
            let offset = reader.cursor.map(|cursor| cursor.offset);
            !reader.is_paused && offset.is_some_and(|offset| offset != reader.log.end())
        };
        self.last = order.find(|at| may_be_read(&self.readers[*at]))?;
        let Reader { owned, log, cursor, .. } = &self.readers[self.last];
        Some(Readable { owned: owned.clone(), log: Arc::clone(log), cursor: (*cursor)? })
    }

    fn apply(&mut self, done: Done, room: Room) {
        match done {
            Done::Heard(id, changes) => {
                self.next = Next::Read;
                if id != self.id {
                    self.id = id;
                    self.lose_all();
                    self.next = Next::Hear;
                }
                self.changes.extend(changes);
            }
            Done::Prepared(prepared) => {
                self.changes.pop_front();
                self.apply_change(prepared);
                self.tell_assigned();
            }
            Done::Read { .. } if room.records == 0 => {
                (self.next, self.late) = (Next::Hear, Some(done));
            }
            Done::Read { owned, from, cursor, records, end } => {
                self.next = Next::Hear;
                let may_come =
                    |reader: &&mut Reader| !reader.is_paused && records.len() <= room.records;
                let reader = self.reader(&owned).filter(may_come);
                // The consumer may have sent the reader elsewhere, or paused it, or has less room: then it reads again.
                if let Some(reader) = reader
                    && reader.cursor.is_some_and(|cursor| cursor.offset == from)
                {
                    reader.cursor = Some(cursor);
                    let next = cursor.offset;
                    self.events.push_back(Event::Records { owned, records, next, end });
                }
            }
            Done::OutOfRange { owned, from, log } => {
                self.stop_reading(owned, from, |owned| Event::OutOfRange { owned, log });
            }
            Done::Unreadable { owned, from, error } => {
                self.stop_reading(owned, from, |owned| Event::Failed { owned, error });
            }
            Done::Replaced => {
                self.lose_all();
                self.next = Next::Fail;
            }
            Done::Woken => self.next = Next::Hear,
        }
    }

    /// Nothing is read from a partition until the consumer begins it again; unless it has sent the reader elsewhere meanwhile.
    fn stop_reading(&mut self, owned: Owned, from: u64, event: impl FnOnce(Owned) -> Event) {
        self.next = Next::Hear;
        if let Some(reader) = self.reader(&owned)
            && reader.cursor.is_some_and(|cursor| cursor.offset == from)
        {
            reader.cursor = None;
            self.events.push_back(event(owned));
        }
    }

    fn apply_change(&mut self, prepared: Prepared) {
        match prepared {
            Prepared::Assigned(assignment, log) => {
                log.subscribe(&self.wake);
                let owned = assignment.owned.clone();
                self.readers.push(Reader { owned, log, cursor: None, is_paused: false });
                self.assigned.push(assignment);
            }
            Prepared::Revoked(owned) => {
                self.readers.retain(|reader| reader.owned != owned);
                self.events.push_back(Event::Revoked(vec![owned]));
            }
            Prepared::Lost(owned) => {
                self.readers.retain(|reader| reader.owned != owned);
                self.events.push_back(Event::Lost(vec![owned]));
            }
        }
    }

    fn tell_assigned(&mut self) {
        let is_last = !matches!(self.changes.front(), Some(Change::Assigned(..)));
        if is_last && !self.assigned.is_empty() {
            self.events.push_back(Event::Assigned(std::mem::take(&mut self.assigned)));
        }
    }

    /// The group has forgotten the member.
    fn lose_all(&mut self) {
        self.changes.clear();
        self.late = None;
        let lost: Vec<_> = self.readers.drain(..).map(|reader| reader.owned).collect();
        if !lost.is_empty() {
            self.events.push_back(Event::Lost(lost));
        }
    }

    /// Lets the group hear of the member, which takes no change yet.
    fn renew(&mut self) {
        self.heard = Instant::now();
        let (group, id, now) = (self.control.group.clone(), self.id, self.control.shared.now());
        self.control.shared.groups.post(move |groups| {
            groups.get_mut(&group).expect("a group stays").group.renew(id, now);
        });
    }

    /// What ends the membership.
    fn leave(
        &self,
    ) -> impl FnOnce(&mut std::collections::BTreeMap<String, Members>) + Send + use<> {
        let (group, id, now) = (self.control.group.clone(), self.id, self.control.shared.now());
        move |groups| {
            let members = groups.get_mut(&group).expect("a group stays");
            members.group.leave(id, now);
            members.wake();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.control.shared.groups.post(self.leave());
    }
}

impl Source for Member {
    type Control = EmbeddedControl;

    fn control(&self) -> EmbeddedControl {
        self.control.clone()
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            if room.records > 0 && std::mem::take(&mut self.waits_for_room) {
                (self.step, self.next) = (None, Next::Hear);
            }
            if let Some(late) = self.late.take_if(|_| room.records > 0) {
                self.apply(late, room);
                continue;
            }
            if self.step.is_none() {
                self.step = Some(self.next_step(room));
            }
            // A step may take longer than the session, and many steps may.
            let due = self.heard + self.joining.session / 3;
            if due <= Instant::now() {
                self.renew();
                continue;
            }
            let step = self.step.as_mut().expect("it was set");
            let Ok(done) = timeout_at(due, step).await else { continue };
            (self.step, self.waits_for_room) = (None, false);
            self.apply(done?, room);
        }
    }

    fn begin(&mut self, owned: &Owned, offset: u64) {
        if let Some(reader) = self.reader(owned) {
            reader.cursor = Some(Cursor { offset, known: None });
            self.wake.notify_one();
        }
    }

    fn pause(&mut self, partition: &TopicPartition) {
        for reader in self.readers.iter_mut().filter(|reader| reader.owned.partition == *partition)
        {
            reader.is_paused = true;
        }
    }

    fn resume(&mut self, partition: &TopicPartition) {
        for reader in self.readers.iter_mut().filter(|reader| reader.owned.partition == *partition)
        {
            reader.is_paused = false;
        }
        self.wake.notify_one();
    }

    fn take_back(&mut self, records: Vec<Record>) {
        self.spare = records;
    }

    async fn close(self) -> Result<(), Error> {
        self.control.shared.groups.call(self.leave()).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NewRecord, Options};
    use super::*;
    use crate::scratch::Scratch;
    use crate::source::Extent;
    use colored::sim::Builder;
    use colored::time::timeout;

    /// What was read for a place that was left says nothing of the sought one.
    #[colored::test]
    async fn a_reader_that_was_sent_elsewhere_goes_on() {
        let scratch = Scratch::new();
        let engine = Options::new().open(scratch.path()).await.expect("the directory is writable");
        engine.create_topic("t", 1).await.expect("it is new");
        let mut member = engine.member("g", ["t"]).join().await.expect("the topic is there");
        let room = Room { records: 1, bytes: 1 };
        let event = member.poll(room).await.expect("it is polled");
        let Event::Assigned(assigned) = event else { panic!("{event:?}") };
        let owned = assigned[0].owned.clone();
        member.begin(&owned, 7);
        let gone = |from| Done::OutOfRange { owned: owned.clone(), from, log: Extent::default() };
        let fault = |from| Done::Unreadable { owned: owned.clone(), from, error: Error::new("") };
        member.apply(gone(3), room);
        member.apply(fault(3), room);
        assert!(member.events.is_empty());
        member.apply(gone(7), room);
        assert!(matches!(member.events.pop_front(), Some(Event::OutOfRange { .. })));
        member.begin(&owned, 7);
        member.apply(fault(7), room);
        assert!(matches!(member.events.pop_front(), Some(Event::Failed { .. })));
    }

    /// Whatever its steps take, a member that is polled lives.
    #[test]
    fn a_long_step_ends_no_membership() {
        let report = Builder::new().seeds(0..1).run(|| async {
            let engine = Options::new().open("/log").await.expect("the directory is writable");
            engine.create_topic("t", 2).await.expect("it is new");
            let join = async || engine.member("g", ["t"]).join().await.expect("there is a topic");
            let (mut member, room) = (join().await, Room { records: 1, bytes: 1 });
            member.poll(room).await.expect("it is polled");
            let mut other = join().await;
            member.step = Some(Box::pin(std::future::pending()));
            for _ in 0..6 {
                let polled = timeout(SESSION / 2, member.poll(room)).await;
                polled.expect_err("the step goes on");
                let polled = timeout(Duration::from_millis(1), other.poll(room)).await;
                polled.expect_err("the first member has all, and lives");
            }
        });
        report.assert_passed();
    }

    /// A poll without room is no partition's turn; and a record may exceed the room for bytes.
    #[colored::test]
    async fn polls_without_room_pass_no_partition_over() {
        let scratch = Scratch::new();
        let engine = Options::new().open(scratch.path()).await.expect("the directory is writable");
        engine.create_topic("t", 2).await.expect("it is new");
        let records = (0..40).map(|key| NewRecord::new(format!("k{key}"), "v"));
        engine.send_all("t", records).await.expect("the topic is there");
        let mut member = engine.member("g", ["t"]).join().await.expect("the topic is there");
        let room = |records| Room { records, bytes: 0 };
        let event = member.poll(room(1)).await.expect("it is polled");
        let Event::Assigned(assigned) = event else { panic!("{event:?}") };
        assigned.iter().for_each(|of| member.begin(&of.owned, 0));
        let mut seen = [0; 2];
        for _ in 0..6 {
            let polled = timeout(Duration::from_millis(5), member.poll(room(0))).await;
            polled.expect_err("there is no room");
            let event = member.poll(room(1)).await.expect("it is polled");
            let Event::Records { owned, records, .. } = event else { panic!("{event:?}") };
            assert_eq!(records.len(), 1);
            seen[owned.partition.partition as usize] += 1;
        }
        assert_eq!(seen, [3, 3]);
    }

    /// A read may begin with more room than there is when it ends.
    #[colored::test]
    async fn a_poll_returns_no_more_than_it_has_room_for() {
        let scratch = Scratch::new();
        let engine = Options::new().open(scratch.path()).await.expect("the directory is writable");
        engine.create_topic("t", 1).await.expect("it is new");
        let sent = engine.send_all("t", (0..3).map(|_| NewRecord::new("k", "v"))).await;
        sent.expect("the topic is there");
        let mut member = engine.member("g", ["t"]).join().await.expect("the topic is there");
        let room = |records| Room { records, bytes: 1_000 };
        let event = member.poll(room(3)).await.expect("it is polled");
        let Event::Assigned(assigned) = event else { panic!("{event:?}") };
        for later in [0, 1, 3] {
            member.begin(&assigned[0].owned, 0);
            member.next = Next::Read;
            member.step = Some(member.next_step(room(3)));
            while later == 0 && member.late.is_none() {
                let polled = timeout(Duration::from_millis(5), member.poll(room(0))).await;
                polled.expect_err("there is no room");
            }
            let mut offsets = Vec::new();
            while offsets.len() < 3 {
                let event = member.poll(room(later.max(1))).await.expect("it is polled");
                let Event::Records { records, .. } = event else { panic!("{event:?}") };
                assert!(records.len() <= later.max(1));
                offsets.extend(records.iter().map(|record| record.offset));
            }
            assert_eq!(offsets, [0, 1, 2]);
        }
    }
}
