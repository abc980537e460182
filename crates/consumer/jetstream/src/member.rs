//! [`Member`]: records and changes of the group, as events.

use crate::agent::{Command, Joined, Told};
use crate::engine::Thread;
use crate::reader::Request;
use colored_consumer::{
    Assignment, Commit, CommitError, Control, Error, Event, Extent, Owned, Record, Room, Source,
    TopicPartition,
};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// How many records of a partition are asked for at once. A guess: a request takes some 100 µs.
const MOST: usize = 256;

/// The size of a record of which nothing is known. A guess.
const SIZE: usize = 16 << 10;

/// A member of a group of JetStream. A member that is dropped leaves its group in the background.
pub struct Member {
    control: JetStreamControl,
    told: mpsc::UnboundedReceiver<Told>,
    /// The agent leaves when this is gone.
    _alive: oneshot::Sender<()>,
    readers: Vec<Reader>,
    /// The reader that is first in the next search for records.
    first: usize,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("readers", &self.readers).finish_non_exhaustive()
    }
}

/// An owned partition.
#[derive(Debug)]
struct Reader {
    owned: Owned,
    buffer: VecDeque<Record>,
    end: u64,
    /// The offset to ask for. None until the consumer begins, and after it has stopped.
    next: Option<u64>,
    /// What was told at last of the place of the member.
    told: u64,
    /// Counts the begins: what was asked for before the last one is forgotten.
    begin: u64,
    is_paused: bool,
    is_asked: bool,
    /// The size of the largest record that came at last.
    size: usize,
}

impl Reader {
    fn new(assignment: &Assignment) -> Reader {
        Reader {
            owned: assignment.owned.clone(),
            buffer: VecDeque::new(),
            end: assignment.log.end,
            next: None,
            told: 0,
            begin: 0,
            is_paused: false,
            is_asked: false,
            size: SIZE,
        }
    }

    /// Forgets what was read and what was asked for.
    fn stop(&mut self) {
        self.begin += 1;
        (self.next, self.is_asked) = (None, false);
        self.buffer.clear();
    }

    /// What there is room for: one record at least, if records may come at all; or that the place has moved without records.
    fn take(&mut self, room: Room) -> Option<Event> {
        let next = self.next?;
        if self.is_paused || room.records == 0 {
            return None;
        }
        let (mut records, mut bytes) = (Vec::new(), 0);
        while records.len() < room.records {
            let Some(record) = self.buffer.front() else { break };
            bytes += record.size();
            if !records.is_empty() && bytes > room.bytes {
                break;
            }
            records.extend(self.buffer.pop_front());
        }
        // Behind the buffer is what the server sends next.
        let next = self.buffer.front().map_or(next, |record| record.offset);
        if records.is_empty() && next == self.told {
            return None;
        }
        self.told = next;
        Some(Event::Records { owned: self.owned.clone(), records, next, end: self.end })
    }
}

impl Member {
    pub(crate) fn new(joined: Joined) -> Member {
        let Joined { commands, told, alive, thread } = joined;
        let control = JetStreamControl { commands, _thread: thread };
        Member { control, told, _alive: alive, readers: Vec::new(), first: 0 }
    }

    fn reader(&mut self, owned: &Owned) -> Option<&mut Reader> {
        self.readers.iter_mut().find(|reader| reader.owned == *owned)
    }

    /// Takes what the agent says; returns what the consumer has to hear of it.
    fn apply(&mut self, told: Told) -> Result<Option<Event>, Error> {
        match told {
            Told::Event(event) => {
                match &event {
                    Event::Assigned(all) => self.readers.extend(all.iter().map(Reader::new)),
                    Event::Revoked(gone) | Event::Lost(gone) => {
                        self.readers.retain(|reader| !gone.contains(&reader.owned));
                    }
                    _ => {}
                }
                Ok(Some(event))
            }
            Told::Records { owned, begin, records, next, end } => {
                let reader = self.reader(&owned).filter(|reader| reader.begin == begin);
                if let Some(reader) = reader {
                    (reader.next, reader.end) = (Some(next), end);
                    reader.size = records.iter().map(Record::size).max().unwrap_or(reader.size);
                    reader.buffer.extend(records);
                }
                Ok(None)
            }
            Told::Stopped { owned, begin, event } => {
                let reader = self.reader(&owned).filter(|reader| reader.begin == begin);
                Ok(reader.map(|reader| {
                    reader.stop();
                    event
                }))
            }
            Told::Fetched { owned, begin } => {
                let reader = self.reader(&owned).filter(|reader| reader.begin == begin);
                reader.into_iter().for_each(|reader| reader.is_asked = false);
                Ok(None)
            }
            Told::Failed(text) => Err(Error::new(text)),
        }
    }

    /// The records of some partition, another one first each time.
    fn take_records(&mut self, room: Room) -> Option<Event> {
        let count = self.readers.len();
        let event = (0..count).find_map(|at| self.readers[(self.first + at) % count].take(room));
        self.first = self.first.wrapping_add(1) % count.max(1);
        event
    }

    /// Asks for records of the partitions that have none: together for what there is room for, as far as the sizes of those
    /// before tell, and for one of each at least.
    fn ask(&mut self, room: Room) {
        if room.records == 0 {
            return;
        }
        let count = self.readers.len().max(1);
        let (records, bytes) = (MOST.min(room.records / count), room.bytes / count);
        for reader in &mut self.readers {
            let Some(from) = reader.next else { continue };
            if reader.is_paused || reader.is_asked || !reader.buffer.is_empty() {
                continue;
            }
            reader.is_asked = true;
            let most = records.min(bytes / reader.size.max(1)).max(1);
            let request = Request { from, count: most, begin: reader.begin };
            let command = Command::Read(reader.owned.clone(), request);
            // If the agent has ended, `poll` says so.
            let _ = self.control.commands.send(command);
        }
    }
}

impl Source for Member {
    type Control = JetStreamControl;

    fn control(&self) -> JetStreamControl {
        self.control.clone()
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        loop {
            while let Ok(told) = self.told.try_recv() {
                if let Some(event) = self.apply(told)? {
                    return Ok(event);
                }
            }
            if let Some(event) = self.take_records(room) {
                return Ok(event);
            }
            self.ask(room);
            let told = self.told.recv().await;
            let told = told.ok_or_else(|| Error::new("the member has left its group"))?;
            if let Some(event) = self.apply(told)? {
                return Ok(event);
            }
        }
    }

    fn begin(&mut self, owned: &Owned, offset: u64) {
        if let Some(reader) = self.reader(owned) {
            reader.stop();
            (reader.next, reader.told) = (Some(offset), offset);
        }
    }

    fn pause(&mut self, partition: &TopicPartition) {
        for reader in self.readers.iter_mut().filter(|of| of.owned.partition == *partition) {
            reader.is_paused = true;
        }
    }

    fn resume(&mut self, partition: &TopicPartition) {
        for reader in self.readers.iter_mut().filter(|of| of.owned.partition == *partition) {
            reader.is_paused = false;
        }
    }

    async fn close(self) -> Result<(), Error> {
        let (reply, done) = oneshot::channel();
        if self.control.commands.send(Command::Close(reply)).is_err() {
            return Ok(());
        }
        done.await.unwrap_or(Ok(()))
    }
}

/// Commits and releases for a [`Member`].
#[derive(Clone)]
pub struct JetStreamControl {
    commands: mpsc::UnboundedSender<Command>,
    _thread: Arc<Thread>,
}

impl fmt::Debug for JetStreamControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamControl").finish_non_exhaustive()
    }
}

impl Control for JetStreamControl {
    async fn commit(&self, commits: Vec<Commit>) -> Result<(), CommitError> {
        let all: Vec<_> = commits.iter().map(|commit| commit.owned.clone()).collect();
        let (reply, done) = oneshot::channel();
        // A member that has left owns nothing.
        let _ = self.commands.send(Command::Commit(commits, reply));
        done.await.unwrap_or(Err(CommitError::Fenced(all)))
    }

    async fn release(&self, owned: Vec<Owned>) -> Result<(), Error> {
        let (reply, done) = oneshot::channel();
        // A member that has left has released everything.
        let _ = self.commands.send(Command::Release(owned, reply));
        done.await.unwrap_or(Ok(()))
    }

    async fn extents(&self, owned: Vec<Owned>) -> Result<Vec<Option<Extent>>, Error> {
        let (reply, done) = oneshot::channel();
        let left = || Error::new("the member has left its group");
        self.commands.send(Command::Extents(owned, reply)).map_err(|_| left())?;
        done.await.unwrap_or_else(|_| Err(left()))
    }

    async fn find(&self, owned: Vec<Owned>, timestamp: i64) -> Result<Vec<Option<u64>>, Error> {
        let (reply, done) = oneshot::channel();
        let left = || Error::new("the member has left its group");
        self.commands.send(Command::Find(owned, timestamp, reply)).map_err(|_| left())?;
        done.await.unwrap_or_else(|_| Err(left()))
    }
}
