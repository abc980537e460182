//! [`Child`].

use super::stdio::{ChildStderr, ChildStdin, ChildStdout};
use crate::io::{AsyncRead, AsyncReadExt};
use crate::time::sleep;
use crate::wait_reason::{Kind, labeled};
use colored_core::SchedulerHandle;
use std::fmt;
use std::io;
use std::panic::Location;
use std::process::{self, ExitStatus, Output};
use std::time::Duration;

#[cfg(target_os = "linux")]
type Exit = crate::io::AsyncFd<std::os::fd::OwnedFd>;
#[cfg(not(target_os = "linux"))]
type Exit = std::convert::Infallible;

/// The first time between two looks at a child of which the system sends no event, and the longest.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(20);

/// A running program.
///
/// If it is dropped, the program goes on, unless [`kill_on_drop`](super::Command::kill_on_drop) is set. A task of the
/// runtime then waits for its end, so that the system can forget it. The end of the runtime ends that.
pub struct Child {
    /// The pipe to its standard input, if that is piped.
    pub stdin: Option<ChildStdin>,
    /// The pipe from its standard output, if that is piped.
    pub stdout: Option<ChildStdout>,
    /// The pipe from its standard error, if that is piped.
    pub stderr: Option<ChildStderr>,
    /// None while it is dropped.
    process: Option<Process>,
    kill_on_drop: bool,
    runtime: SchedulerHandle,
}

/// A process and what tells of its end.
struct Process {
    /// Dropped before the process can be forgotten, whose number another one may then have.
    exit: Option<Exit>,
    child: process::Child,
    status: Option<ExitStatus>,
}

impl Child {
    pub(super) fn new(mut child: process::Child, kill_on_drop: bool) -> io::Result<Child> {
        let runtime = SchedulerHandle::with_current(|handle| handle.cloned());
        let stdin = child.stdin.take().map(ChildStdin::new).transpose()?;
        let stdout = child.stdout.take().map(ChildStdout::new).transpose()?;
        let stderr = child.stderr.take().map(ChildStderr::new).transpose()?;
        let exit = watch(&child);
        let process = Some(Process { exit, child, status: None });
        let runtime = runtime.expect("a pipe, or this, was made inside a runtime");
        Ok(Child { stdin, stdout, stderr, process, kill_on_drop, runtime })
    }

    fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("it is taken only by the drop")
    }

    /// The number of the process; none once it is known to have ended, since another process may have it then.
    pub fn id(&self) -> Option<u32> {
        let process = self.process.as_ref()?;
        process.status.is_none().then(|| process.child.id())
    }

    /// Waits for the end of the program, after closing its standard input. Cancel safe, and may be called again.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        self.process().wait().await
    }

    /// The status of the program, if it has ended. Does not wait.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.process().try_wait()
    }

    /// Kills the program, and waits for its end. One that has ended is no error. Cancel safe.
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await.map(drop)
    }

    /// Kills the program without waiting. One that has ended is no error.
    pub fn start_kill(&mut self) -> io::Result<()> {
        let process = self.process();
        match process.try_wait()? {
            Some(_) => Ok(()),
            None => process.child.kill(),
        }
    }

    /// Waits for the end of the program, after closing its standard input, and returns what it has written to the pipes.
    /// Not cancel safe: dropped, it loses the output, and drops the child.
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        async fn all(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                pipe.read_to_end(&mut bytes).await?;
            }
            Ok(bytes)
        }
        drop(self.stdin.take());
        let (stdout, stderr) = (all(self.stdout.take()), all(self.stderr.take()));
        let (stdout, stderr, status) = tokio::try_join!(stdout, stderr, self.wait())?;
        Ok(Output { status, stdout, stderr })
    }
}

impl Process {
    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status)
    }

    async fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut look = FIRST_LOOK;
        loop {
            if let Some(status) = self.try_wait()? {
                return Ok(status);
            }
            match &self.exit {
                #[cfg(target_os = "linux")]
                Some(exit) => {
                    labeled(Kind::Child, self.child.id(), exit.readable()).await?;
                }
                #[cfg(not(target_os = "linux"))]
                Some(exit) => match *exit {},
                None => {
                    labeled(Kind::Child, self.child.id(), sleep(look)).await;
                    look = (look * 2).min(LAST_LOOK);
                }
            }
        }
    }
}

/// An event at the end of the process; none where the system does not give it.
#[cfg(target_os = "linux")]
fn watch(child: &process::Child) -> Option<Exit> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let pid = Pid::from_child(child);
    Exit::new(pidfd_open(pid, PidfdFlags::empty()).ok()?).ok()
}

#[cfg(not(target_os = "linux"))]
fn watch(_: &process::Child) -> Option<Exit> {
    None
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        // An error leaves what would have been without it.
        if !matches!(process.try_wait(), Ok(None)) {
            return;
        }
        if self.kill_on_drop {
            let _ = process.child.kill();
        }
        let site = Location::caller();
        drop(self.runtime.spawn_unique_from(site, async move { process.wait().await }));
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("id", &self.id()).finish_non_exhaustive()
    }
}
