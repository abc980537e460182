//! Operations, and what they return.

use super::make::{Side, Target};
use colored::fs::File;
use colored::io::AsyncReadExt;
use fastrand::Rng;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

/// Direct operations need such addresses and lengths.
const ALIGNMENT: usize = 4096;

#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// By the method, which fills the buffer if the file is on a disk.
    Read(usize),
    /// By the trait, which reads once.
    ReadOnce(usize),
    ReadToEnd,
    ReadAt(usize, u64),
    Write(Vec<u8>),
    WriteAt(Vec<u8>, u64),
    Seek(SeekFrom),
    Position,
    Metadata,
    SetLength(u64),
    Sync,
    /// Bytes come from the other end.
    Feed(Vec<u8>),
}

/// What an operation returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Number(u64),
    Bytes(Vec<u8>),
    /// A number, and what came out at the other end.
    Through(u64, Vec<u8>),
    Failed(ErrorKind),
}

impl Outcome {
    fn of(result: io::Result<Outcome>) -> Self {
        result.unwrap_or_else(|error| Outcome::Failed(error.kind()))
    }

    fn number(result: io::Result<u64>) -> Self {
        Self::of(result.map(Outcome::Number))
    }

    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Outcome::Bytes(bytes) => Some(bytes.len()),
            _ => None,
        }
    }

    /// In a line.
    pub(super) fn short(&self) -> String {
        match self {
            Outcome::Bytes(bytes) | Outcome::Through(_, bytes) if bytes.len() > 20 => {
                format!("{} bytes {:?}..", bytes.len(), &bytes[..10])
            }
            other => format!("{other:?}"),
        }
    }
}

impl Operation {
    pub(super) fn random(random: &mut Rng, target: &Target) -> Self {
        let letters = target.operations;
        let letter = letters.chars().nth(random.usize(..letters.len())).expect("a letter");
        let len = length(random, target);
        let offset = match random.u8(..3) {
            0 => 0,
            1 if target.is_direct => ALIGNMENT as u64 * random.u64(..6),
            1 => random.u64(..20),
            _ => random.u64(..20_000),
        };
        let bytes = || match target.is_text {
            true => format!("{}\n", random_digit(len)).into_bytes(),
            false => (0..len).map(|i| (len + i / 3) as u8).collect(),
        };
        match letter {
            'r' => Operation::Read(len),
            'o' => Operation::ReadOnce(len),
            'e' => Operation::ReadToEnd,
            'R' => Operation::ReadAt(len, offset),
            'w' => Operation::Write(bytes()),
            'W' => Operation::WriteAt(bytes(), offset),
            's' => Operation::Seek(match random.u8(..4) {
                0 => SeekFrom::Start(offset),
                1 => SeekFrom::Current(random.i64(-100..100)),
                2 => SeekFrom::End(-(offset as i64)),
                _ => SeekFrom::Start(0),
            }),
            'p' => Operation::Position,
            'm' => Operation::Metadata,
            'l' => Operation::SetLength(offset),
            'y' => Operation::Sync,
            'f' => Operation::Feed((0..len.max(1)).map(|i| (len + i) as u8).collect()),
            other => panic!("no operation is {other}"),
        }
    }

    /// Whether the operation may wait for input.
    pub(super) fn is_read(&self) -> bool {
        matches!(self, Operation::Read(_) | Operation::ReadOnce(_) | Operation::ReadToEnd)
    }

    pub(super) fn of_std(&self, file: &mut std::fs::File, side: &Side, row: &Target) -> Outcome {
        match self {
            Operation::Read(len) if row.is_on_disk => {
                with_buffer(*len, |buf| fill(buf, |left| file.read(left)))
            }
            Operation::Read(len) | Operation::ReadOnce(len) => {
                with_buffer(*len, |buf| file.read(buf))
            }
            Operation::ReadToEnd => {
                let mut bytes = Vec::new();
                Outcome::of(file.read_to_end(&mut bytes).map(|_| Outcome::Bytes(bytes)))
            }
            Operation::ReadAt(len, offset) if row.is_on_disk => with_buffer(*len, |buf| {
                let mut at = *offset;
                fill(buf, |left| file.read_at(left, at).inspect(|n| at += *n as u64))
            }),
            Operation::ReadAt(len, offset) => with_buffer(*len, |buf| file.read_at(buf, *offset)),
            Operation::Write(bytes) => {
                let aligned = Aligned::of(bytes);
                let written = each(aligned.bytes(), |left, _| file.write(left));
                side.through(written)
            }
            Operation::WriteAt(bytes, offset) => {
                let aligned = Aligned::of(bytes);
                let write = |left: &[u8], done| file.write_at(left, offset + done as u64);
                Outcome::number(each(aligned.bytes(), write))
            }
            Operation::Seek(target) => Outcome::number(file.seek(*target)),
            Operation::Position => Outcome::number(file.stream_position()),
            Operation::Metadata => Outcome::number(file.metadata().map(|of| of.len())),
            Operation::SetLength(len) => Outcome::number(file.set_len(*len).map(|()| 0)),
            Operation::Sync => Outcome::number(file.sync_all().map(|()| 0)),
            Operation::Feed(bytes) => side.feed(bytes, file),
        }
    }

    pub(super) async fn of_ours(&self, file: &mut File, side: &Side, row: &Target) -> Outcome {
        match self {
            Operation::Read(len) => {
                let mut buf = Aligned::zeros(*len);
                let n = file.read(buf.bytes_mut()).await;
                Outcome::of(n.map(|n| Outcome::Bytes(buf.bytes()[..n].to_vec())))
            }
            Operation::ReadOnce(len) => {
                let mut buf = Aligned::zeros(*len);
                let n = AsyncReadExt::read(file, buf.bytes_mut()).await;
                Outcome::of(n.map(|n| Outcome::Bytes(buf.bytes()[..n].to_vec())))
            }
            Operation::ReadToEnd => {
                let mut bytes = Vec::new();
                Outcome::of(file.read_to_end(&mut bytes).await.map(|_| Outcome::Bytes(bytes)))
            }
            Operation::ReadAt(len, offset) => {
                let mut buf = Aligned::zeros(*len);
                let n = file.read_at(buf.bytes_mut(), *offset).await;
                Outcome::of(n.map(|n| Outcome::Bytes(buf.bytes()[..n].to_vec())))
            }
            Operation::Write(bytes) => {
                let written = file.write(Aligned::of(bytes).bytes()).await;
                side.through(written.map(|n| n as u64))
            }
            Operation::WriteAt(bytes, offset) => {
                let written = file.write_at(Aligned::of(bytes).bytes(), *offset).await;
                Outcome::number(written.map(|n| n as u64))
            }
            Operation::Seek(target) => Outcome::number(file.seek(*target).await),
            Operation::Position => Outcome::number(file.seek(SeekFrom::Current(0)).await),
            Operation::Metadata => Outcome::number(file.metadata().await.map(|of| of.len())),
            Operation::SetLength(len) => Outcome::number(file.set_len(*len).await.map(|()| 0)),
            Operation::Sync => Outcome::number(file.sync_all().await.map(|()| 0)),
            Operation::Feed(bytes) => {
                let _ = row;
                side.feed(bytes, file)
            }
        }
    }
}

fn random_digit(len: usize) -> usize {
    len % 10
}

fn length(random: &mut Rng, target: &Target) -> usize {
    match random.u8(..4) {
        0 if !target.is_direct || random.bool() => random.usize(..20),
        _ if target.is_direct => ALIGNMENT * random.usize(1..5),
        _ => random.usize(..target.longest),
    }
}

/// Reads until the buffer is full.
fn fill(buf: &mut [u8], mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match read(&mut buf[done..]) {
            Ok(0) => break,
            Ok(n) => done += n,
            // Behind the end of a direct file.
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Writes all, up to an error that comes later.
fn each(bytes: &[u8], mut write: impl FnMut(&[u8], usize) -> io::Result<usize>) -> io::Result<u64> {
    let mut done = 0;
    while done < bytes.len() {
        match write(&bytes[done..], done) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(done as u64)
}

fn with_buffer(len: usize, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> Outcome {
    let mut buf = Aligned::zeros(len);
    let n = read(buf.bytes_mut());
    Outcome::of(n.map(|n| Outcome::Bytes(buf.bytes()[..n].to_vec())))
}

/// Bytes at an address for direct operations.
struct Aligned {
    room: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    fn zeros(len: usize) -> Self {
        let room = vec![0; len + ALIGNMENT];
        let start = room.as_ptr().align_offset(ALIGNMENT);
        Self { room, start, len }
    }

    fn of(bytes: &[u8]) -> Self {
        let mut aligned = Self::zeros(bytes.len());
        aligned.bytes_mut().copy_from_slice(bytes);
        aligned
    }

    fn bytes(&self) -> &[u8] {
        &self.room[self.start..][..self.len]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.start..][..self.len]
    }
}
