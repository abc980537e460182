//! Dumps that a runtime makes by itself.

use colored::dump::WorkerState;
use colored::signal::unix::SignalKind;
use colored::{Builder, Color, Runtime};
use colored_tests::gate::Gate;
use colored_tests::{child, shared};
use rustix::process::{Signal, getpid, kill_process};
use std::io::ErrorKind;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A runtime that hands its dumps to this thread, as texts with the colors that run.
fn told(builder: Builder) -> (Runtime, Receiver<(String, Vec<Color>)>) {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let builder = builder.workers(2).spare_workers(0).on_dump(move |dump| {
        let color = |state: &WorkerState| match state {
            WorkerState::Running { color, .. } => Some(*color),
            _ => None,
        };
        let colors = dump.workers().iter().filter_map(|worker| color(&worker.state)).collect();
        // The test may have ended.
        let _ = tell.lock().unwrap().send((dump.to_string(), colors));
    });
    (builder.build().unwrap(), told)
}

/// In a process of its own, since a signal comes to a process.
#[test]
fn a_signal_makes_a_dump_while_every_worker_is_stuck() {
    child::run(module_path!(), "a_signal_makes_a_dump_while_every_worker_is_stuck", || {
        shared(|| {
            let builder = Builder::new().dump_on_signal(SignalKind::user_defined1());
            let (runtime, told) = told(builder);
            let gates = [1, 2].map(|color| Gate::close(runtime.handle(), color));
            for _ in 0..3 {
                kill_process(getpid(), Signal::USR1).unwrap();
                let (text, mut colors) = told.recv().unwrap();
                colors.sort_unstable();
                assert_eq!(colors, [Color::new(1), Color::new(2)], "{text}");
                assert!(text.contains("worker 1 runs task "), "{text}");
            }
            gates.into_iter().for_each(Gate::open);
            drop(runtime);
            assert!(told.recv().is_err(), "the thread has ended with the runtime");
        });
    });
}

/// In a process of its own, as above. The hook tells whether it was let go before its patience ended.
#[test]
fn a_shutdown_in_the_background_does_not_wait_for_the_hook() {
    child::run(module_path!(), "a_shutdown_in_the_background_does_not_wait_for_the_hook", || {
        shared(|| {
            let (begin, begun) = channel();
            let (let_go, gate) = channel();
            let (tell, told) = channel();
            let ends = Mutex::new((begin, gate, tell));
            let hook = move |_: &_| {
                let (begin, gate, tell) = &*ends.lock().unwrap();
                begin.send(()).unwrap();
                tell.send(gate.recv_timeout(Duration::from_secs(20))).unwrap();
            };
            let builder = Builder::new().workers(1).on_dump(hook);
            let runtime = builder.dump_on_signal(SignalKind::user_defined1()).build().unwrap();
            kill_process(getpid(), Signal::USR1).unwrap();
            begun.recv().unwrap();
            runtime.shutdown_background();
            let_go.send(()).unwrap();
            assert_eq!(told.recv().unwrap(), Ok(()));
        });
    });
}

#[test]
fn a_signal_that_cannot_be_handled_is_an_error_of_the_builder() {
    shared(|| {
        let builder = Builder::new().workers(1).dump_on_signal(SignalKind::from_raw(9));
        let error = builder.build().expect_err("it cannot be handled");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().starts_with("dump_on_signal(9): "), "{error}");
    });
}

#[test]
fn a_poll_that_takes_too_long_makes_one_dump() {
    shared(|| {
        let builder = Builder::new().dump_on_stall(Duration::from_millis(20));
        let (runtime, told) = told(builder);
        let gate = Gate::close(runtime.handle(), 1);
        let (text, colors) = told.recv().unwrap();
        assert_eq!(colors, [Color::new(1)], "{text}");
        gate.open();
        let gate = Gate::close(runtime.handle(), 2);
        let second = told.recv_timeout(Duration::from_millis(100));
        assert!(second.is_err(), "there is one dump a minute at most");
        gate.open();
        drop(runtime);
        assert!(told.recv().is_err(), "the hook has gone with the runtime");
    });
}
