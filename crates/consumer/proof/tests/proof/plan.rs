//! What happens to the members, and what must hold then. The engine says how to send, to restart and to look.

use crate::check::{Effects, Ended};
use crate::fence::{Trouble, accepted, are_stale};
use crate::process::{Member, Scratch, draw};
use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) const PARTITIONS: u32 = 12;
const KEYS: usize = 1_000;
const POISON: &str = "k700";

/// The session of a member. A busy machine must not seem dead.
const SESSION: Duration = Duration::from_secs(6);

/// How long every partition may take to go on after whatever has happened.
const GOES_ON: Duration = Duration::from_secs(120);

/// How long after its end a trouble may still show.
const AFTER: Duration = Duration::from_secs(10);

/// A server with a topic.
pub(crate) trait Engine {
    /// What `consumer-member` calls it.
    const NAME: &str;

    /// Whether the partitions number their records together: then the place of one may be behind the numbers of others.
    const NUMBERS_TOGETHER: bool;

    fn url(&self) -> String;

    fn create_topic(&self, topic: &str);

    /// Appends keys with their numbers, in order.
    fn send(&self, topic: &str, records: &[(String, u64)]);

    /// The committed offset of each partition, from 0 on.
    fn committed(&self, topic: &str) -> Vec<u64>;

    /// The offset after the last record of each partition.
    fn ends(&self, topic: &str) -> Vec<u64>;

    /// The partitions and offsets of the records between these offsets of each partition.
    fn places(&self, topic: &str, from: &[u64], to: &[u64]) -> HashSet<(usize, u64)>;

    /// Kills the server and starts it again.
    fn restart(&mut self);
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos())
}

fn count() -> u64 {
    let words = std::env::var("COLORED_CONSUMER_PROOF");
    words.map_or(100_000, |words| words.parse().expect("a number of records"))
}

/// A process that ended. Behind so many effects, so much was committed.
struct End {
    process: String,
    how: Ended,
    committed: Vec<u64>,
    effects: usize,
}

/// A group of processes, and what became of those that ended.
struct Group<'a, E> {
    engine: &'a mut E,
    scratch: Scratch,
    topic: String,
    options: String,
    members: Vec<Member>,
    ends: Vec<End>,
    troubles: Vec<Trouble>,
    chance: fastrand::Rng,
    /// The places of the records before these offsets.
    places: HashSet<(usize, u64)>,
    places_end: Vec<u64>,
    /// The places of the first `read` effects.
    done: HashSet<(usize, u64)>,
    read: usize,
    most_memory: u64,
    since: Instant,
}

impl<'a, E: Engine> Group<'a, E> {
    fn new(engine: &'a mut E, topic: &str, options: &str) -> Self {
        engine.create_topic(topic);
        let (scratch, topic, options) = (Scratch::new(), topic.to_owned(), options.to_owned());
        let (members, ends, troubles, done, places) = Default::default();
        let places_end = vec![0; PARTITIONS as usize];
        let chance = fastrand::Rng::with_seed(11);
        let (read, most_memory, since) = (0, 0, Instant::now());
        Group {
            engine,
            scratch,
            topic,
            options,
            members,
            ends,
            troubles,
            chance,
            places,
            places_end,
            done,
            read,
            most_memory,
            since,
        }
    }

    fn join(&mut self) {
        let (name, url, topic) = (E::NAME, self.engine.url(), &self.topic);
        let session = SESSION.as_millis();
        let own = format!(
            "--engine {name} --url {url} --topic {topic} --group g-{topic} --session-ms {session} {}",
            self.options
        );
        let program = Path::new(env!("CARGO_BIN_EXE_consumer-member"));
        self.members.push(Member::start(program, &self.scratch, &own));
    }

    fn trouble(&mut self, process: Option<String>, from: u128) {
        self.troubles.push(Trouble { process, from, until: now() + AFTER.as_nanos() });
    }

    fn remove_some(&mut self) -> Member {
        self.members.swap_remove(self.chance.usize(..self.members.len()))
    }

    fn kill(&mut self) {
        let mut member = self.remove_some();
        let peak = member.kill();
        self.end(&member, Ended::Killed, peak);
    }

    fn leave(&mut self) {
        let mut member = self.remove_some();
        let peak = member.leave();
        self.end(&member, Ended::Left, peak);
    }

    fn end(&mut self, member: &Member, how: Ended, peak: u64) {
        check_memory(peak);
        self.most_memory = self.most_memory.max(peak);
        let (process, how) = (member.name(), self.ended(member, how));
        // In this order: an effect after the last one is of a record that was committed only if it comes again.
        let committed = self.engine.committed(&self.topic);
        let effects = self.scratch.count();
        self.ends.push(End { process, how, committed, effects });
    }

    /// How a process ended: one that may have lost its partitions before, like one that slept.
    fn ended(&self, member: &Member, ended: Ended) -> Ended {
        let is_its = |trouble: &Trouble| {
            trouble.process.as_ref().is_none_or(|process| *process == member.name())
        };
        if self.troubles.iter().any(is_its) { Ended::Slept } else { ended }
    }

    fn sleep(&mut self) {
        let at = self.chance.usize(..self.members.len());
        let (name, from) = (self.members[at].name(), now());
        self.members[at].sleep_past_the_session(SESSION + Duration::from_secs(2));
        self.trouble(Some(name), from);
    }

    fn restart_server(&mut self) {
        let from = now();
        self.engine.restart();
        self.trouble(None, from);
    }

    /// Looks up where the new records are.
    fn look(&mut self) {
        let ends = self.engine.ends(&self.topic);
        self.places.extend(self.engine.places(&self.topic, &self.places_end, &ends));
        self.places_end = ends;
    }

    /// (6) and (9): no commit passes an unfinished record, and every partition that has something left goes on.
    fn check_progress(&mut self, what: &str, poisoned: usize) {
        let committed = self.engine.committed(&self.topic);
        let lines = self.scratch.effects();
        self.look();
        let places = self.places.iter().copied();
        Effects::read(&lines).check_commits(lines.len(), &committed, places);
        let mut left = self.unfinished(poisoned);
        let (end, mut from) = (Instant::now() + GOES_ON, lines.len());
        loop {
            let lines = self.scratch.effects();
            for line in &lines[from..] {
                left.remove(&place(line).0);
            }
            from = lines.len();
            if !left.is_empty() {
                left = &left & &self.unfinished(poisoned);
            }
            if left.is_empty() {
                return;
            }
            assert!(
                Instant::now() < end,
                "after {what}, partitions stand still: {left:?}; committed, and last effects: {:?}",
                self.reached()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The committed offset of each partition, and the highest that has an effect.
    fn reached(&self) -> Vec<(u64, Option<u64>)> {
        let committed = self.engine.committed(&self.topic).into_iter().enumerate();
        let highest =
            |at| self.done.iter().filter(|(of, _)| *of == at).map(|(_, offset)| *offset).max();
        committed.map(|(at, offset)| (offset, highest(at))).collect()
    }

    /// The partitions with more records without an effect than the poisoned ones.
    fn unfinished(&mut self, poisoned: usize) -> HashSet<usize> {
        let lines = self.scratch.effects();
        self.done.extend(lines[self.read..].iter().map(|line| place(line)));
        self.read = lines.len();
        let mut left = [0; PARTITIONS as usize];
        self.places.difference(&self.done).for_each(|(partition, _)| left[*partition] += 1);
        (0..left.len()).filter(|at| left[*at] > poisoned).collect()
    }

    fn wait_for_effects(&mut self, count: u64) {
        self.members[0].wait_for_effects(&self.scratch, count, Duration::from_secs(5));
    }
}

/// The partition and the offset of an effect.
fn place(line: &str) -> (usize, u64) {
    let words: Vec<_> = line.split(' ').collect();
    (words[6].parse().unwrap(), words[7].parse().unwrap())
}

/// (8) Memory stays bounded.
fn check_memory(peak: u64) {
    assert!(peak < 300 << 20, "{peak} bytes of memory");
}

/// Something that happens to a group, with its name.
type Step<'a, E> = (&'static str, fn(&mut Group<'a, E>));

/// Four members, and everything that may happen to them, each time in the middle of new records.
pub(crate) fn kills_lose_nothing<E: Engine>(engine: &mut E) {
    let sent = draw(count(), KEYS);
    let poisoned = sent.iter().filter(|(key, _)| key == POISON).count();
    // More records are not to take longer.
    let micros = (200_000_000 / sent.len()).min(20_000);
    let work = format!("--work-us {micros} --fail-every 97 --poison {POISON}");
    let mut group = Group::new(engine, "proof", &work);
    (0..4).for_each(|_| group.join());
    let steps: [Step<'_, E>; 12] = [
        ("a kill", |group| group.kill()),
        ("a join", |group| group.join()),
        ("an end in time", |group| group.leave()),
        ("a join", |group| group.join()),
        ("a sleep", |group| group.sleep()),
        ("a kill", |group| group.kill()),
        ("a restart of the server", |group| group.restart_server()),
        ("a join", |group| group.join()),
        ("an end in time", |group| group.leave()),
        ("a kill", |group| group.kill()),
        ("a join", |group| group.join()),
        ("a join", |group| group.join()),
    ];
    let parts = sent.chunks(sent.len().div_ceil(steps.len()));
    for ((what, step), part) in steps.into_iter().zip(parts) {
        let before = group.scratch.count();
        group.engine.send("proof", part);
        let sent = group.scratch.count();
        group.wait_for_effects((before + part.len() / 4).saturating_sub(sent) as u64);
        println!("{}: {what}", E::NAME);
        step(&mut group);
        group.check_progress(what, poisoned);
    }
    finish(group, &sent);
}

/// Handles the rest without poison, and checks all effects.
fn finish<E: Engine>(mut group: Group<'_, E>, sent: &[(String, u64)]) {
    while !group.members.is_empty() {
        group.leave();
    }
    group.options = String::new();
    (0..4).for_each(|_| group.join());
    let mut last = group.members.pop().unwrap();
    last.wait_for_all(&group.scratch, sent);
    group.members.push(last);
    while !group.members.is_empty() {
        group.leave();
    }
    let (committed, ends) = (group.engine.committed(&group.topic), group.engine.ends(&group.topic));
    let last = ends.iter().max().copied().unwrap_or(0);
    let is_all = |(committed, end): (&u64, &u64)| match E::NUMBERS_TOGETHER {
        true => (*end..=last).contains(committed),
        false => committed == end,
    };
    assert!(committed.iter().zip(&ends).all(is_all), "all is committed: {committed:?} of {ends:?}");
    let lines = group.scratch.effects();
    let of_store = Effects::read(&accepted(&lines));
    of_store.check_all_appear(sent);
    of_store.check_order(sent);
    let stale = are_stale(&lines, &group.troubles);
    let timely: Vec<_> = lines
        .iter()
        .zip(&stale)
        .filter(|(_, stale)| !**stale)
        .map(|(line, _)| line.clone())
        .collect();
    let (count, stale_count) = (lines.len(), lines.len() - timely.len());
    let (records, megabytes) = (sent.len(), group.most_memory >> 20);
    println!("{}: {count} effects of {records} records, {stale_count} of them stale", E::NAME);
    println!("{}: {megabytes} MB at most in a member, {:?}", E::NAME, group.since.elapsed());
    let timely = Effects::read(&timely);
    timely.check_no_overlap();
    for end in &group.ends {
        let before = stale[..end.effects].iter().filter(|stale| !**stale).count();
        timely.check_repeats(&end.process, end.how, (before, &end.committed));
    }
}

/// (7) Every key but one goes on, although that one fails for ever.
pub(crate) fn poison_stops_only_itself<E: Engine>(engine: &mut E) {
    let sent = draw(1_000, 100);
    let mut group = Group::new(engine, "poison", "--poison k3");
    group.engine.send("poison", &sent);
    (0..2).for_each(|_| group.join());
    let others: Vec<_> = sent.iter().filter(|(key, _)| *key != "k3").cloned().collect();
    let mut last = group.members.pop().unwrap();
    last.wait_for_all(&group.scratch, &others);
    last.leave();
    assert!(!Effects::read(&group.scratch.effects()).has_key("k3"));
}

/// A build that commits on receipt loses records at a kill, and the checks find it.
pub(crate) fn a_commit_on_receipt_is_found<E: Engine>(engine: &mut E) {
    // More than anybody finishes, however busy the machine is, and slower than somebody looks.
    let sent = draw(20_000, 100);
    let mut group = Group::new(engine, "receipt", "--work-us 1000000 --broken receipt");
    group.engine.send("receipt", &sent);
    group.look();
    (0..2).for_each(|_| group.join());
    let end = Instant::now() + GOES_ON;
    loop {
        let (committed, lines) = (group.engine.committed("receipt"), group.scratch.effects());
        let (effects, places) = (Effects::read(&lines), group.places.iter().copied());
        let check = AssertUnwindSafe(|| effects.check_commits(lines.len(), &committed, places));
        if std::panic::catch_unwind(check).is_err() {
            break;
        }
        assert!(Instant::now() < end, "no commit passes an unfinished record");
        std::thread::sleep(Duration::from_millis(200));
    }
    (0..2).for_each(|_| group.kill());
}

/// A build that releases partitions without a drain has two members in a key at once or repeats effects, and the checks find
/// it.
pub(crate) fn a_missing_drain_is_found<E: Engine>(engine: &mut E) {
    // More than anybody finishes: every join comes in the middle, however busy the machine is.
    let sent = draw(20_000, 100);
    let mut group = Group::new(engine, "drain", "--work-us 200000 --broken drain");
    group.engine.send("drain", &sent);
    group.join();
    for _ in 0..3 {
        group.wait_for_effects(100);
        group.join();
    }
    let process = group.members[0].name();
    let is_found = |effects: &Effects| {
        let overlaps = std::panic::catch_unwind(|| effects.check_no_overlap()).is_err();
        let check = || effects.check_repeats(&process, Ended::Left, (0, &[]));
        overlaps || std::panic::catch_unwind(check).is_err()
    };
    let end = Instant::now() + GOES_ON;
    while !is_found(&Effects::read(&group.scratch.effects())) {
        assert!(Instant::now() < end, "no handler ran on");
        std::thread::sleep(Duration::from_millis(200));
    }
    (0..4).for_each(|_| group.kill());
}
