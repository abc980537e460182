//! SCTBench: small threaded programs, each shared access a turn.

use super::tools::{Condition, Shared, go, join};
use super::{HANGS, kernels};
use colored::sync::Mutex;
use std::sync::Arc;

kernels! {
    Turn account "SCTBench account_bad" "the balance is wrong";
    Turn bluetooth_driver "SCTBench bluetooth_driver_bad" "work after the stop";
    Turn carter "SCTBench carter01_bad" HANGS;
    Turn lazy "SCTBench lazy01_bad" "the sum comes too early";
    Turn reorder_3 "SCTBench reorder_3_bad" "half of the change is seen";
    Turn reorder_5 "SCTBench reorder_5_bad" "half of the change is seen";
    Turn stack "SCTBench stack_bad" "the stack is empty";
    Turn string_buffer "SCTBench stringbuffer-jdk1.4" "behind the end of the text";
    Turn sync02 "SCTBench sync02_bad" HANGS;
    Turn token_ring "SCTBench token_ring_bad" "the tokens differ";
    Turn two_stage "SCTBench twostage_bad" "the second stage is missing";
    Turn work_stealing "SCTBench chess.WorkStealQueue" "an item is taken twice";
    Turn wrong_lock "SCTBench wronglock_3_bad" "the value has changed";
}

fn lock() -> Arc<Mutex<()>> {
    Arc::default()
}

/// A deposit and a withdrawal, each with its own read and write.
async fn account(wrong: bool) {
    let (balance, lock) = (Shared::new(100), lock());
    let change = |by: i32| {
        let (balance, lock) = (balance.clone(), lock.clone());
        go(async move {
            let _guard = if wrong { None } else { Some(lock.lock().await) };
            let seen = balance.get().await;
            balance.set(seen + by).await;
        })
    };
    join([change(50), change(-30)]).await;
    assert!(balance.get().await == 120, "the balance is wrong");
}

/// A driver counts its open requests; the stop, which waits for none, comes between a request's look and its count.
async fn bluetooth_driver(wrong: bool) {
    // Open requests, whether it stops, whether it has stopped.
    let state = Shared::new((1, false));
    let has_stopped = Shared::new(false);
    let add = {
        let (state, has_stopped) = (state.clone(), has_stopped.clone());
        async move {
            let is_admitted = if wrong {
                let (_, is_stopping) = state.get().await;
                if !is_stopping {
                    state.update(|state| state.0 += 1).await;
                }
                !is_stopping
            } else {
                state
                    .update(|state| {
                        state.0 += i32::from(!state.1);
                        !state.1
                    })
                    .await
            };
            if is_admitted {
                assert!(!has_stopped.get().await, "work after the stop");
                end_request(&state, &has_stopped).await;
            }
        }
    };
    let stop = async move {
        state.update(|state| state.1 = true).await;
        end_request(&state, &has_stopped).await;
    };
    join([go(add), go(stop)]).await;
}

async fn end_request(state: &Shared<(i32, bool)>, has_stopped: &Shared<bool>) {
    if state
        .update(|state| {
            state.0 -= 1;
            state.0
        })
        .await
        == 0
    {
        has_stopped.set(true).await;
    }
}

/// Two classes of threads exclude each other by a lock that the first of a class takes, and the last gives up, under another
/// lock.
async fn carter(wrong: bool) {
    let (counts, between) =
        (Arc::new(Mutex::new([0, 0])), Arc::new(colored::sync::Semaphore::new(1)));
    let enter = |class: usize| {
        let (counts, between) = (counts.clone(), between.clone());
        go(async move {
            let mut count = counts.lock().await;
            count[class] += 1;
            let is_first = count[class] == 1;
            if !wrong {
                drop(count);
                between.acquire().await.unwrap().forget();
                between.add_permits(1);
                return;
            }
            if is_first {
                between.acquire().await.unwrap().forget();
            }
            drop(count);
            let mut count = counts.lock().await;
            count[class] -= 1;
            if count[class] == 0 {
                between.add_permits(1);
            }
        })
    };
    join([enter(0), enter(1)]).await;
}

/// One adds 1, one adds 2, and a third must not see 3.
async fn lazy(wrong: bool) {
    let data = Shared::new(0);
    let add = |by: i32| {
        let data = data.clone();
        go(async move { data.update(move |data| *data += by).await })
    };
    let look = || {
        let data = data.clone();
        go(async move { assert!(data.get().await < 3, "the sum comes too early") })
    };
    let first = add(1);
    if wrong {
        join([first, add(2), look()]).await;
    } else {
        join([first, look()]).await;
        join([add(2)]).await;
    }
}

/// Some write two variables, one after the other; one reads both.
async fn reorder(writers: usize, wrong: bool) {
    let (a, b, lock) = (Shared::new(0), Shared::new(0), lock());
    let write = |_| {
        let (a, b, lock) = (a.clone(), b.clone(), lock.clone());
        go(async move {
            let _guard = if wrong { None } else { Some(lock.lock().await) };
            a.set(1).await;
            b.set(-1).await;
        })
    };
    let mut threads: Vec<_> = (0..writers).map(write).collect();
    threads.push(go(async move {
        let _guard = if wrong { None } else { Some(lock.lock().await) };
        let (a, b) = (a.get().await, b.get().await);
        assert!(a + b == 0, "half of the change is seen");
    }));
    join(threads).await;
}

async fn reorder_3(wrong: bool) {
    reorder(3, wrong).await;
}

async fn reorder_5(wrong: bool) {
    reorder(5, wrong).await;
}

/// One pushes three, and one pops three, if a flag says that something was pushed: it is never taken back.
async fn stack(wrong: bool) {
    let stack = Arc::new(Mutex::new((Vec::new(), false)));
    let push = {
        let stack = stack.clone();
        async move {
            for number in 0..3 {
                let mut stack = stack.lock().await;
                stack.0.push(number);
                stack.1 = true;
            }
        }
    };
    let pop = async move {
        for _ in 0..3 {
            let mut stack = stack.lock().await;
            if stack.1 {
                assert!(stack.0.pop().is_some(), "the stack is empty");
                stack.1 = wrong || !stack.0.is_empty();
            }
        }
    };
    join([go(push), go(pop)]).await;
}

/// A text is appended to another: its length and its characters are read in two steps, and it is cut in between.
async fn string_buffer(wrong: bool) {
    let text = Shared::new("abc".to_owned());
    let append = {
        let text = text.clone();
        async move {
            if wrong {
                let length = text.update(|text| text.len()).await;
                let part = text.update(move |text| text.get(..length).map(str::to_owned)).await;
                assert!(part.is_some(), "behind the end of the text");
            } else {
                text.get().await;
            }
        }
    };
    let cut = async move { text.update(String::clear).await };
    join([go(append), go(cut)]).await;
}

/// Two things lie there already, so the producer waits for each to be consumed, which happens only as often as it produces.
async fn sync02(wrong: bool) {
    let count = Arc::new(Mutex::new(if wrong { 2 } else { 0 }));
    let (empty, full) = (Condition::default(), Condition::default());
    let produce = {
        let (count, empty, full) = (count.clone(), empty.clone(), full.clone());
        async move {
            for _ in 0..2 {
                let mut things = count.lock().await;
                while *things > 0 {
                    things = empty.wait(&count, things).await;
                }
                *things += 1;
                drop(things);
                full.signal();
            }
        }
    };
    let consume = async move {
        for _ in 0..2 {
            let mut things = count.lock().await;
            while *things == 0 {
                things = full.wait(&count, things).await;
            }
            *things -= 1;
            drop(things);
            empty.signal();
        }
    };
    join([go(produce), go(consume)]).await;
}

/// Three pass a number on, in any order; a fourth compares the numbers when all have done so.
async fn token_ring(wrong: bool) {
    // Three numbers, and how many have passed theirs on.
    let ring = Shared::new(([1, 2, 1], 0));
    let pass = |from: usize, to: usize, add: i32| {
        let ring = ring.clone();
        go(async move {
            ring.update(move |ring| {
                ring.0[to] = (ring.0[from] + add) % 4;
                ring.1 += 1;
            })
            .await;
        })
    };
    let compare = || {
        let ring = ring.clone();
        go(async move {
            let (numbers, passed) = ring.get().await;
            let all_equal = numbers[0] == numbers[1] && numbers[1] == numbers[2];
            assert!(passed < 3 || all_equal, "the tokens differ");
        })
    };
    if wrong {
        join([pass(2, 0, 1), pass(0, 1, 0), pass(1, 2, 0), compare()]).await;
    } else {
        join([pass(2, 0, 1)]).await;
        join([pass(0, 1, 0)]).await;
        join([pass(1, 2, 0), compare()]).await;
    }
}

/// Two values under a lock each: the second is set after the first lock is given up.
async fn two_stage(wrong: bool) {
    let (first, second, lock) = (Shared::new(0), Shared::new(0), lock());
    let set = {
        let (first, second, lock) = (first.clone(), second.clone(), lock.clone());
        async move {
            let _guard = if wrong { None } else { Some(lock.lock().await) };
            first.set(1).await;
            second.set(2).await;
        }
    };
    let compare = async move {
        let _guard = if wrong { None } else { Some(lock.lock().await) };
        let one = first.get().await;
        if one != 0 {
            assert!(second.get().await == one + 1, "the second stage is missing");
        }
    };
    join([go(set), go(compare)]).await;
}

/// A queue whose owner takes from the end, and a thief from the front: for the last item both go by what they have read.
async fn work_stealing(wrong: bool) {
    let (head, tail) = (Shared::new(0_usize), Shared::new(2_usize));
    let (taken, lock) = (Shared::new(Vec::new()), lock());
    let steal = {
        let (head, tail) = (head.clone(), tail.clone());
        let (taken, lock) = (taken.clone(), lock.clone());
        async move {
            for _ in 0..2 {
                let _guard = if wrong { None } else { Some(lock.lock().await) };
                let first = head.get().await;
                head.set(first + 1).await;
                if first < tail.get().await {
                    note_taken(&taken, first).await;
                } else {
                    head.set(first).await;
                }
            }
        }
    };
    let own = async move {
        for _ in 0..2 {
            let _guard = if wrong { None } else { Some(lock.lock().await) };
            let end = tail.get().await;
            if head.get().await < end {
                tail.set(end - 1).await;
                note_taken(&taken, end - 1).await;
            }
        }
    };
    join([go(steal), go(own)]).await;
}

async fn note_taken(taken: &Shared<Vec<usize>>, item: usize) {
    let is_new = move |taken: &mut Vec<usize>| {
        let is_new = !taken.contains(&item);
        taken.push(item);
        is_new
    };
    assert!(taken.update(is_new).await, "an item is taken twice");
}

/// Some change a value under one lock, and others compare it with itself under another.
async fn wrong_lock(wrong: bool) {
    let value = Shared::new(0);
    let locks = [lock(), lock()];
    let change = {
        let (value, lock) = (value.clone(), locks[0].clone());
        async move {
            let _guard = lock.lock().await;
            let before = value.get().await;
            value.set(before + 1).await;
            assert!(value.get().await == before + 1, "the value has changed");
        }
    };
    let mut threads = vec![go(change)];
    for _ in 0..3 {
        let (value, lock) = (value.clone(), locks[usize::from(wrong)].clone());
        threads.push(go(async move {
            let _guard = lock.lock().await;
            value.update(|value| *value += 1).await;
        }));
    }
    join(threads).await;
}
