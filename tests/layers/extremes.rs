//! Each public function that takes a number or a time has a row in `tests/shell/extremes`, which calls it with the ends of
//! its type.

use super::{root, sources};
use std::fs;

/// The sources that users call, and how a row names them.
const SOURCES: [(&str, &str); 3] = [
    ("crates/colored/src", ""),
    ("crates/colored-limit/src", "colored-limit/"),
    ("crates/colored-stage/src", "colored-stage/"),
];

/// A wrapper hands the number on.
const OF_TOKIO: &str = "tokio's function refuses it, and says what is allowed";

/// Functions that need no row.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("colored-stage/wall.rs::follow_simulations", "it takes a function, and no time"),
    ("__private.rs::any_branch", "`select!` is it"),
    ("__private.rs::branch_0", "`select!` is it"),
    ("colored-limit/limit.rs::new_in", "`Handle::limit` is it"),
    ("io/copy.rs::copy_bidirectional_with_sizes", OF_TOKIO),
    ("io/metered.rs::duplex", OF_TOKIO),
    ("io/metered.rs::new_unsplit", OF_TOKIO),
    ("io/metered.rs::simplex", OF_TOKIO),
    (
        "metrics/export.rs::colors",
        "of a feature that these tests have not; it only shortens a list",
    ),
    ("runtime/diagnosed.rs::observe", "it lasts as long as it is asked to"),
    ("runtime/diagnosed.rs::observe_blocking", "it lasts as long as it is asked to"),
    ("runtime/tokio_names.rs::event_interval", "it has no effect"),
    ("runtime/tokio_names.rs::global_queue_interval", "it has no effect"),
    ("runtime/tokio_names.rs::max_blocking_threads", "`blocking_threads` is it"),
    ("runtime/tokio_names.rs::max_io_events_per_tick", "it has no effect"),
    ("runtime/tokio_names.rs::worker_threads", "`workers` is it"),
    ("sync/barrier.rs::new", OF_TOKIO),
    ("sync/broadcast.rs::channel", OF_TOKIO),
    ("sync/broadcast.rs::new", OF_TOKIO),
    ("sync/mpsc/bounded.rs::channel", OF_TOKIO),
    ("sync/mpsc/bounded.rs::reserve_many", OF_TOKIO),
    ("sync/mpsc/halves.rs::recv_many", OF_TOKIO),
    ("sync/mpsc/halves.rs::poll_recv_many", OF_TOKIO),
    ("sync/rwlock.rs::with_max_readers", OF_TOKIO),
    ("sync/rwlock.rs::const_with_max_readers", OF_TOKIO),
    ("sync/semaphore.rs::new", OF_TOKIO),
    ("sync/semaphore.rs::const_new", OF_TOKIO),
    ("sync/semaphore.rs::acquire_many", OF_TOKIO),
    ("sync/semaphore.rs::acquire_many_owned", OF_TOKIO),
    ("sync/semaphore.rs::try_acquire_many_owned", OF_TOKIO),
    ("sync/semaphore.rs::blocking_acquire_many_owned", OF_TOKIO),
];

#[test]
fn each_public_number_is_tried_at_its_ends() {
    let tables = ["durations", "numbers"];
    let rows = tables.map(|table| {
        let path = root().join(format!("tests/shell/extremes/{table}.rs"));
        fs::read_to_string(path).expect("the table can be read")
    });
    let rows = rows.concat();
    let has_row = |name: &str| rows.contains(&format!("\"{name}\""));
    let (mut missing, mut found) = (Vec::new(), Vec::new());
    for (folder, prefix) in SOURCES {
        for (file, source) in sources(folder) {
            for (function, line) in source.functions_of_numbers() {
                let name = format!("{prefix}{file}::{function}");
                let is_excepted = EXCEPTIONS.iter().any(|(of, _)| *of == name);
                if !is_excepted && !has_row(&name) {
                    missing.push(format!("{name}, line {line}"));
                }
                found.push(name);
            }
        }
    }
    assert!(missing.is_empty(), "without a row in tests/shell/extremes: {missing:#?}");
    let stale = EXCEPTIONS.iter().filter(|(of, _)| !found.iter().any(|name| name == of));
    assert_eq!(stale.collect::<Vec<_>>(), [&("", ""); 0], "exceptions that nothing needs");
}
