//! Files of simulated hosts: faults that lose data, each with a twin that keeps it, and programs that run on files of the
//! system too.

mod both;
mod faults;
mod power;
mod refused;

use super::{failure, passes};
use colored::fs::{self, File};
use colored::io::{AsyncReadExt, AsyncWriteExt, named};
use colored::sim::{self, Builder};
use colored::{spawn_colored, yield_now};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

#[test]
fn a_full_disk_is_an_error_and_has_room_again() {
    let _report = passes(|| async {
        sim::fs::set_capacity("main", 1000);
        let error = named(fs::write("/big", [7; 2000])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(error.to_string().starts_with("cannot write /big: "), "{error}");
        // What had room is there.
        assert_eq!(sim::fs::read("main", "/big").unwrap(), [7; 1000]);
        fs::remove_file("/big").await.unwrap();

        let mut file = File::create("/log").await.unwrap();
        assert_eq!(file.write(&[1; 1500]).await.unwrap(), 1000);
        assert_eq!(file.write(&[1; 1]).await.unwrap_err().kind(), ErrorKind::StorageFull);
        fs::remove_file("/log").await.unwrap();
        drop(file);
        fs::write("/big", [7; 1000]).await.unwrap();
        assert_eq!(sim::fs::read("main", "/big").unwrap(), [7; 1000]);
    });
}

/// Each of two tasks reads a number from a file, and writes one more.
async fn count_twice(in_one_step: bool) {
    fs::write("/count", "0").await.unwrap();
    let increment = |client: u64| {
        spawn_colored(if in_one_step { 1 } else { client }, async move {
            if in_one_step {
                colored::exclusive(add_one()).await;
            } else {
                add_one().await;
            }
        })
    };
    let (one, two) = (increment(2), increment(3));
    one.await.unwrap();
    two.await.unwrap();
    let count = fs::read_to_string("/count").await.unwrap();
    assert!(count == "2", "the count is {count}");
}

async fn add_one() {
    let count: u32 = fs::read_to_string("/count").await.unwrap().parse().unwrap();
    fs::write("/count", (count + 1).to_string()).await.unwrap();
}

#[test]
fn other_tasks_come_between_two_operations() {
    let found = failure(|| count_twice(false));
    assert!(found.message().contains("the count is 1"), "{found}");
    assert!(found.choices() <= 10, "{found}");
    let _report = passes(|| count_twice(true));
}

/// What a few tasks see of files that all of them change.
async fn busy() -> Vec<String> {
    let trail = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..4_u64)
        .map(|number| {
            let trail = Arc::clone(&trail);
            spawn_colored(number, async move {
                for round in 0..3 {
                    let path = format!("/tmp/{}", sim::random() % 3);
                    let mut file =
                        File::options().create(true).append(true).open(&path).await.unwrap();
                    file.write_all(format!("{number}{round}").as_bytes()).await.unwrap();
                    if sim::random().is_multiple_of(3) {
                        sim::fs::fail_power("main");
                    }
                    yield_now().await;
                    let text = fs::read_to_string(&path).await.map_err(|error| error.kind());
                    trail.lock().unwrap().push(format!("{number} {path} {text:?}"));
                }
            })
        })
        .collect();
    for task in tasks {
        // A power failure may come between an opening and its write.
        let _ = task.await;
    }
    std::mem::take(&mut trail.lock().unwrap())
}

#[test]
fn a_seed_makes_the_same_changes_again() {
    let trails = || {
        let trails = Arc::new(Mutex::new(Vec::new()));
        Builder::new()
            .seeds(0..100)
            .jobs(1)
            .run(|| {
                let trails = Arc::clone(&trails);
                async move {
                    let trail = busy().await;
                    trails.lock().unwrap().push(trail);
                }
            })
            .assert_passed();
        std::mem::take(&mut *trails.lock().unwrap())
    };
    let (first, second) = (trails(), trails());
    assert_eq!(first, second);
    let mut different = first;
    different.sort();
    different.dedup();
    assert!(different.len() > 80, "{} different runs", different.len());
}

#[test]
fn the_files_of_the_system_are_not_there() {
    let _report = passes(|| {
        sim::fs::write("main", "/etc/settings", "red").unwrap();
        async {
            let executable = std::env::current_exe().unwrap();
            assert!(!fs::try_exists(executable).await.unwrap());
            let mut text = String::new();
            let mut file = File::open("etc/settings").await.unwrap();
            file.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "red");
            let begin = sim::system_time();
            colored::time::sleep(colored::time::Duration::from_secs(60)).await;
            fs::write("/late", "").await.unwrap();
            let modified = fs::metadata("/late").await.unwrap().modified().unwrap();
            assert_eq!(modified.duration_since(begin).unwrap().as_secs(), 60);
        }
    });
}

#[test]
fn metadata_is_that_of_the_simulated_file_in_the_time_of_the_host() {
    let _report = passes(|| async {
        let begin = sim::system_time();
        let second = colored::time::Duration::from_secs(1);
        let after = move |time: std::io::Result<std::time::SystemTime>| {
            time.unwrap().duration_since(begin).unwrap().as_secs()
        };
        fs::create_dir("/data").await.unwrap();
        fs::write("/data/one", "12345").await.unwrap();
        colored::time::sleep(second).await;
        fs::write("/data/two", [0; 3000]).await.unwrap();
        colored::time::sleep(second).await;
        let mut two = File::options().append(true).open("/data/two").await.unwrap();
        two.write_all(&[0; 500]).await.unwrap();
        two.flush().await.unwrap();
        let (one, two) = (fs::metadata("/data/one").await.unwrap(), two.metadata().await.unwrap());
        assert!(one.is_file() && two.is_file() && !two.permissions().readonly());
        assert_eq!((one.len(), after(one.modified())), (5, 0));
        assert_eq!((two.len(), after(two.modified()), after(two.accessed())), (3500, 2, 2));
        let data = fs::metadata("/data").await.unwrap();
        assert!(data.is_dir());
        // Of other systems no directory can be opened.
        assert!(cfg!(not(unix)) || after(data.modified()) == 1, "{data:?}");
    });
}
