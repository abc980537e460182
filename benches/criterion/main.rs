//! `cargo bench`: `colored` and tokio do the same work, side by side, in the groups of criterion.
//!
//! It ends inside five minutes, and leaves its plots in `target/criterion`. A text behind `--` runs the groups whose names
//! contain it. Of the servers the figure is the CPU time of their process a request. `cargo bench --bench ratio` takes the
//! figures of the pages: it alternates the rivals, which criterion does not.

mod plot;

use colored_benches::http::{raise_open_files, rows, server};
use colored_benches::workload::{echo, keyed, post, spawn, timers, wake};
use colored_benches::{Mode, Runtimes, features};
use criterion::Criterion;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    // As a server: a kind and a number. As a bench it also gets cargo's `--bench`.
    if let [kind, workers] = &std::env::args().skip(1).collect::<Vec<_>>()[..]
        && let (Ok(kind), Ok(workers)) = (kind.parse(), workers.parse())
    {
        return Ok(server::main(kind, workers, None)?);
    }
    features::print_and_refuse_others();
    raise_open_files()?;
    let mut criterion = Criterion::default().configure_from_args();
    let on = Runtimes::start();
    let spawns = ["spawn_many", "spawn_join", "spawn_join_unique"];
    let wakes = ["ping_pong", "ping_pong_unique", "yield_many"];
    let rows = [
        (spawn::ROWS, &spawns[..]),
        (wake::ROWS, &wakes),
        (keyed::ROWS, &["keyed"]),
        (post::ROWS, &["keyed_post"]),
        (timers::ROWS, &["sleeping_tasks"]),
        (echo::ROWS, &["echo"]),
    ];
    for (family, names) in rows {
        let wanted: Vec<_> = family.iter().filter(|row| names.contains(&row.name)).collect();
        assert_eq!(wanted.len(), names.len(), "a row of {names:?} is gone");
        plot::draw_rows(&mut criterion, on, &wanted);
    }
    let program = std::env::current_exe()?;
    let hyper = rows::ROWS.iter().find(|row| row.name == "http_64").expect("it is there");
    plot::draw(&mut criterion, hyper.name, hyper.build(&program, Mode::Quick)?);
    criterion.final_summary();
    Ok(())
}
