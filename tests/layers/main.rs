//! Checks of the workspace's structure: imports point down, the core knows no operating system, and `unsafe`
//! stays where it is.

mod budgets;
mod cancel;
mod copies;
mod cycles;
mod extremes;
mod first_command;
mod guarantees;
mod jobs;
mod layering;
mod lengths;
mod links;
mod pages;
mod questions;
mod source;
mod unsafe_code;

use layering::Crate;
use source::{Source, UsePath};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// By crate, its modules from bottom to top. A module imports from layers below its own; two of one
/// layer do not know each other. The root of a crate, where all come together, may import everything.
const CRATES: [Crate; 14] = [
    // Its layers are files: `cycles.rs`.
    Crate { sources: cycles::CORE, layers: &[] },
    Crate {
        sources: "crates/colored/src",
        layers: &[
            &["ready", "wall"],
            &[
                "block_on",
                "budget",
                "chance",
                "color_local",
                "device",
                "environment",
                "error_context",
                "long_poll",
                "missing_tokio",
                "thread_settings",
                "wait_reason",
            ],
            &["drain", "pool", "tokio_context"],
            &["driver"],
            &["services"],
            &["blocking", "registration", "time"],
            &["admission", "cell", "limit", "io", "sync", "task"],
            &["fs"],
            &["net", "pinned", "stage"],
            &["process", "signal"],
            &["diagnose"],
            &["runtime"],
            &["metrics", "sim"],
            &["__private", "attributes"],
            &["select"],
        ],
    },
    Crate {
        sources: "crates/consumer/consumer/src",
        layers: &[
            &["progress", "scratch", "source"],
            &["log"],
            &["consumer", "embedded"],
            &["conformance"],
        ],
    },
    Crate {
        sources: "crates/colored-diagnose/src",
        layers: &[
            &["json", "kernel", "thread_time", "wall"],
            &["levels", "long_polls", "partitions", "threads", "trace"],
            &["diagnosis"],
            &["subject"],
            &["usage"],
            &["dump", "report"],
            &["observe", "on_signal", "stalls"],
            &["inspect", "warnings"],
        ],
    },
    Crate {
        sources: "crates/colored-hyper/src",
        layers: &[
            &["executor", "extension", "timer"],
            &["client", "serve"],
            &["axum_listener", "tls", "websocket"],
        ],
    },
    Crate { sources: "benches/papers/lab/src", layers: &[&["flat", "places", "queues"]] },
    Crate {
        sources: "crates/colored-limit/src",
        layers: &[&["delay", "error", "wait_queue"], &["semaphore"], &["limit"], &["model"]],
    },
    Crate { sources: "crates/colored-machine/src", layers: &[] },
    Crate {
        sources: "crates/colored-macros/src",
        layers: &[&["errors", "nearest"], &["function", "options"], &["simulated"], &["entry"]],
    },
    Crate {
        sources: "crates/colored-sim/src",
        layers: &[
            &["disk", "loans", "maker", "stacks", "strategy", "thread", "wakes", "wall"],
            &["locals"],
            &["classes", "names", "script", "world"],
            &["choices"],
            &["replay", "shrink"],
            &["search"],
            &["ahead", "exhaust"],
            &["sim"],
        ],
    },
    Crate { sources: "crates/colored-sim-libc/src", layers: &[&["symbols"]] },
    Crate {
        sources: "crates/colored-stackful/src",
        layers: &[
            &["size", "sync"],
            &["link"],
            &["overflow", "stack"],
            &["switch"],
            &["wait"],
            &["fiber", "io"],
            &["net", "spawn"],
            &["shapes"],
            &["model"],
        ],
    },
    Crate { sources: "crates/colored-stage/src", layers: &[&["wall"], &["admission", "stage"]] },
    Crate {
        sources: "crates/colored-top/src",
        layers: &[
            &["arguments", "model", "tokio_check"],
            &["app", "client"],
            &["screen"],
            &["terminal"],
        ],
    },
];

/// The crates that run in a model checker, in simulations, and in any shell.
const WITHOUT_A_SYSTEM: [&str; 2] = ["crates/colored-core/src", "crates/colored-limit/src"];

/// Names of the standard library that these crates must not use. Their manifests name no crate that has a system.
const NOT_IN_THE_CORE: [&str; 12] = [
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
];

/// Names that these crates must take from the core's `sync`, so that the models see them, and the exempt files.
const FOR_THE_MODELS: [&str; 2] = ["std::sync", "std::cell::UnsafeCell"];
const UNSEEN_BY_THE_MODELS: [&str; 13] = [
    // Counters that only have to count, names that only texts show.
    "kernel/color.rs",
    "kernel/color/",
    "kernel/task/id.rs",
    "ext/leaf.rs",
    // The same, and what only a report shows: a test with threads, which Miri runs too, checks its orderings.
    "kernel/sched/metrics.rs",
    // Switches, figures, and what only a trace shows. A model checks the ring, with loom's atomics in place of these.
    "ext/meter.rs",
    "ext/observe/",
    "ext/trace.rs",
    "ext/trace/",
    "hooks/",
    // A reference that is passed on to the shell.
    "kernel/sched/scheduler.rs",
    "sync/",
    "model",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is the directory above")
}

/// The folders with code.
const FOLDERS: [&str; 4] = ["crates", "benches", "examples", "tests"];

/// All Rust files, by their paths in the workspace. Each is read once.
static FILES: LazyLock<BTreeMap<String, Source>> = LazyLock::new(|| {
    let mut found = BTreeMap::new();
    let mut folders = FOLDERS.map(|folder| root().join(folder)).to_vec();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("the folder can be read").path()) {
            // The examples have a workspace inside this one, and so a folder of what it builds.
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).expect("it was found there").to_str();
                let name = name.expect("a name in UTF-8").replace('\\', "/");
                let text = fs::read_to_string(&path).expect("the file can be read");
                found.insert(name, Source::parse(&text));
            }
        }
    }
    found
});

/// The Rust files below a folder of the workspace, by their paths from there.
fn sources(folder: &str) -> Vec<(&'static str, &'static Source)> {
    let inside = |(file, source): (&'static String, _)| {
        Some((file.strip_prefix(folder)?.strip_prefix('/')?, source))
    };
    let found: Vec<_> = FILES.iter().filter_map(inside).collect();
    assert!(!found.is_empty(), "there is no Rust file below {folder}");
    found
}

#[track_caller]
fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn imports_point_down() {
    let check = |of: &Crate| layering::faults(of, &sources(of.sources));
    let by_modules = CRATES.iter().filter(|of| of.sources != cycles::CORE);
    assert_none(by_modules.flat_map(check).collect());
}

#[test]
fn every_crate_has_its_layers() {
    let crates = fs::read_dir(root().join("crates")).expect("there are crates");
    for entry in crates {
        let entry = entry.expect("the folder can be read");
        // A workspace of several packages has no sources of its own.
        if !entry.path().join("src").is_dir() {
            continue;
        }
        let name = entry.file_name();
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
            let is_door = file == "sync/real.rs" && path.starts_with("std::thread::current");
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
fn one_file_of_a_crate_reads_the_systems_clock() {
    let mut faults = Vec::new();
    for of in &CRATES {
        for (file, source) in sources(of.sources) {
            let is_of_tests = file.ends_with("tests.rs") || file.contains("tests/");
            if file == "wall.rs" || is_of_tests {
                continue;
            }
            for path in source.paths().iter().filter(|path| reads_a_clock(source, path)) {
                faults.push(format!(
                    "{}/{file}:{}: `{path}`: ask `crate::wall`, or `colored::time`",
                    of.sources, path.line
                ));
            }
        }
    }
    assert_none(faults);
}

/// Whether a path reads a clock of `std`: by its whole name, or by one that the file imports. Tests beside the code may.
fn reads_a_clock(source: &Source, path: &UsePath) -> bool {
    let is_of_tests = |path: &UsePath| path.inside.iter().any(|module| module == "tests");
    if path.is_import || is_of_tests(path) {
        return false;
    }
    let imports = |name: &str| {
        let paths = source.paths();
        paths.iter().any(|path| path.is_import && !is_of_tests(path) && path.to_string() == name)
    };
    ["Instant", "SystemTime"].iter().any(|clock| {
        path.starts_with(&format!("std::time::{clock}::now"))
            || path.starts_with(&format!("{clock}::now")) && imports(&format!("std::time::{clock}"))
            || path.starts_with(&format!("time::{clock}::now"))
                && (imports("std::time") || imports("std::time::self"))
    })
}

#[test]
fn a_clock_is_found_by_each_of_its_names() {
    let reads = |text: &str| {
        let source = Source::parse(text);
        source.paths().iter().any(|path| reads_a_clock(&source, path))
    };
    assert!(reads("fn f() { std::time::SystemTime::now(); }"));
    assert!(reads("use std::time::{Duration, Instant}; fn f() { Instant::now(); }"));
    assert!(reads("use std::{fmt, time}; fn f() { time::SystemTime::now(); }"));
    assert!(!reads("use std::time::SystemTime; fn f() -> SystemTime { SystemTime::UNIX_EPOCH }"));
    assert!(!reads("use colored::time::Instant; fn f() { Instant::now(); }"));
    assert!(!reads("mod tests { use std::time::Instant; fn f() { Instant::now(); } }"));
}

/// The only files that may name a way to end a registration, or one that takes a bare number. Both are for the type that
/// owns the descriptor with its registration, in `registration.rs`, and for what it is made of.
const REGISTERS: &[(&str, &[&str])] = &[
    (
        "deregister",
        &[
            "driver/descriptor.rs",
            "driver/reactor.rs",
            "fs/descriptor.rs",
            "net/system/either.rs",
            "net/unix/pipe/end.rs",
            "registration.rs",
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
            let is_listed = files.contains(&file) || file == "driver/reactor/tests.rs";
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
    file.contains("/tests") || file.contains("/model") || file.contains("papers/lab")
}
