//! The comparisons: one file for each family.

mod call;
mod connections;
mod consumers;
mod http;
mod idle;
mod pairs;
mod post;
mod sleeps;
mod spawn;
pub(crate) mod stacks;
mod transfer;
mod yields;

use crate::setup::Setup;
use colored_benches::Case;

/// One comparison.
pub(crate) struct Row {
    /// The name on the command line and in the file of figures.
    pub(crate) name: &'static str,
    /// The first column of the table.
    pub(crate) text: &'static str,
    /// The unit of its figures, as its case has it.
    pub(crate) unit: &'static str,
    /// Makes the case. It starts what it needs.
    pub(crate) case: fn(&Setup) -> Case,
}

/// All rows, in the order of the table.
pub(crate) const ALL: &[Row] = &[
    Row {
        name: "spawn_join",
        text: "spawn and join 10,000 tasks, no color named",
        unit: "ns/task",
        case: |setup| spawn::case(setup, setup.runtimes().serial()),
    },
    Row {
        name: "spawn_join_unique",
        text: "the same, a color for each",
        unit: "ns/task",
        case: |setup| spawn::case(setup, setup.runtimes().unique()),
    },
    Row {
        name: "pairs",
        text: "64 pairs play ping-pong through channels, no color named",
        unit: "ns/round trip",
        case: |setup| pairs::case(setup, setup.runtimes().serial()),
    },
    Row {
        name: "pairs_of_one_color",
        text: "the same, a color for each pair",
        unit: "ns/round trip",
        case: |setup| pairs::case(setup, crate::executors::PerPair(setup.runtimes().unique())),
    },
    Row {
        name: "pairs_unique",
        text: "the same, a color for each task",
        unit: "ns/round trip",
        case: |setup| pairs::case(setup, setup.runtimes().unique()),
    },
    Row {
        name: "yield",
        text: "200 tasks yield, no color named",
        unit: "ns/yield",
        case: |setup| yields::case(setup, setup.runtimes().serial()),
    },
    Row {
        name: "yield_unique",
        text: "the same, a color for each",
        unit: "ns/yield",
        case: |setup| yields::case(setup, setup.runtimes().unique()),
    },
    Row {
        name: "post",
        text: "`ColorCell::post` against a message to an actor, two producers",
        unit: "ns/message",
        case: post::time,
    },
    Row {
        name: "post_memory",
        text: "the same: peak growth of the process",
        unit: "KiB",
        case: post::memory,
    },
    Row {
        name: "call",
        text: "`ColorCell::call` against an actor's answer, one client",
        unit: "ns/call",
        case: |setup| call::case(setup, 1),
    },
    Row {
        name: "call_64",
        text: "the same, 64 clients of one cell or actor",
        unit: "ns/call",
        case: |setup| call::case(setup, 64),
    },
    Row {
        name: "transfer",
        text: "transfer between two of 1,000 idle accounts by `when`, one client",
        unit: "ns/transfer",
        case: |setup| transfer::case(setup, 1),
    },
    Row {
        name: "transfer_64",
        text: "the same, 64 clients on two workers",
        unit: "ns/transfer",
        case: |setup| transfer::case(setup, 64),
    },
    Row {
        name: "sleeps_cpu",
        text: "CPU time of a sleep, 100 tasks that sleep for 1 to 5 ms",
        unit: "us/sleep",
        case: |setup| sleeps::cpu(setup, setup.runtimes().unique()),
    },
    Row {
        name: "sleeps_cpu_fine",
        text: "the same, ours with a timer resolution of 0.2 ms",
        unit: "us/sleep",
        case: |setup| sleeps::cpu(setup, setup.fine()),
    },
    Row {
        name: "sleeps_late",
        text: "how late those sleeps end, median",
        unit: "us",
        case: |setup| sleeps::late(setup, setup.runtimes().unique()),
    },
    Row {
        name: "sleeps_late_fine",
        text: "the same, ours with a timer resolution of 0.2 ms",
        unit: "us",
        case: |setup| sleeps::late(setup, setup.fine()),
    },
    Row {
        name: "http_64",
        text: "HTTP hello, 64 connections: CPU time of a request",
        unit: "us/request",
        case: |setup| http::case(setup, 64),
    },
    Row {
        name: "http_512",
        text: "the same, 512 connections",
        unit: "us/request",
        case: |setup| http::case(setup, 512),
    },
    Row {
        name: "connection",
        text: "memory of an HTTP connection after a request, ours by `colored_hyper::serve`",
        unit: "B/connection",
        case: connections::case,
    },
    Row {
        name: "idle",
        text: "memory of an idle task, no color named",
        unit: "B/task",
        case: |setup| idle::case(setup, "colored"),
    },
    Row {
        name: "idle_unique",
        text: "the same, a color for each",
        unit: "B/task",
        case: |setup| idle::case(setup, "colored_unique"),
    },
    Row {
        name: "consumer_sleep_1",
        text: "a consumer of a log, 500 records of one key whose handler sleeps 2 ms: time over its bound",
        unit: "of the bound",
        case: |setup| consumers::sleep(setup, 1, 500),
    },
    Row {
        name: "consumer_sleep_100",
        text: "the same, 10,000 records of 100 keys, 100 at a time",
        unit: "of the bound",
        case: |setup| consumers::sleep(setup, 100, 10_000),
    },
    Row {
        name: "consumer_sleep_10000",
        text: "the same, of 10,000 keys",
        unit: "of the bound",
        case: |setup| consumers::sleep(setup, 10_000, 10_000),
    },
    Row {
        name: "consumer_cpu",
        text: "the same: CPU time of a record whose handler computes 1 µs, 1,000 Zipf keys",
        unit: "us/record",
        case: consumers::cpu,
    },
    Row {
        name: "stack_spawn_join",
        text: "1,000 tasks with a stack each, spawned and joined, a color for each",
        unit: "ns/task",
        case: stacks::spawn,
    },
    Row {
        name: "stack_pairs",
        text: "64 pairs of tasks with a stack play ping-pong through channels, a color for each pair",
        unit: "ns/round trip",
        case: stacks::pairs,
    },
    Row {
        name: "stack_yield",
        text: "200 tasks with a stack yield, a color for each",
        unit: "ns/yield",
        case: stacks::yields,
    },
    Row {
        name: "stack_echo",
        text: "1,000 clients and their servers on stacks, 200 messages and echoes each over TCP: CPU time of an echo",
        unit: "us/echo",
        case: stacks::echo,
    },
    Row {
        name: "stack_idle",
        text: "memory of a task with a stack that waits",
        unit: "B/task",
        case: stacks::idle,
    },
];
