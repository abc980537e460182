//! Checks of the workspace's structure: imports point down, the core knows no operating system, and `unsafe`
//! stays where it is.

mod cancel;
mod copies;
mod cycles;
mod extremes;
mod impls;
mod layering;
mod links;
mod names;
mod questions;
mod source;

use layering::Crate;
use source::Source;
use std::fs;
use std::path::{Path, PathBuf};

/// By crate, its modules from bottom to top. A module imports from layers below its own; two of one
/// layer do not know each other. The root of a crate, where all come together, may import everything.
const CRATES: [Crate; 8] = [
    Crate {
        sources: "crates/colored-core/src",
        layers: &[
            &["sync"],
            &[
                "budget", "color", "contain", "counter", "entries", "memory", "rng", "sites",
                "usage",
            ],
            &["meter", "sketch"],
            &["queue"],
            &["task"],
            &["probes", "trace"],
            &["lane"],
            &["span", "table"],
            &["wait"],
            &["join"],
            &["sched"],
            &["deadlock", "exclusive"],
            &["cell", "dump", "spawn"],
            &["port"],
            &["model"],
        ],
        exceptions: &[],
        // `Color::current` is the color of the lane that the thread holds, and an `Address` is made by a scheduler.
        impls: &[("spawn", "Color"), ("sched", "Address")],
    },
    Crate {
        sources: "crates/colored/src",
        layers: &[
            &["ready", "wall"],
            &[
                "block_on",
                "budget",
                "color_local",
                "device",
                "error_context",
                "long_poll",
                "missing_tokio",
                "thread_settings",
                "wait_reason",
            ],
            &["drain", "pool", "tokio_context"],
            &["driver"],
            &["blocking", "time"],
            &["admission", "cell", "limit", "io", "sync", "task"],
            &["fs"],
            &["net", "pinned", "stage"],
            &["process", "signal"],
            &["runtime"],
            &["__private", "diagnose", "metrics"],
        ],
        // The builder attaches the diagnosis: the one place where the runtime names it.
        exceptions: &[("runtime", "diagnose")],
        // Names of tokio's that take a `Handle` or a `Runtime`. What a handle answers with the feature `diagnose`, and its
        // setting.
        impls: &[
            ("runtime", "JoinSet"),
            ("runtime", "LocalSet"),
            ("diagnose", "Builder"),
            ("diagnose", "Handle"),
        ],
    },
    Crate {
        sources: "crates/colored-diagnose/src",
        layers: &[
            &["json", "kernel", "thread_time", "wall"],
            &["levels", "long_polls", "threads", "trace"],
            &["diagnosis"],
            &["subject"],
            &["usage"],
            &["dump", "report"],
            &["observe", "on_signal", "stalls"],
            &["inspect", "warnings"],
        ],
        exceptions: &[],
        impls: &[],
    },
    Crate {
        sources: "crates/colored-hyper/src",
        layers: &[
            &["executor", "extension", "timer"],
            &["client", "serve"],
            &["axum_listener", "tls", "websocket"],
        ],
        exceptions: &[],
        impls: &[],
    },
    Crate {
        sources: "crates/colored-lab/src",
        layers: &[&["flat", "places"]],
        exceptions: &[],
        impls: &[],
    },
    Crate {
        sources: "crates/colored-limit/src",
        layers: &[&["delay", "error", "wait_queue"], &["semaphore"], &["limit"], &["model"]],
        exceptions: &[],
        impls: &[],
    },
    Crate {
        sources: "crates/colored-macros/src",
        layers: &[&["errors", "nearest"], &["function", "options"], &["entry"]],
        exceptions: &[],
        impls: &[],
    },
    Crate {
        sources: "crates/colored-top/src",
        layers: &[
            &["arguments", "model", "tokio_check"],
            &["app", "client"],
            &["screen"],
            &["terminal"],
        ],
        exceptions: &[],
        impls: &[],
    },
];

/// The crates that run in a model checker, in simulations, and in any shell.
const WITHOUT_A_SYSTEM: [&str; 2] = ["crates/colored-core/src", "crates/colored-limit/src"];

/// Names that these crates must not use.
const NOT_IN_THE_CORE: [&str; 19] = [
    "colored",
    "core_affinity",
    "libc",
    "mio",
    "rustix",
    "socket2",
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process::Command",
    "std::process::exit",
    "std::thread::current",
    "std::thread::park",
    "std::thread::sleep",
    "std::thread::spawn",
    "std::time::Instant",
    "std::time::SystemTime",
    "tokio",
];

/// Names that these crates must take from the core's `sync`, so that the models see them, and the exempt files.
const FOR_THE_MODELS: [&str; 2] = ["std::sync", "std::cell::UnsafeCell"];
const UNSEEN_BY_THE_MODELS: [&str; 14] = [
    // Counters that only have to count, names that only texts show.
    "color.rs",
    "color/",
    "counter.rs",
    "task/id.rs",
    "sites.rs",
    "task/name.rs",
    // What only a report shows. A test with threads, which Miri runs too, checks its orderings.
    "sched/running.rs",
    "sched/times.rs",
    // A switch, and figures.
    "meter.rs",
    // What only a trace shows. A model checks the ring, with loom's atomics in place of these.
    "trace.rs",
    "trace/",
    // The double for virtual cores.
    "queue/deque_watched.rs",
    "sync/",
    "model",
];

/// The only files with `unsafe` in them.
const UNSAFE: &[&str] = &[
    "benches/src/counting.rs",
    "crates/colored-core/src/cell.rs",
    "crates/colored-core/src/cell/exclusive.rs",
    "crates/colored-core/src/cell/inner.rs",
    "crates/colored-core/src/cell/queued.rs",
    "crates/colored-core/src/cell/read.rs",
    "crates/colored-core/src/cell/set.rs",
    "crates/colored-core/src/cell/set/element.rs",
    "crates/colored-core/src/cell/set/tuple.rs",
    "crates/colored-core/src/cell/several.rs",
    "crates/colored-core/src/cell/several/shared.rs",
    "crates/colored-core/src/cell/slot.rs",
    "crates/colored-core/src/cell/when.rs",
    "crates/colored-core/src/cell/when/behavior.rs",
    "crates/colored-core/src/deadlock.rs",
    "crates/colored-core/src/deadlock/records.rs",
    "crates/colored-core/src/dump.rs",
    "crates/colored-core/src/exclusive.rs",
    "crates/colored-core/src/join.rs",
    "crates/colored-core/src/lane.rs",
    "crates/colored-core/src/lane/try_take.rs",
    "crates/colored-core/src/lane/behavior.rs",
    "crates/colored-core/src/lane/behavior/line.rs",
    "crates/colored-core/src/lane/behavior/order.rs",
    "crates/colored-core/src/lane/behavior/request.rs",
    "crates/colored-core/src/lane/callback.rs",
    "crates/colored-core/src/lane/current.rs",
    "crates/colored-core/src/lane/held.rs",
    "crates/colored-core/src/lane/record.rs",
    "crates/colored-core/src/lane/at_once.rs",
    "crates/colored-core/src/lane/locals.rs",
    "crates/colored-core/src/lane/priority/inherit.rs",
    "crates/colored-core/src/lane/readers.rs",
    "crates/colored-core/src/lane/readers/admit.rs",
    "crates/colored-core/src/lane/readers/batch.rs",
    "crates/colored-core/src/lane/readers/queued.rs",
    "crates/colored-core/src/lane/refs.rs",
    "crates/colored-core/src/lane/turn_end/hold.rs",
    "crates/colored-core/src/lane/section.rs",
    "crates/colored-core/src/lane/slice.rs",
    "crates/colored-core/src/lane/ticket.rs",
    "crates/colored-core/src/lane/turn_end.rs",
    "crates/colored-core/src/lane/snapshot.rs",
    "crates/colored-core/src/lane/wake.rs",
    "crates/colored-core/src/lane/abort_waiting.rs",
    "crates/colored-core/src/memory/boxed.rs",
    "crates/colored-core/src/memory/cache.rs",
    "crates/colored-core/src/memory/chunk.rs",
    "crates/colored-core/src/memory/plain.rs",
    "crates/colored-core/src/model/canary.rs",
    "crates/colored-core/src/model/chain.rs",
    "crates/colored-core/src/model/doubles.rs",
    "crates/colored-core/src/model/readers.rs",
    "crates/colored-core/src/model/record.rs",
    "crates/colored-core/src/model/task.rs",
    "crates/colored-core/src/queue/chain.rs",
    "crates/colored-core/src/queue/chain/line.rs",
    "crates/colored-core/src/sched/dispatch.rs",
    "crates/colored-core/src/sched/enter.rs",
    "crates/colored-core/src/sched/guest.rs",
    "crates/colored-core/src/sched/handle.rs",
    "crates/colored-core/src/sched/local.rs",
    "crates/colored-core/src/sched/parked_sections.rs",
    "crates/colored-core/src/sched/pinned.rs",
    "crates/colored-core/src/sched/remote.rs",
    "crates/colored-core/src/sched/retire.rs",
    "crates/colored-core/src/sched/running.rs",
    "crates/colored-core/src/sched/snapshot/sheet.rs",
    "crates/colored-core/src/spawn/blocking.rs",
    "crates/colored-core/src/sync/model.rs",
    "crates/colored-core/src/sync/watched/arc.rs",
    "crates/colored-core/src/table.rs",
    "crates/colored-core/src/table/page.rs",
    "crates/colored-core/src/task.rs",
    "crates/colored-core/src/task/cell.rs",
    "crates/colored-core/src/task/error.rs",
    "crates/colored-core/src/task/header.rs",
    "crates/colored-core/src/task/join.rs",
    "crates/colored-core/src/task/live.rs",
    "crates/colored-core/src/task/record.rs",
    "crates/colored-core/src/task/section.rs",
    "crates/colored-core/src/task/shown.rs",
    "crates/colored-core/src/task/waker.rs",
    "crates/colored-core/src/wait.rs",
    "crates/colored-core/src/wait/leaf.rs",
    "crates/colored-core/src/wait/room.rs",
    "crates/colored-core/src/wait/seen.rs",
    "crates/colored-core/tests/programs/witness.rs",
    "crates/colored-core/tests/reuse.rs",
    "crates/colored-core/tests/storm.rs",
    "crates/colored/src/driver/ring/uring.rs",
    "crates/colored/src/fs/system/linux/resident.rs",
    "crates/colored/src/net/uninit.rs",
    "crates/colored/src/sync/arc.rs",
    "crates/colored/src/net/unix/credentials/system.rs",
    "crates/colored-diagnose/src/dump/addresses/unix.rs",
    "crates/colored-diagnose/src/dump/native/linux/copy.rs",
    "crates/colored-hyper/src/serve/preface/seen.rs",
];

/// The folders of the tests of the whole runtime.
const TESTS: [&str; 12] = [
    "cells",
    "deadlock",
    "diagnosis",
    "dump",
    "files",
    "flow",
    "guarantees",
    "lab",
    "net",
    "shell",
    "tasks",
    "when",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is the directory above")
}

/// The Rust files below a folder of the workspace, by their paths from there.
fn sources(folder: &str) -> Vec<(String, Source)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("the folder can be read").path()) {
            // The examples have a workspace inside this one, and so a folder of what it builds.
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "there is no Rust file below {folder}");
    found.sort();
    found.into_iter().map(|path| (relative(&path, folder), read(&path))).collect()
}

fn relative(path: &Path, folder: &str) -> String {
    let path: PathBuf = path.strip_prefix(root().join(folder)).expect("it was found there").into();
    path.to_str().expect("a name in UTF-8").replace('\\', "/")
}

fn read(path: &Path) -> Source {
    Source::parse(&fs::read_to_string(path).expect("the file can be read"))
}

#[track_caller]
fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn imports_point_down() {
    let check = |of: &Crate| layering::faults(of, &sources(of.sources));
    assert_none(CRATES.iter().flat_map(check).collect());
}

#[test]
fn no_files_need_one_another() {
    let check = |of: &Crate| cycles::faults(of, &sources(of.sources));
    assert_none(CRATES.iter().flat_map(check).collect());
}

#[test]
fn methods_stand_in_the_layer_of_their_type() {
    let check = |of: &Crate| impls::faults(of, &sources(of.sources));
    assert_none(CRATES.iter().flat_map(check).collect());
}

#[test]
fn every_crate_has_its_layers() {
    let crates = fs::read_dir(root().join("crates")).expect("there are crates");
    for entry in crates {
        let name = entry.expect("the folder can be read").file_name();
        let name = format!("crates/{}/src", name.to_str().expect("a name in UTF-8"));
        assert!(CRATES.iter().any(|of| of.sources == name), "{name} has no layers yet");
    }
}

#[test]
fn the_core_knows_no_operating_system() {
    let mut faults = Vec::new();
    for (file, source) in WITHOUT_A_SYSTEM.into_iter().flat_map(sources) {
        let unseen = UNSEEN_BY_THE_MODELS.iter().any(|start| file.starts_with(start));
        for path in source.paths() {
            let names = |prefix: &&str| path.starts_with(prefix);
            // This only identifies the thread; the models have their own.
            let doors = ["sync/real.rs", "sync/watched.rs"];
            let is_door =
                doors.contains(&file.as_ref()) && path.starts_with("std::thread::current");
            if !is_door && NOT_IN_THE_CORE.iter().any(names) {
                faults.push(format!("{file}:{}: `{path}` is for the shell", path.line));
            }
            if !unseen && FOR_THE_MODELS.iter().any(names) {
                faults.push(format!(
                    "{file}:{}: `{path}` hides from the models: use the core's `sync`",
                    path.line
                ));
            }
        }
    }
    assert_none(faults);
}

/// What follows the clock of a runtime cannot read another one by mistake, and a simulation can replace the system's.
#[test]
fn one_file_reads_the_systems_clock() {
    let mut faults = Vec::new();
    let crates = ["crates/colored/src", "crates/colored-diagnose/src"];
    for (file, source) in crates.into_iter().flat_map(sources) {
        if file == "wall.rs" || file.ends_with("/tests.rs") || file.contains("/tests/") {
            continue;
        }
        let paths = source.paths();
        let std = paths.iter().any(|path| path.starts_with("std::time::Instant"));
        for path in &paths {
            let reads = path.starts_with("std::time::Instant::now")
                || path.starts_with("std::time::SystemTime")
                || (std && path.import.is_none() && path.starts_with("Instant::now"));
            // Tests beside the code may.
            if reads && !path.inside.iter().any(|module| module == "tests") {
                faults.push(format!(
                    "{file}:{}: `{path}`: ask `crate::wall`, or the clock of the runtime",
                    path.line
                ));
            }
        }
    }
    assert_none(faults);
}

/// The only files that may name a way to end a registration, or one that takes a bare number. Both are for the type that
/// owns the descriptor with its registration, in `driver/registration.rs`, and for what it is made of.
const REGISTERS: &[(&str, &[&str])] = &[
    (
        "deregister",
        &[
            "driver/descriptor.rs",
            "driver/reactor.rs",
            "driver/registration.rs",
            "fs/descriptor.rs",
            "net/unix/pipe/end.rs",
        ],
    ),
    (
        "SourceFd",
        &[
            "driver/descriptor.rs",
            "driver/reactor.rs",
            "driver/reactor/alarm.rs",
            "net/unix/pipe/end.rs",
        ],
    ),
];

#[test]
fn one_type_ends_registrations() {
    let mut faults = Vec::new();
    for (file, source) in sources("crates/colored/src") {
        for (name, files) in REGISTERS {
            let is_listed = files.contains(&file.as_str()) || file == "driver/reactor/tests.rs";
            match (source.first(name), is_listed) {
                (Some(line), false) => faults.push(format!(
                    "{file}:{line}: `{name}`: a `Registered` owns what it registers, and ends it"
                )),
                (None, true) if file != "driver/reactor/tests.rs" => {
                    faults.push(format!("{file}: no longer `{name}`: off the list"));
                }
                _ => {}
            }
        }
    }
    assert_none(faults);
}

#[test]
fn unsafe_stays_where_it_is() {
    let mut faults = Vec::new();
    for folder in ["crates", "benches", "examples", "tests"] {
        for (file, source) in sources(folder) {
            let file = format!("{folder}/{file}");
            if file.contains("/ui/fail/") {
                // Mistakes, which are to be refused.
                continue;
            }
            match (source.first("unsafe"), UNSAFE.contains(&file.as_str())) {
                (Some(line), false) => faults.push(format!(
                    "{file}:{line}: `unsafe` in a file that is not in the list of tests/layers"
                )),
                (None, true) => faults.push(format!("{file}: no longer `unsafe`: off the list")),
                _ => {}
            }
        }
    }
    assert_none(faults);
}

/// The page of guarantees names tests and models: they exist, and no guarantee is without.
#[test]
fn the_tests_that_the_docs_name_exist() {
    let text = fs::read_to_string(root().join("docs/guarantees.md")).expect("the page is there");
    let (mut faults, mut named) = (Vec::new(), 0);
    for section in text.split("\n## G").skip(1) {
        let title = section.lines().next().expect("a title");
        let names = section.split('`').skip(1).step_by(2).filter_map(|name| name.split_once("::"));
        // Such as `Color::DEFAULT`.
        let names =
            names.filter(|(file, _)| file.starts_with(char::is_lowercase) && *file != "colored");
        let before = named;
        for (file, function) in names {
            named += 1;
            let in_tests = TESTS.map(|folder| format!("tests/{folder}/{file}.rs"));
            let elsewhere = [
                format!("crates/colored-core/src/model/{file}.rs"),
                format!("crates/colored-{file}/src/model.rs"),
                format!("crates/colored-core/tests/{file}/main.rs"),
                format!("crates/colored-core/tests/{file}.rs"),
                format!("crates/colored-core/tests/stepped/{file}.rs"),
            ];
            let has = |place: &String| {
                let source = fs::read_to_string(root().join(place)).unwrap_or_default();
                source.contains(&format!("#[test]\nfn {function}()"))
                    || source.contains(&format!("\")]\nfn {function}()"))
            };
            if !in_tests.iter().chain(&elsewhere).any(has) {
                faults.push(format!("G{title}: there is no test `{file}::{function}`"));
            }
        }
        assert!(named > before, "G{title} names no test");
    }
    assert!(named > 60, "{named} names: the page has another form now");
    assert_none(faults);
}

/// The page of what is there names its tests by file.
#[test]
fn the_tests_that_the_page_of_coverage_names_exist() {
    let text = fs::read_to_string(root().join("docs/coverage.md")).expect("the page is there");
    let names = text.split('`').skip(1).step_by(2).filter_map(|name| name.split_once(".rs::"));
    let (mut faults, mut named) = (Vec::new(), 0);
    for (file, function) in names {
        named += 1;
        let source = fs::read_to_string(root().join(format!("{file}.rs"))).unwrap_or_default();
        if !source.contains(&format!("fn {function}(")) {
            faults.push(format!("there is no test `{file}.rs::{function}`"));
        }
    }
    assert!(named > 30, "{named} names: the page has another form now");
    assert_none(faults);
}

#[test]
fn links_of_the_pages_lead_somewhere() {
    let (faults, counts): (Vec<_>, Vec<_>) =
        links::pages().iter().map(|page| links::faults(page)).unzip();
    assert!(counts.iter().sum::<usize>() > 60, "{counts:?} links: the pages have another form now");
    assert_none(faults.concat());
}

#[test]
fn every_future_says_what_happens_if_it_is_dropped() {
    let mut files = Vec::new();
    for folder in CRATES.map(|of| of.sources) {
        let paths = sources(folder).into_iter().map(|(file, _)| format!("{folder}/{file}"));
        files.extend(paths.filter(|file| !is_of_tests(file)));
    }
    let text_of = |file| fs::read_to_string(root().join(file)).expect("it is there");
    let texts: Vec<_> = files.iter().map(text_of).collect();
    let futures = texts.iter().flat_map(|text| cancel::futures(text)).collect();
    let each = files.iter().zip(&texts).map(|(file, text)| cancel::faults(file, text, &futures));
    let (faults, counts): (Vec<_>, Vec<_>) = each.unzip();
    assert!(counts.iter().sum::<usize>() > 100, "{counts:?}: they have another form now");
    assert_none(faults.concat());
}

fn is_of_tests(file: &str) -> bool {
    file.contains("/tests") || file.contains("/model") || file.contains("colored-lab")
}
