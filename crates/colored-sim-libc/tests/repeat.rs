//! What std gives a program in a simulation is the same again; outside it is the system's.

#![cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]

use colored::sim::Builder;
use colored::{spawn_colored, yield_now};
use colored_sim_libc as _;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// What two simulations of these seeds see.
fn seen<T, F>(program: impl Fn() -> F + Sync) -> [Vec<T>; 2]
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    [0, 1].map(|_| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let report = Builder::new().seeds(0..70).jobs(1).run(|| {
            let (seen, program) = (Arc::clone(&seen), program());
            async move {
                let value = program.await;
                seen.lock().unwrap().push(value);
            }
        });
        report.assert_passed();
        std::mem::take(&mut *seen.lock().unwrap())
    })
}

#[test]
fn the_order_of_a_hash_map_is_by_the_seed() {
    let [first, second] = seen(|| async {
        let map: HashMap<u32, ()> = (0..20).map(|key| (key, ())).collect();
        // Each entry is a task, so the order of the map is that of the turns.
        let tasks: Vec<_> = map
            .keys()
            .map(|key| {
                let rounds = *key;
                spawn_colored(u64::from(*key), async move {
                    for _ in 0..rounds {
                        yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        map.into_keys().collect::<Vec<_>>()
    });
    assert_eq!(first, second);
    // The seeds 0 and 64 are run twice.
    assert_eq!(first.len(), 72);
    let mut orders = first;
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 70);
}

#[test]
fn the_clocks_are_the_simulations() {
    let [first, second] = seen(|| async {
        let (begin, day) = (Instant::now(), SystemTime::now());
        colored::time::sleep(Duration::from_secs(3600)).await;
        let whole = (begin.elapsed(), day.elapsed().unwrap());
        (whole, day.duration_since(SystemTime::UNIX_EPOCH).unwrap())
    });
    assert_eq!(first, second);
    let ((monotonic, of_day), begin) = first[0];
    assert_eq!((monotonic.as_secs(), of_day.as_secs()), (3600, 3600));
    assert_eq!(begin.as_secs(), 1_767_225_600);
}

/// As `getrandom` 0.2 does.
fn random_by_number() -> [u8; 16] {
    let mut bytes = [0; 16];
    // SAFETY: the call writes at most 16 bytes to these 16.
    let written = unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), bytes.len(), 0) };
    assert_eq!(written, 16);
    bytes
}

#[test]
fn random_numbers_by_system_call_are_by_the_seed() {
    let [first, second] = seen(|| async { random_by_number() });
    assert_eq!(first, second);
    assert_ne!(first[0], first[2]);
}

#[test]
fn outside_of_a_simulation_all_is_the_systems() {
    let hash = || std::thread::spawn(|| RandomState::new().hash_one(1)).join().unwrap();
    assert_ne!(hash(), hash());
    assert_ne!(random_by_number(), random_by_number());
    let begin = Instant::now();
    std::thread::sleep(Duration::from_millis(2));
    assert!(begin.elapsed() >= Duration::from_millis(2));
    let day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert!(day.as_secs() > 1_767_225_600 || day.as_secs() > 1_700_000_000);
    // SAFETY: this call takes no argument.
    let id = unsafe { libc::syscall(libc::SYS_getpid) };
    assert_eq!(u32::try_from(id), Ok(std::process::id()));
}
