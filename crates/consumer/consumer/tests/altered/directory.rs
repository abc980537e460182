//! The embedded engine in a directory, whose files are altered while it is closed.

use colored::fs;
use colored::sync::Mutex;
use colored_consumer::conformance::Fixture;
use colored_consumer::conformance::alter::{AlterLog, Alteration, Altered};
use colored_consumer::embedded::{Engine, Member, NewRecord, Options};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files with what they contain.
type Copy = Vec<(PathBuf, Vec<u8>)>;

/// An engine with a topic `t` of two partitions. Each record begins a segment, so that files are records.
pub(crate) struct Directory {
    path: PathBuf,
    engine: Mutex<Option<Engine>>,
    /// What partition 0 has had, by offset.
    values: Mutex<Vec<String>>,
    /// The files of partition 0 when it had so many records.
    copies: Mutex<BTreeMap<u32, Copy>>,
    /// Whether appends wait for the device: then the end of a log cannot get lost.
    sync: bool,
}

impl Directory {
    /// An engine for this alteration.
    pub(crate) async fn new(directory: &Path, alteration: Alteration) -> Directory {
        let made = Directory {
            path: directory.to_owned(),
            engine: Mutex::default(),
            values: Mutex::default(),
            copies: Mutex::default(),
            sync: !matches!(alteration, Alteration::Shorten(_)),
        };
        assert!(made.open().await);
        made.engine().await.create_topic("t", 2).await.unwrap();
        made
    }

    /// Opens the engine; returns whether it can be opened.
    async fn open(&self) -> bool {
        let opened = Options::new().segment_bytes(1).sync(self.sync).open(&self.path).await;
        let engine = &mut *self.engine.lock().await;
        *engine = opened.ok();
        engine.is_some()
    }

    async fn copy(&self) -> Copy {
        let mut copy = Vec::new();
        for (_, path) in self.segments().await {
            copy.push((path.clone(), fs::read(path).await.unwrap()));
        }
        copy
    }

    async fn engine(&self) -> Engine {
        self.engine.lock().await.clone().expect("it is open")
    }

    /// The segments of partition 0, with the offsets of their first records.
    async fn segments(&self) -> Vec<(usize, PathBuf)> {
        let topics = list(&self.path.join("topics")).await;
        let mut segments = Vec::new();
        for topic in topics {
            for path in list(&topic.join("0")).await {
                let name = path.file_stem().and_then(|name| name.to_str()?.parse().ok());
                segments.extend(name.map(|base| (base, path)));
            }
        }
        segments.sort();
        segments
    }

    /// Removes the segments that begin with these offsets; returns what is left.
    async fn remove(&self, is_gone: impl Fn(usize) -> bool) -> Vec<String> {
        for (base, path) in self.segments().await {
            if is_gone(base) {
                fs::remove_file(path).await.unwrap();
            }
        }
        let values = self.values.lock().await.clone().into_iter().enumerate();
        values.filter(|(offset, _)| !is_gone(*offset)).map(|(_, value)| value).collect()
    }

    /// Whether both partitions take records, if a bit has flipped: a damaged one may refuse them.
    async fn takes_records(&self, alteration: Alteration) -> bool {
        if !matches!(alteration, Alteration::FlipBit(_)) {
            return true;
        }
        let engine = self.engine().await;
        let record = || NewRecord { value: Some("probe".into()), ..NewRecord::default() };
        engine.send_to("t", 1, record()).await.is_ok()
            && engine.send_to("t", 0, record()).await.is_ok()
    }

    async fn flip(&self, number: u32) {
        let mut files = Vec::new();
        let mut folders = vec![self.path.clone()];
        while let Some(folder) = folders.pop() {
            for path in list(&folder).await {
                match fs::metadata(&path).await.unwrap() {
                    metadata if metadata.is_dir() => folders.push(path),
                    metadata if metadata.len() > 0 => files.push((path, metadata.len())),
                    _ => {}
                }
            }
        }
        files.sort();
        let all: u64 = files.iter().map(|(_, bytes)| bytes * 8).sum();
        // A prime, so that the places are everywhere.
        let mut at = u64::from(number) * 7_919 % all;
        for (path, bytes) in files {
            if at < bytes * 8 {
                let mut content = fs::read(&path).await.unwrap();
                content[(at / 8) as usize] ^= 1 << (at % 8);
                return fs::write(&path, content).await.unwrap();
            }
            at -= bytes * 8;
        }
    }
}

async fn list(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let Ok(mut entries) = fs::read_dir(folder).await else { return paths };
    while let Some(entry) = entries.next_entry().await.unwrap() {
        paths.push(entry.path());
    }
    paths.sort();
    paths
}

impl Fixture for Directory {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        self.engine().await.member(group, ["t"]).join().await.unwrap()
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        let record =
            NewRecord { value: value.map(|of| of.to_owned().into()), ..NewRecord::default() };
        self.engine().await.send_to("t", partition, record).await.unwrap();
        if partition == 0 {
            self.values.lock().await.extend(value.map(str::to_owned));
            let count = self.values.lock().await.len() as u32;
            let copy = self.copy().await;
            self.copies.lock().await.insert(count, copy);
        }
    }
}

impl AlterLog for Directory {
    async fn alter(&self, alteration: Alteration, is_running: bool) -> Altered {
        if alteration == Alteration::MakeAgain {
            let engine = self.engine().await;
            engine.delete_topic("t").await.unwrap();
            engine.create_topic("t", 2).await.unwrap();
            return Altered::Has(Vec::new());
        }
        if is_running {
            return Altered::Unsupported;
        }
        self.engine.lock().await.take();
        let count = self.values.lock().await.len();
        let left = match alteration {
            Alteration::BeginLater(records) => self.remove(|base| base < records as usize).await,
            Alteration::Shorten(records) => {
                self.remove(|base| base >= count - records as usize).await
            }
            Alteration::Restore(records) => {
                self.remove(|_| true).await;
                for (path, content) in &self.copies.lock().await[&records] {
                    fs::write(path, content).await.unwrap();
                }
                self.values.lock().await[..records as usize].to_vec()
            }
            Alteration::FlipBit(number) => {
                self.flip(number).await;
                self.values.lock().await.clone()
            }
            _ => self.values.lock().await.clone(),
        };
        let is_open = self.open().await && self.takes_records(alteration).await;
        match alteration {
            _ if !is_open => Altered::Refused,
            // Its offsets have no holes but those of damage.
            Alteration::Holes | Alteration::DeleteLast(_) | Alteration::Mark => {
                Altered::Unsupported
            }
            _ => Altered::Has(left),
        }
    }
}
