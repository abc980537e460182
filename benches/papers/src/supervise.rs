//! Experiments as child processes, each with a limit of time.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between two looks at a child.
const LOOK: Duration = Duration::from_millis(20);

/// Runs `program` with the output of this process.
///
/// # Errors
///
/// If it does not start, fails, or does not end before `limit`; in the last case it is killed.
pub fn run(program: &Path, arguments: &[String], limit: Duration) -> io::Result<()> {
    let start = Instant::now();
    let mut child = Command::new(program).args(arguments).spawn()?;
    match wait(&mut child, start + limit)? {
        Some(status) if status.success() => Ok(()),
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

    fn shell(script: &str, limit: Duration) -> io::Result<()> {
        run(Path::new("/bin/sh"), &[String::from("-c"), script.to_owned()], limit)
    }

    #[test]
    fn failures_and_hangs_are_errors() {
        let minute = Duration::from_secs(60);
        assert!(shell("exit 0", minute).is_ok());
        assert!(shell("exit 3", minute).is_err());
        let error = shell("exec sleep 60", Duration::from_millis(50)).expect_err("it hangs");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
