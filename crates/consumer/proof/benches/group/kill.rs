//! How soon somebody goes on when a member is killed.

use crate::process::{Member, Scratch};
use crate::side::{SESSION, Sent, Side};
use colored::time::{Duration, sleep};
use futures_util::future::{Either, select};
use std::path::Path;
use std::pin::pin;
use std::time::{SystemTime, UNIX_EPOCH};

/// A hundred records each time.
const EACH: Duration = Duration::from_millis(10);

/// How long nothing happens, so that each partition has a record.
const CALM: Duration = Duration::from_secs(4);

/// A line of an effect: who, when in nanoseconds since 1970, and the partition.
struct Line {
    process: String,
    start: u128,
    partition: u32,
}

fn lines(files: &Scratch) -> Vec<Line> {
    let read = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let process = words[2].split('.').next().expect("there is one").to_owned();
        let number = |at: usize| words[at].parse::<u128>().expect("it is a number");
        Line { process, start: number(4), partition: number(6) as u32 }
    };
    let effects = files.effects();
    effects.iter().map(|line| read(line)).collect()
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos())
}

fn seconds(from: u128, to: u128) -> f64 {
    to.saturating_sub(from) as f64 / 1e9
}

pub(crate) async fn kill<S: Side>(side: &S) {
    let sent = Sent::default();
    let sends = pin!(sent.send(side, usize::MAX, EACH));
    let scenario = pin!(async {
        take_over(side).await;
        come_back(side).await;
    });
    let Either::Left(_) = select(scenario, sends).await else {
        unreachable!("the sends do not end")
    };
}

fn start(side: &impl Side, name: &str, files: &Scratch, group: &str, more: &str) -> Member {
    let (url, topic, session) = (side.url(), side.topic(), SESSION.as_millis());
    let own = format!(
        "--engine {name} --url {url} --topic {topic} --group {group} --session-ms {session} {more}"
    );
    let program = Path::new(env!("CARGO_BIN_EXE_consumer-member"));
    colored::block_in_place(|| Member::start(program, files, &own))
}

/// Of two members one is killed: the other one takes its partitions when its session has ended.
async fn take_over<S: Side>(side: &S) {
    let files = Scratch::new();
    let _stays = start(side, S::NAME, &files, "taken-over", "");
    let mut killed = start(side, S::NAME, &files, "taken-over", "");
    sleep(CALM * 2).await;
    let name = killed.name();
    let at = now();
    killed.kill();
    sleep(SESSION + CALM).await;
    let lines = lines(&files);
    let mut beyond: Vec<f64> = Vec::new();
    for partition in 0..crate::side::PARTITIONS {
        let mut own = lines.iter().filter(|line| line.partition == partition);
        let last = own.clone().filter(|line| line.start < at).max_by_key(|line| line.start);
        if last.is_some_and(|last| last.process == name) {
            let first = own.by_ref().filter(|line| line.start > at).map(|line| line.start).min();
            let first = first.expect("somebody has taken it over");
            beyond.push(seconds(at, first) - SESSION.as_secs_f64());
        }
    }
    beyond.sort_by(f64::total_cmp);
    println!(
        "kill, {}: {} partitions go on {:.2} s to {:.2} s after the end of the session of {SESSION:?}",
        S::NAME,
        beyond.len(),
        beyond[0],
        beyond[beyond.len() - 1]
    );
}

/// A static member is killed, and started again.
async fn come_back<S: Side>(side: &S) {
    let files = Scratch::new();
    let member = || start(side, S::NAME, &files, "come-back", "--instance a");
    let mut first = member();
    sleep(CALM).await;
    first.kill();
    let at = now();
    let second = member();
    sleep(SESSION + CALM).await;
    let lines = lines(&files);
    let own = lines.iter().filter(|line| line.process == second.name());
    let first = own.map(|line| line.start).min().expect("it goes on");
    println!(
        "kill, {}: a static member that is started again has its first record after {:.2} s",
        S::NAME,
        seconds(at, first)
    );
}
