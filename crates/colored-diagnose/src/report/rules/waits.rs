//! Waits that no clock of a color measures: for locks, and for colors that are kept and not given up.

use super::{FULL, MOSTLY};
use crate::report::digest::Digest;
use crate::report::fault::{Fault, Finding};
use crate::report::text;
use crate::report::waits::{Kept, WaitDigest, Waiting};
use std::collections::BTreeMap;
use std::panic::Location;

/// Some task waits nearly all the time, if it does so in nine of ten looks.
const NEARLY: f64 = 0.899;

/// The kinds of waits that end from outside: what waits for them idles.
const OUTSIDE: [&str; 7] =
    ["readable", "accept", "notified", "child", "signal", "timeout", "other"];

/// The color that one task keeps all the time, while others wait for it.
pub(super) fn stuck(digest: &Digest<'_>) -> Option<Finding> {
    let waits = &digest.waits;
    let all = waits.kept.iter().filter(|_| waits.is_enough());
    let kept = all.filter(|kept| is_stuck(digest, kept)).max_by_key(|kept| kept.last.queued)?;
    let last = &kept.last;
    let waits_for = match &last.waits_for {
        Some(wait) => format!("which {}", wait.text),
        None => "which has a turn coming".into(),
    };
    let sentence = format!(
        "{} is kept by the {} at {} of {:?}, spawned at {}, {waits_for}; {} wait for the color",
        digest.waits.name(last.color),
        last.by,
        last.site,
        last.task,
        last.spawned,
        text::count(kept.queued)
    );
    let lock = last.waits_for.as_ref().filter(|wait| wait.what == "lock");
    let mut finding = Finding::new(Fault::StuckColor, 1.0, sentence)
        .waits_for(lock.and_then(|wait| wait.site))
        .at(Some(last.site))
        .because(format!(
            "the {} has lasted for {}, and the task had no turn in the {} of the observation",
            last.by,
            text::time(last.time),
            text::seconds(digest.length)
        ));
    finding.color = Some(last.color);
    Some(finding.mend(match lock {
        Some(_) => {
            "wait for no lock inside a section: if a task of this color has the lock, it goes on only after the section, and \
             this is a deadlock. Lock before the section, or put the value into a `ColorCell` of the color in place of the \
             lock"
        }
        None => {
            "await before the section (`exclusive`, `ColorCell::exclusive`) or after it, not inside, or put a `timeout` around \
             the wait: what must happen first may need the color"
        }
    }))
}

fn is_stuck(digest: &Digest<'_>, kept: &Kept) -> bool {
    kept.part >= 1.0 && kept.is_same && kept.last.time.as_secs_f64() >= MOSTLY * digest.length
}

/// The lock for which some task waits nearly all the time, while CPUs have room.
pub(super) fn lock(digest: &Digest<'_>) -> Option<Finding> {
    if !digest.waits.is_enough() || digest.awake() >= FULL {
        return None;
    }
    let locks = locks(&digest.waits);
    let limits = locks.iter().filter(|lock| lock.part >= NEARLY && !lock.is_idle(&digest.waits));
    let lock = limits.max_by(|a, b| a.tasks.total_cmp(&b.tasks))?;
    let at = lock.site.map_or_else(|| "an unknown place".into(), ToString::to_string);
    let mut sentence = format!(
        "{} a lock at {at} nearly all the time",
        if lock.tasks > 1.5 {
            format!("{} wait for", text::count(lock.tasks))
        } else {
            "a task waits for".into()
        }
    );
    if let Some(oldest) = lock.waits.iter().filter_map(|wait| wait.oldest).max() {
        sentence += &format!(", the oldest for {}", text::time(oldest));
    }
    if lock.is_same {
        sentence += "; none of them has got it meanwhile";
    }
    let mut finding = Finding::new(Fault::LockWait, lock.part, sentence).at(lock.site);
    for wait in lock.waits.iter().take(3) {
        let tasks = text::count(wait.tasks);
        let site = wait.site.map(|site| format!(", which lock at {site}")).unwrap_or_default();
        finding = finding.because(format!("on average {tasks} spawned at {}{site}", wait.spawned));
    }
    let keeps = |kept: &&Kept| kept.lock.is_some() && kept.lock == lock.site;
    for kept in digest.waits.kept.iter().filter(keeps).take(2) {
        finding = finding.because(format!(
            "meanwhile the {} at {} keeps {}, for which {} wait",
            kept.last.by,
            kept.last.site,
            digest.waits.name(kept.last.color),
            text::count(kept.queued)
        ));
    }
    let load = text::percent(digest.load());
    Some(finding.because(format!("polls take {load} of the CPUs")).mend(if lock.is_same {
        "find out who has the lock: a dump lists the tasks and what they wait for. Two tasks that lock two locks in different \
         orders wait for ever; a value in a `ColorCell`, and `when` for several of them, cannot do that"
    } else {
        "hold the lock for less: do not await, or compute for long, between lock and unlock; divide what it protects, by a key; \
         or put the value into a `ColorCell`, whose closures run one after the other and never hold it across an await"
    }))
}

/// The waits for one lock.
struct Lock<'d> {
    site: Option<&'static Location<'static>>,
    waits: Vec<&'d Waiting>,
    tasks: f64,
    part: f64,
    is_same: bool,
}

impl<'d> Lock<'d> {
    /// The waits come with the most frequent one first.
    fn of(part: f64, waits: Vec<&'d Waiting>) -> Self {
        Self {
            site: waits[0].site,
            tasks: waits.iter().map(|wait| wait.tasks).sum(),
            part,
            is_same: waits.iter().all(|wait| wait.is_same),
            waits,
        }
    }

    /// Whether those who wait for it are idle: a task like them, which may have the lock, waits for a message, as workers do
    /// that share a receiver by a lock; or nobody gets the lock, and it waits for something else from outside.
    fn is_idle(&self, waits: &WaitDigest) -> bool {
        let is_outside = |what| what == "receive" || self.is_same && OUTSIDE.contains(&what);
        let is_like = |other: &Waiting| {
            self.waits.iter().any(|wait| wait.spawned == other.spawned)
                && is_outside(other.what)
                && other.part >= NEARLY
        };
        waits.waiting.iter().any(is_like)
    }
}

/// The waits for locks, by lock: it may be waited for at several places.
fn locks(waits: &WaitDigest) -> Vec<Lock<'_>> {
    let mut locks: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for wait in &waits.locks {
        locks.entry(wait.lock).or_default().push(wait);
    }
    let lock = |(lock, of)| Lock::of(waits.part_of_lock(lock), of);
    locks.into_iter().map(lock).collect()
}
