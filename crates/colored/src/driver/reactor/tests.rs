//! Tests of the reactor, on real sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::{Interest, ListedWaiter, Ready, Shard, Watched};

/// Counts wakes.
#[derive(Default)]
struct Count(AtomicUsize);

impl Count {
    fn get(&self) -> usize {
        // Ordering: hint only, for both: one thread.
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn waker() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count::default());
    (count.clone(), count.into())
}

/// One end for the reactor, the other for the test.
fn pair() -> (mio::net::TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    ours.set_nonblocking(true).unwrap();
    let theirs = listener.accept().unwrap().0;
    // A reset instead of a goodbye: else some hundred pairs would keep their ports for a minute.
    for end in [&ours, &theirs] {
        SockRef::from(end).set_linger(Some(Duration::ZERO)).unwrap();
    }
    (mio::net::TcpStream::from_std(ours), theirs)
}

/// Polls once, a second at most, and calls the wakers.
fn turn(shard: &Shard) -> usize {
    let mut wakers = Vec::new();
    let events = shard.try_turn().unwrap().poll(Some(Duration::from_secs(1)), &mut wakers).unwrap();
    wakers.into_iter().for_each(Waker::wake);
    events
}

#[test]
fn the_turn_is_exclusive_and_comes_back() {
    let shard = Shard::new().unwrap();
    let turn = shard.try_turn().unwrap();
    assert!(shard.try_turn().is_none());
    drop(turn);
    assert!(shard.try_turn().is_some());
}

#[test]
fn a_wake_ends_the_poll_under_way() {
    let shard = Shard::new().unwrap();
    thread::scope(|scope| {
        let polling = scope.spawn(|| shard.try_turn().unwrap().poll(None, &mut Vec::new()));
        while !shard.is_polled() {
            thread::yield_now();
        }
        shard.wake();
        assert_eq!(polling.join().unwrap().unwrap(), 0);
    });
    assert_eq!(shard.polls(), 1);
    assert!(!shard.is_polled());
}

#[test]
fn wakes_before_a_poll_end_it_and_only_it() {
    let shard = Shard::new().unwrap();
    for _ in 0..3 {
        shard.wake();
    }
    let mut turn = shard.try_turn().unwrap();
    turn.poll(None, &mut Vec::new()).unwrap();
    let start = Instant::now();
    turn.poll(Some(Duration::from_millis(20)), &mut Vec::new()).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(20));
    drop(turn);
    shard.wake();
    shard.try_turn().unwrap().poll(None, &mut Vec::new()).unwrap();
}

#[test]
fn no_wake_is_lost_in_a_race() {
    const WAKES: usize = 20_000;
    let shard = Shard::new().unwrap();
    let published = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = shard.try_turn().unwrap();
            // Ordering: Relaxed: `Shard::wake` promises the visibility that this tests.
            while published.load(Ordering::Relaxed) < WAKES {
                turn.poll(None, &mut Vec::new()).unwrap();
            }
        });
        for n in 1..=WAKES {
            published.store(n, Ordering::Relaxed);
            shard.wake();
        }
    });
}

#[test]
fn an_event_wakes_slot_and_list_of_its_direction_once() {
    let shard = Shard::new().unwrap();
    let (mut ours, mut theirs) = pair();
    let (_, entry) = shard.register(&mut ours, Ready::EMPTY, Watched::EVERYTHING).unwrap();
    turn(&shard);
    let (slot, in_slot) = waker();
    let (list, in_list) = waker();
    let mut slot_cx = Context::from_waker(&in_slot);
    let mut list_cx = Context::from_waker(&in_list);
    let mut places = [(); 3].map(|()| ListedWaiter::new(&entry, Interest::READABLE));
    assert!(entry.poll_slot(&mut slot_cx, Interest::READABLE).is_pending());
    for place in &mut places {
        assert!(place.poll(&mut list_cx).is_pending());
    }
    assert_eq!(entry.listed(), 3);
    theirs.write_all(b"x").unwrap();
    assert_eq!(turn(&shard), 1);
    assert_eq!((slot.get(), list.get()), (1, 3));
    assert!(places[0].poll(&mut list_cx).is_ready());
    drop(places);
    assert_eq!(entry.listed(), 0);
}

/// Sockets that no task waits for fill the first poll. The event that a task waits for comes with the second.
#[test]
fn a_full_poll_is_repeated_until_a_task_is_to_be_woken() {
    let shard = Shard::with_capacity(4).unwrap();
    let mut pairs = [(); 5].map(|()| pair());
    let entries: Vec<_> = pairs
        .iter_mut()
        .map(|(ours, _)| shard.register(ours, Ready::EMPTY, Watched::EVERYTHING).unwrap().1)
        .collect();
    let (_, waker) = waker();
    let mut context = Context::from_waker(&waker);
    assert!(entries[4].poll_slot(&mut context, Interest::WRITABLE).is_pending());
    let mut wakers = Vec::new();
    shard.try_turn().unwrap().poll_all(&mut wakers).unwrap();
    assert_eq!(wakers.len(), 1);
}

/// A peer that reads makes room that no task waits for.
#[test]
#[cfg(unix)]
fn room_is_reported_only_where_it_is_watched() {
    let shard = Shard::new().unwrap();
    let (mut ours, theirs) = mio::net::UnixStream::pair().unwrap();
    let ready = Ready::READABLE | Ready::WRITABLE;
    let (key, entry) = shard.register(&mut ours, ready, Watched::ALL_BUT_ROOM).unwrap();
    entry.exhausted(entry.now().unwrap(), Interest::READABLE);
    let peer_reads = |then: usize| {
        (&ours).write_all(b"x").unwrap();
        (&theirs).read_exact(&mut [0]).unwrap();
        let mut turn = shard.try_turn().unwrap();
        let events = turn.poll(Some(Duration::from_millis(20)), &mut Vec::new()).unwrap();
        assert_eq!(events, then);
    };
    peer_reads(0);
    (&theirs).write_all(b"y").unwrap();
    assert_eq!(turn(&shard), 1, "it can be read");
    assert!(entry.now().unwrap().ready().is_readable());
    (&ours).read_exact(&mut [0]).unwrap();

    entry.exhausted(entry.now().unwrap(), Interest::WRITABLE);
    shard.watch_room(&ours, key).unwrap();
    assert_eq!(turn(&shard), 1, "there is room already");
    assert!(entry.now().unwrap().ready().is_writable());
    peer_reads(1);
}

#[test]
fn a_place_that_is_dropped_is_not_woken() {
    let shard = Shard::new().unwrap();
    let (mut ours, mut theirs) = pair();
    let (_, entry) = shard.register(&mut ours, Ready::EMPTY, Watched::EVERYTHING).unwrap();
    turn(&shard);
    let (count, waker) = waker();
    let mut place = ListedWaiter::new(&entry, Interest::READABLE);
    assert!(place.poll(&mut Context::from_waker(&waker)).is_pending());
    drop(place);
    assert_eq!(Arc::strong_count(&count), 2, "the entry still holds the waker");
    theirs.write_all(b"x").unwrap();
    turn(&shard);
    assert_eq!(count.get(), 0);
}

#[test]
fn a_stale_event_does_not_reach_the_next_socket_of_the_slot() {
    let shard = Shard::new().unwrap();
    let (mut old, mut old_peer) = pair();
    let (old_key, _) = shard.register(&mut old, Ready::EMPTY, Watched::EVERYTHING).unwrap();
    old_peer.write_all(b"x").unwrap();
    drop(old_peer);
    let mut turn = shard.try_turn().unwrap();
    // The batch is fetched, and before it is handed out the socket goes and another takes its slot.
    let poller = &mut *turn.poller;
    poller.poll.poll(&mut poller.events, None).unwrap();
    shard.deregister(&mut old, old_key).unwrap();
    let (mut new, _new_peer) = pair();
    let (_, entry) = shard.register(&mut new, Ready::EMPTY, Watched::EVERYTHING).unwrap();
    let (count, waker) = waker();
    let mut cx = Context::from_waker(&waker);
    assert!(entry.poll_slot(&mut cx, Interest::READABLE).is_pending());
    assert_eq!(shard.dispatch(&poller.events, &mut poller.alarm, &mut Vec::new()), 1);
    assert!(entry.poll_slot(&mut cx, Interest::READABLE).is_pending());
    assert_eq!(count.get(), 0);
}

/// How long a poll for nothing takes.
fn time_of(shard: &Shard, deadline: Instant) -> Duration {
    let start = Instant::now();
    let mut turn = shard.try_turn().unwrap();
    let longest = Some(Duration::from_secs(60));
    assert_eq!(turn.poll_until(longest, deadline, &mut Vec::new()).unwrap(), 0);
    start.elapsed()
}

#[test]
fn a_poll_ends_at_its_deadline_and_not_before() {
    let shard = Shard::new().unwrap();
    let wait = Duration::from_micros(300);
    // A busy machine is late for a while. The timer of the system, without our alarm, would always be.
    let begin = Instant::now();
    let exact = || {
        let start = Instant::now();
        time_of(&shard, start + wait);
        let took = start.elapsed();
        assert!(took >= wait - Duration::from_micros(1), "{took:?}");
        took < wait + Duration::from_micros(250)
    };
    let mut polls = (0..200).map(|_| exact()).collect::<Vec<_>>();
    if cfg!(any(target_os = "linux", target_os = "android")) {
        while !polls.contains(&true) {
            assert!(begin.elapsed() < Duration::from_secs(10), "{} polls were late", polls.len());
            polls.push(exact());
        }
    }
}

#[test]
fn a_poll_whose_deadline_has_passed_does_not_wait() {
    let shard = Shard::new().unwrap();
    let passed = Instant::now();
    // Also when the alarm is set, to whatever.
    for _ in 0..3 {
        assert!(time_of(&shard, passed) < Duration::from_secs(30));
        shard.wake();
        time_of(&shard, Instant::now() + Duration::from_secs(3600));
    }
}

#[test]
fn an_alarm_that_is_left_behind_ends_one_poll_at_most() {
    let shard = Shard::new().unwrap();
    let soon = Instant::now() + Duration::from_millis(20);
    shard.wake();
    time_of(&shard, soon);
    let late = Instant::now() + Duration::from_millis(100);
    let mut polls = 0;
    while Instant::now() < late {
        time_of(&shard, late);
        polls += 1;
    }
    assert!((1..=2).contains(&polls), "{polls}");
}

#[test]
fn an_earlier_deadline_replaces_a_later_one() {
    let shard = Shard::new().unwrap();
    shard.wake();
    time_of(&shard, Instant::now() + Duration::from_secs(3600));
    assert!(time_of(&shard, Instant::now() + Duration::from_millis(1)) < Duration::from_secs(30));
}

#[test]
fn shutting_down_answers_every_wait_with_an_error() {
    let shard = Shard::new().unwrap();
    let (mut ours, _theirs) = pair();
    let (key, entry) = shard.register(&mut ours, Ready::EMPTY, Watched::EVERYTHING).unwrap();
    let (count, waker) = waker();
    let mut cx = Context::from_waker(&waker);
    let mut place = ListedWaiter::new(&entry, Interest::READABLE);
    assert!(place.poll(&mut cx).is_pending());
    assert!(entry.poll_slot(&mut cx, Interest::WRITABLE).is_pending());
    let mut wakers = Vec::new();
    shard.shut_down(&mut wakers);
    wakers.into_iter().for_each(Waker::wake);
    assert_eq!(count.get(), 2);
    let Poll::Ready(Err(error)) = place.poll(&mut cx) else { panic!("still waits") };
    assert!(error.to_string().starts_with("the runtime of this socket has shut down"));
    assert!(entry.now().is_err());
    let (mut late, _peer) = pair();
    assert!(shard.register(&mut late, Ready::EMPTY, Watched::EVERYTHING).is_err());
    drop(place);
    shard.deregister(&mut ours, key).unwrap();
}

#[test]
fn sockets_come_and_go_while_another_thread_polls() {
    let shard = Shard::new().unwrap();
    thread::scope(|scope| {
        let users = [(); 2].map(|()| {
            scope.spawn(|| {
                for _ in 0..200 {
                    let (mut ours, mut theirs) = pair();
                    let (key, entry) =
                        shard.register(&mut ours, Ready::EMPTY, Watched::EVERYTHING).unwrap();
                    theirs.write_all(b"x").unwrap();
                    let me = thread::current();
                    let waker = Waker::from(Arc::new(Unpark(me)));
                    let mut cx = Context::from_waker(&waker);
                    while entry.poll_slot(&mut cx, Interest::READABLE).is_pending() {
                        thread::park();
                    }
                    assert_eq!(ours.read(&mut [0; 8]).unwrap(), 1);
                    shard.deregister(&mut ours, key).unwrap();
                }
            })
        });
        scope.spawn(|| {
            while !shard.sockets().shut_down {
                let mut wakers = Vec::new();
                shard.try_turn().unwrap().poll(None, &mut wakers).unwrap();
                wakers.into_iter().for_each(Waker::wake);
            }
        });
        let _end = End(&shard);
        users.into_iter().for_each(|user| user.join().unwrap());
    });
    assert_eq!(shard.sockets().table.iter().count(), 0);
}

/// Ends the polling thread, also when the test fails.
struct End<'a>(&'a Shard);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.shut_down(&mut Vec::new());
        self.0.wake();
    }
}

struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
