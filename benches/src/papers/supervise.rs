//! Experiments as child processes, each with a limit of time.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a child is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Runs `program` and passes on what it prints. Returns its lines if it succeeds.
///
/// # Errors
///
/// If it does not start, fails, or has not ended before `limit`: then it is killed.
pub fn run(program: &Path, arguments: &[String], limit: Duration) -> io::Result<Vec<String>> {
    let start = Instant::now();
    let mut child = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let reader = thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.inspect(|line| println!("{line}")).collect::<Vec<_>>()
    });
    let status = wait(&mut child, start + limit)?;
    let lines = reader.join().map_err(|_| io::Error::other("what it prints is no text"))?;
    match status {
        Some(status) if status.success() => Ok(lines),
        Some(status) => Err(io::Error::other(status.to_string())),
        None => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("not done after {:.0} s", limit.as_secs_f64()),
        )),
    }
}

/// The child's status, or `None` if it had to be killed.
fn wait(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> io::Result<Vec<String>> {
        run(Path::new("/bin/sh"), &[String::from("-c"), script.to_owned()], limit)
    }

    #[test]
    fn lines_come_back_and_failures_and_hangs_are_errors() {
        let minute = Duration::from_secs(60);
        assert_eq!(shell("echo one; echo two", minute).expect("it succeeds"), ["one", "two"]);
        assert!(shell("exit 3", minute).is_err());
        let error = shell("exec sleep 60", Duration::from_millis(50)).expect_err("it hangs");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
