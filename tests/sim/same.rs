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

/// The answers of rows, each with its name.
type Answers = Vec<(&'static str, Vec<String>)>;

/// What these rows answer, all at once, in directories below this one.
async fn answers(rows: Vec<Row>, root: PathBuf) -> Answers {
    let ask = |(name, ask): Row| {
        let root = root.join(name);
        spawn(async move {
            colored::fs::create_dir_all(&root).await.unwrap();
            let shown = |line: String| line.replace(root.to_str().unwrap(), "");
            (name, ask(root.clone()).await.into_iter().map(shown).collect())
        })
    };
    let mut answers = Vec::new();
    for asked in rows.into_iter().map(ask).collect::<Vec<_>>() {
        answers.push(asked.await.unwrap());
    }
    answers
}

#[cfg(target_os = "linux")]
fn of_the_system(rows: Vec<Row>) -> Answers {
    // Short, as a path of a socket has some 100 bytes.
    let root = std::env::temp_dir().join(format!("same-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    let root = std::fs::canonicalize(root).unwrap();
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let answers = runtime.block_on(answers(rows, root.clone()));
    std::fs::remove_dir_all(&root).unwrap();
    answers
}

/// How often the system is asked a row whose answer differs. A loaded machine delivers late, and another program may take a
/// port that a row has just left.
#[cfg(target_os = "linux")]
const ATTEMPTS: usize = 5;

#[test]
#[cfg(target_os = "linux")]
fn a_simulation_answers_as_the_system() {
    let simulated = Arc::new(Mutex::new(Vec::new()));
    let report = sim::Builder::new().seeds(0..20).run(|| {
        let simulated = Arc::clone(&simulated);
        async move {
            let answers = answers(table().collect(), "/root".into()).await;
            simulated.lock().unwrap().push(answers);
        }
    });
    report.assert_passed();
    let simulated = simulated.lock().unwrap();
    let mut rows: Vec<Row> = table().collect();
    assert!(simulated.len() >= 20 && rows.len() > 30, "{} rows", rows.len());
    let mut differences = Vec::new();
    for attempt in 0..ATTEMPTS {
        // The first time all at once, then each for itself.
        let system: Answers = if attempt == 0 {
            of_the_system(rows.clone())
        } else {
            rows.iter().flat_map(|row| of_the_system(vec![*row])).collect()
        };
        differences = system.iter().filter_map(|answer| differs(answer, &simulated)).collect();
        rows.retain(|(name, _)| differences.iter().any(|(of, _)| of == name));
        if rows.is_empty() {
            break;
        }
    }
    let lines: Vec<_> = differences.into_iter().map(|(_, lines)| lines).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

/// In what the simulations' answers of a row differ from this one, if in anything.
#[cfg(target_os = "linux")]
fn differs(
    (name, system): &(&'static str, Vec<String>),
    simulated: &[Answers],
) -> Option<(&'static str, String)> {
    let mut lines = Vec::new();
    for (_, ours) in simulated.iter().flatten().filter(|(of, _)| of == name) {
        for at in 0..ours.len().max(system.len()) {
            if ours.get(at) != system.get(at) {
                let (ours, system) = (ours.get(at), system.get(at));
                lines.push(format!("{name}: {ours:?}, and the system: {system:?}"));
            }
        }
    }
    lines.sort();
    lines.dedup();
    (!lines.is_empty()).then(|| (*name, lines.join("\n")))
}

/// The path of a file of a row.
fn inside(root: &Path, name: &str) -> PathBuf {
    root.join(name)
}
