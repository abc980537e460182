//! The threads of one class, and the queue they share.

use std::{
    collections::VecDeque,
    fmt, mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use colored_core::contain;

use super::{Call, Class, Job, Limits, Refused, Stats, name::thread_name};
use crate::{thread_settings::ThreadSettings, wall};

/// The threads of one class.
pub(crate) struct Threads {
    state: Mutex<State>,
    /// Told when a thread leaves a closed threads.
    left: Condvar,
    name: String,
    title: String,
    is_waited_for: bool,
    max_threads: usize,
    keep_alive: Duration,
    prefix: String,
    thread_settings: ThreadSettings,
}

struct State {
    queue: VecDeque<Job>,
    /// The threads that wait for a job; the last one is called first, so that the threads at the
    /// bottom come to retire.
    idle: Vec<Idle>,
    /// The threads by number. A number is free when its place is empty.
    threads: Vec<Option<Place>>,
    /// How many threads there are.
    running: usize,
    /// The threads that have ended since the pool was closed.
    gone: Vec<JoinHandle<()>>,
    closed: bool,
}

/// A thread, and what it runs.
struct Place {
    thread: JoinHandle<()>,
    call: Option<Call>,
}

impl State {
    /// The calls that threads are in.
    fn calls(&self) -> impl Iterator<Item = Call> {
        self.threads.iter().flatten().filter_map(|place| place.call)
    }

    /// The thread of that number begins a call, or has ended one.
    fn note(&mut self, number: usize, call: Option<Call>) {
        if let Some(place) = &mut self.threads[number] {
            place.call = call;
        }
    }
}

/// A thread that waits. It is called by being taken off the list and notified.
struct Idle {
    number: usize,
    call: Arc<Condvar>,
}

impl Threads {
    /// The threads of a class of the runtime's own.
    pub(super) fn of_class(class: Class, limits: &Limits) -> Threads {
        let max_threads = class.max_threads(limits.max_threads);
        Threads {
            title: class.title().to_owned(),
            ..Threads::new(class.name(), class.is_waited_for(), max_threads, limits)
        }
    }

    /// The name of these threads in a text.
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// Whether the end of the pool waits for a call that has begun.
    pub(super) fn is_waited_for(&self) -> bool {
        self.is_waited_for
    }

    /// The calls that threads are in.
    pub(super) fn running(&self) -> Vec<Call> {
        self.lock().calls().collect()
    }

    pub(super) fn new(
        name: &str,
        is_waited_for: bool,
        max_threads: usize,
        limits: &Limits,
    ) -> Threads {
        Threads {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                idle: Vec::new(),
                threads: Vec::new(),
                running: 0,
                gone: Vec::new(),
                closed: false,
            }),
            left: Condvar::new(),
            name: name.to_owned(),
            title: name.to_owned(),
            is_waited_for,
            max_threads,
            keep_alive: limits.keep_alive,
            prefix: limits.prefix.clone(),
            thread_settings: limits.thread_settings.clone(),
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        let state = self.lock();
        Stats { threads: state.running, idle: state.idle.len(), queued: state.queue.len() }
    }

    /// Whether a job is queued or runs.
    pub(super) fn has_work(&self) -> bool {
        let state = self.lock();
        state.calls().next().is_some() || !state.queue.is_empty()
    }

    /// Takes the job that has waited longest.
    #[cfg(feature = "sim")]
    pub(super) fn take_job(&self) -> Option<Job> {
        self.lock().queue.pop_front()
    }

    /// See [`Pool::submit`](super::Pool::submit).
    pub(crate) fn submit(self: &Arc<Self>, job: Job) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::ShutDown(job));
        }
        state.queue.push_back(job);
        if let Some(idle) = state.idle.pop() {
            idle.call.notify_one();
            return Ok(());
        }
        if state.running == self.max_threads {
            return Ok(());
        }
        match self.hire(&mut state) {
            Err(error) if state.running == 0 => {
                let job = state.queue.pop_back().expect("the job was pushed under this lock");
                Err(Refused::NoThread(job, error))
            }
            _ => Ok(()),
        }
    }

    /// Makes a thread. That happens under the lock: it is rare, and so no job relies on a thread
    /// that then cannot be made.
    fn hire(self: &Arc<Self>, state: &mut State) -> std::io::Result<()> {
        let free = state.threads.iter().position(Option::is_none);
        let number = free.unwrap_or(state.threads.len());
        let threads = self.clone();
        let name = thread_name(&self.prefix, &self.name, number);
        let body = self.thread_settings.around(move || threads.work(number));
        let thread = self.thread_settings.thread(name).spawn(body)?;
        let place = Some(Place { thread, call: None });
        match free {
            Some(number) => state.threads[number] = place,
            None => state.threads.push(place),
        }
        state.running += 1;
        Ok(())
    }

    /// The loop of a thread from its first job until it retires.
    fn work(&self, number: usize) {
        let call = Arc::new(Condvar::new());
        let mut state = self.lock();
        loop {
            while let Some(job) = state.queue.pop_front() {
                state.note(number, Some(job.call()));
                drop(state);
                contain(|| job.run());
                state = self.lock();
                state.note(number, None);
            }
            if state.closed {
                break;
            }
            let waited;
            (state, waited) = self.wait(state, number, &call);
            if !waited {
                // No thread joins it: it counts as ended.
                state.threads[number] = None;
                break;
            }
        }
        state.running -= 1;
        if state.closed {
            let place = state.threads.get_mut(number).and_then(Option::take);
            state.gone.extend(place.map(|place| place.thread));
            self.left.notify_all();
        }
    }

    /// Waits to be called. False if that took too long.
    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        number: usize,
        call: &Arc<Condvar>,
    ) -> (MutexGuard<'a, State>, bool) {
        state.idle.push(Idle { number, call: call.clone() });
        let begin = wall::now();
        loop {
            let left = self.keep_alive.saturating_sub(wall::since(begin));
            (state, _) = call.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            let Some(place) = state.idle.iter().position(|idle| idle.number == number) else {
                return (state, true);
            };
            if wall::since(begin) >= self.keep_alive {
                state.idle.remove(place);
                return (state, false);
            }
        }
    }

    /// Takes no more jobs, drops the waiting jobs, and wakes every idle thread.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let jobs = mem::take(&mut state.queue);
        for idle in state.idle.drain(..) {
            idle.call.notify_one();
        }
        drop(state);
        jobs.into_iter().for_each(|job| contain(|| drop(job)));
    }

    /// Waits for the threads of a closed pool, but not for busy threads of a class that is not waited
    /// for ([`Class::is_waited_for`]). True when there are none but those.
    pub(super) fn join(&self, deadline: Option<Instant>) -> bool {
        let me = thread::current().id();
        let mut state = self.lock();
        let mut places = state.threads.iter().flatten();
        let mine = usize::from(places.any(|place| place.thread.thread().id() == me));
        let leaves_busy = !self.is_waited_for;
        loop {
            let left_alone = if leaves_busy { state.calls().count().max(mine) } else { mine };
            if state.running <= left_alone {
                break;
            }
            let Some(deadline) = deadline else {
                state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(wall::now());
            if left.is_zero() {
                return false;
            }
            (state, _) =
                self.left.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        let none_left = leaves_busy || state.running == 0;
        let gone = mem::take(&mut state.gone);
        drop(state);
        // They have released the lock for the last time; this waits for their exit.
        for thread in gone {
            thread.join().expect("a thread of the pool contains every panic");
        }
        none_left
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock is left half-done by a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").field("name", &self.name).field("stats", &self.stats()).finish()
    }
}
