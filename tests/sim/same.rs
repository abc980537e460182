//! A table of what systems do, which one test asks the system and a simulation: each row has the same answer.

mod datagrams;
mod endings;
mod files;
mod tcp;
#[cfg(unix)]
mod unix;

use colored::time::{Duration, sleep};
use colored::{Runtime, sim, spawn};
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

/// The answer of a row, for which it has a directory of its own.
type Answer = Pin<Box<dyn Future<Output = Vec<String>> + Send>>;

/// A question, and who answers it.
type Row = (&'static str, fn(PathBuf) -> Answer);

/// Makes rows of the names and functions.
macro_rules! rows {
    ($($name:ident),* $(,)?) => {
        pub(super) const ROWS: &[super::Row] =
            &[$((stringify!($name), |root| Box::pin($name(root)))),*];
    };
}
use rows;

fn table() -> impl Iterator<Item = Row> {
    let all = [datagrams::ROWS, endings::ROWS, files::ROWS, tcp::ROWS];
    let rows = all.into_iter().flatten().copied();
    #[cfg(unix)]
    let rows = rows.chain(unix::ROWS.iter().copied());
    rows
}

/// A result as it is compared: a value, or the kind and the number of the error.
fn told<T: Debug>(what: &str, result: io::Result<T>) -> String {
    match result {
        Ok(value) => format!("{what}: {value:?}"),
        Err(error) => format!("{what}: {:?}, {:?}", error.kind(), error.raw_os_error()),
    }
}

/// Lets what is under way arrive.
async fn settle() {
    sleep(Duration::from_millis(5)).await;
}

/// What the rows answer, all at once, in directories below this one.
async fn answers(root: PathBuf) -> Vec<(&'static str, Vec<String>)> {
    let ask = |(name, ask): Row| {
        let root = root.join(name);
        spawn(async move {
            colored::fs::create_dir_all(&root).await.unwrap();
            let shown = |line: String| line.replace(root.to_str().unwrap(), "");
            (name, ask(root.clone()).await.into_iter().map(shown).collect())
        })
    };
    let mut answers = Vec::new();
    for asked in table().map(ask).collect::<Vec<_>>() {
        answers.push(asked.await.unwrap());
    }
    answers
}

fn of_the_system() -> Vec<(&'static str, Vec<String>)> {
    // Short, as a path of a socket has some 100 bytes.
    let root = std::env::temp_dir().join(format!("same-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    let root = std::fs::canonicalize(root).unwrap();
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let answers = runtime.block_on(answers(root.clone()));
    std::fs::remove_dir_all(&root).unwrap();
    answers
}

#[test]
#[cfg(target_os = "linux")]
fn a_simulation_answers_as_the_system() {
    let system = of_the_system();
    let simulated = Arc::new(Mutex::new(Vec::new()));
    let report = sim::Builder::new().seeds(0..20).run(|| {
        let simulated = Arc::clone(&simulated);
        async move {
            let answers = answers("/root".into()).await;
            simulated.lock().unwrap().push(answers);
        }
    });
    report.assert_passed();
    let simulated = simulated.lock().unwrap();
    assert!(simulated.len() >= 20 && system.len() > 30, "{} rows", system.len());
    let mut differences = Vec::new();
    for answers in &*simulated {
        for ((name, ours), (_, systems)) in answers.iter().zip(&system) {
            for at in 0..ours.len().max(systems.len()) {
                if ours.get(at) != systems.get(at) {
                    differences.push(format!(
                        "{name}: {:?}, and the system: {:?}",
                        ours.get(at),
                        systems.get(at)
                    ));
                }
            }
        }
    }
    differences.sort();
    differences.dedup();
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

/// The path of a file of a row.
fn inside(root: &Path, name: &str) -> PathBuf {
    root.join(name)
}
