//! [`Link`]: a writer, and what reads from it.

use super::reader::Reader;
use super::writer::Writer;
use colored::Handle;
use colored::fs::File;
use colored::net::unix::pipe;
use colored::net::{TcpListener, TcpStream, UnixStream};
use colored::process::{Child, Command, Stdio};
use colored_tests::polls::{once, waits};
use colored_tests::{Dice, echo};
use std::fmt;
use std::os::fd::OwnedFd;
use std::pin::{Pin, pin};

/// How many kinds of links there are; the last one, a child, is made seldom.
pub(super) const KINDS: u64 = 25;

/// A writer, and readers of what it writes: more than one are clones.
pub(super) struct Link {
    readers: Vec<Reader>,
    writer: Writer,
    /// The program between the two.
    child: Option<Child>,
}

impl Link {
    pub(super) async fn open(kind: u64, other: &Handle) -> Link {
        let mut child = None;
        let (reader, writer) = match kind {
            0..=5 => {
                let (reader, writer) = std::io::pipe().unwrap();
                let reader = File::try_from(OwnedFd::from(reader)).unwrap();
                (Reader::Pipe(reader), Writer::Std(writer))
            }
            6..=8 => {
                let (sender, receiver) = pipe::pipe().unwrap();
                (Reader::Receiver(receiver), Writer::Sender(sender))
            }
            9..=13 => {
                let (one, other) = echo::pair().await;
                (Reader::Tcp(one), Writer::Tcp(other))
            }
            14..=18 => {
                let (one, other) = UnixStream::pair().unwrap();
                (Reader::Unix(one), Writer::Unix(other))
            }
            19..=23 => {
                // Registered with the other runtime.
                let _inside = other.enter();
                let (one, other) = UnixStream::pair().unwrap();
                (Reader::Unix(one), Writer::Unix(other))
            }
            _ => {
                let mut command = Command::new("cat");
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
                let mut cat = command.spawn().unwrap();
                let (to, from) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
                child = Some(cat);
                (Reader::Child(from), Writer::Child(to))
            }
        };
        Link { readers: vec![reader], writer, child }
    }

    fn pick(&mut self, dice: &mut Dice) -> &mut Reader {
        let index = dice.below(self.readers.len() as u64) as usize;
        &mut self.readers[index]
    }

    /// A byte that is written wakes the reader, which waits.
    pub(super) async fn check(&mut self, dice: &mut Dice) {
        let byte = dice.below(256) as u8;
        let index = dice.below(self.readers.len() as u64) as usize;
        let mut read = pin!(self.readers[index].read());
        poll_once(read.as_mut()).await;
        self.writer.write(byte).await;
        assert_eq!(read.await, byte);
    }

    pub(super) async fn give_up_a_wait(&mut self, dice: &mut Dice) {
        poll_once(pin!(self.pick(dice).read())).await;
    }

    pub(super) async fn convert(&mut self, dice: &mut Dice) {
        let index = dice.below(self.readers.len() as u64) as usize;
        let reader = self.readers.swap_remove(index);
        let is_alone = self.readers.is_empty();
        self.readers.push(reader.convert(dice.below(3), is_alone).await);
    }

    pub(super) async fn convert_writer(&mut self) {
        self.writer.convert().await;
    }

    /// Makes a second reader, or drops one of several.
    pub(super) async fn clone_reader(&mut self, dice: &mut Dice) {
        if self.readers.len() > 2 {
            let index = dice.below(self.readers.len() as u64) as usize;
            self.readers.swap_remove(index);
        } else if let Some(clone) = self.pick(dice).try_clone().await {
            self.readers.push(clone);
        }
    }

    pub(super) fn register_twice(&mut self) {
        self.readers.iter_mut().for_each(Reader::register_twice);
    }

    /// Drops the two ends, each first in half of the cases, and the readers while they wait in half of them.
    pub(super) async fn close(mut self, dice: &mut Dice) {
        if dice.below(2) == 0 {
            for reader in &mut self.readers {
                poll_once(pin!(reader.read())).await;
            }
        }
        if dice.below(2) == 0 {
            drop(self.readers);
            drop(self.writer);
        } else {
            drop(self.writer);
            drop(self.readers);
        }
        if let Some(mut child) = self.child {
            child.kill().await.unwrap();
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {:?}", self.readers, self.writer)
    }
}

/// Polls a read once; there is nothing to read.
async fn poll_once<F: Future>(future: Pin<&mut F>) {
    assert!(waits(future).await, "nobody has written");
}

pub(super) async fn give_up_a_connect() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    drop(once(pin!(TcpStream::connect(listener.local_addr().unwrap()))).await);
}

/// Others get their numbers.
pub(super) async fn close_pipes_that_wait() {
    for _ in 0..8 {
        let (reader, _writer) = std::io::pipe().unwrap();
        let mut file = File::try_from(OwnedFd::from(reader)).unwrap();
        poll_once(pin!(file.read(&mut [0]))).await;
        drop(file);
        colored::task::yield_now().await;
    }
}
