//! Runs each case under an emulator, and compares what happens with the file `faults`.
//!
//! `control NAME [CASE]`. A case uses std, mio, tokio or corosensei alone. What fails here is the emulator's.

mod files;
mod libraries;
#[cfg(target_os = "linux")]
mod linux;
mod sockets;
mod threads;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

const CASES: &[(&str, fn())] = &[
    ("clocks_move", threads::clocks_move),
    ("threads_wake_each_other", threads::threads_wake_each_other),
    ("thread_locals_are_dropped", threads::thread_locals_are_dropped),
    ("a_panic_unwinds", threads::a_panic_unwinds),
    ("a_program_starts_itself", threads::a_program_starts_itself),
    ("a_stack_is_switched_and_unwound", libraries::a_stack_is_switched_and_unwound),
    ("std_tcp_echo", sockets::std_tcp_echo),
    ("mio_tcp_echo", libraries::mio_tcp_echo),
    ("tokio_tcp_echo", libraries::tokio_tcp_echo),
    ("tokio_timers", libraries::tokio_timers),
    ("udp_echo", sockets::udp_echo),
    ("datagrams_move_in_bulk", libraries::datagrams_move_in_bulk),
    ("a_refused_connection_is_an_error", sockets::a_refused_connection_is_an_error),
    ("a_reset_is_an_error", sockets::a_reset_is_an_error),
    ("a_shutdown_wakes_a_reader", sockets::a_shutdown_wakes_a_reader),
    ("two_thousand_pieces_are_written", sockets::two_thousand_pieces_are_written),
    ("a_file_is_read_where_it_was_written", files::a_file_is_read_where_it_was_written),
    ("a_rename_replaces", files::a_rename_replaces),
    ("a_lock_excludes", files::a_lock_excludes),
    (
        "an_open_file_that_is_deleted_frees_its_name",
        files::an_open_file_that_is_deleted_frees_its_name,
    ),
    ("a_folder_goes_beside_an_open_file", files::a_folder_goes_beside_an_open_file),
    #[cfg(target_os = "linux")]
    ("a_connection_tells_its_counts", linux::a_connection_tells_its_counts),
    #[cfg(target_os = "linux")]
    ("a_group_has_an_interface", linux::a_group_has_an_interface),
    #[cfg(target_os = "linux")]
    ("a_mapping_tells_what_is_in_memory", linux::a_mapping_tells_what_is_in_memory),
];

/// By case, what the list says, and whether it happens on some machines only.
fn faults_of(emulator: &str) -> BTreeMap<&str, (&str, bool)> {
    let lines = include_str!("../faults").lines().filter(|line| !line.starts_with('#'));
    let parts = lines.filter_map(|line| {
        let (names, what) = line.split_once('#')?;
        let mut words = names.split_whitespace();
        (words.next()? == emulator).then_some(())?;
        Some((words.next()?, (what.trim(), words.next() == Some("sometimes"))))
    });
    parts.collect()
}

/// What a case says as it fails; a case that does not end in ten seconds hangs.
fn run(case: fn()) -> Result<(), String> {
    let (sender, ended) = channel();
    thread::spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(case)).map_err(|payload| {
            let text = payload.downcast_ref::<String>().cloned();
            text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_default()
        });
        let _ = sender.send(result);
    });
    ended.recv_timeout(Duration::from_secs(10)).unwrap_or_else(|_| Err("it hangs".to_owned()))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let emulator = arguments.next().expect("the emulator's name");
    let only = arguments.next();
    let faults = faults_of(&emulator);
    std::panic::set_hook(Box::new(|_| {}));
    let mut is_as_listed = true;
    if let Some(unknown) = faults.keys().find(|name| CASES.iter().all(|(case, _)| case != *name)) {
        println!("{unknown}: the list of faults names no such case");
        is_as_listed = false;
    }
    for (name, case) in
        CASES.iter().filter(|(name, _)| only.as_deref().is_none_or(|of| of == *name))
    {
        let verdict = match (run(*case), faults.get(name)) {
            (Ok(()), None | Some((_, true))) => "passes".to_owned(),
            (Err(said), Some(_)) => format!("fails as listed: {said}"),
            (Ok(()), Some((what, false))) => {
                is_as_listed = false;
                format!("PASSES, and the list says: {what}")
            }
            (Err(said), None) => {
                is_as_listed = false;
                format!("FAILS, and is not in the list: {said}")
            }
        };
        println!("{emulator}: {name}: {verdict}");
    }
    if is_as_listed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
