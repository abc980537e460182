//! [`Command`].

use super::child::Child;
use crate::error_context::{Listening, NamedError, with_context};
use crate::registration::refuse_in_simulation;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, ExitStatus, Output, Stdio};

/// A program to run, as [`std::process::Command`].
///
/// # Examples
///
/// ```
/// use colored::io::{AsyncBufReadExt, BufReader};
/// use colored::process::{Command, Stdio};
///
/// # #[colored::main]
/// # async fn main() -> std::io::Result<()> {
/// let mut child = Command::new("seq").arg("3").stdout(Stdio::piped()).spawn()?;
/// let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
/// let mut sum = 0;
/// while let Some(line) = lines.next_line().await? {
///     sum += line.parse::<i32>().expect("a number");
/// }
/// assert_eq!(sum, 6);
/// assert!(child.wait().await?.success());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Command {
    command: process::Command,
    kill_on_drop: bool,
    has_stdin: bool,
}

impl From<process::Command> for Command {
    /// Its standard streams are as they were set.
    fn from(command: process::Command) -> Self {
        Self { command, kill_on_drop: false, has_stdin: true }
    }
}

impl Command {
    /// A program at a path, or one of this name in the directories of `PATH`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self { has_stdin: false, ..Self::from(process::Command::new(program)) }
    }

    /// Adds an argument.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.command.args(args);
        self
    }

    /// Sets a variable of the child's environment.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.command.env(name, value);
        self
    }

    /// Sets variables of the child's environment.
    pub fn envs(
        &mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> &mut Self {
        self.command.envs(variables);
        self
    }

    /// Removes a variable from the child's environment.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.command.env_remove(name);
        self
    }

    /// Lets the child inherit no variables.
    pub fn env_clear(&mut self) -> &mut Self {
        self.command.env_clear();
        self
    }

    /// Sets the child's working directory.
    pub fn current_dir(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.command.current_dir(path);
        self
    }

    /// Sets the child's standard input. Usually it is this process's; of [`output`](Self::output) there is none.
    pub fn stdin(&mut self, stdin: impl Into<Stdio>) -> &mut Self {
        self.command.stdin(stdin);
        self.has_stdin = true;
        self
    }

    /// Sets the child's standard output. Usually it is this process's.
    pub fn stdout(&mut self, stdout: impl Into<Stdio>) -> &mut Self {
        self.command.stdout(stdout);
        self
    }

    /// Sets the child's standard error. Usually it is this process's.
    pub fn stderr(&mut self, stderr: impl Into<Stdio>) -> &mut Self {
        self.command.stderr(stderr);
        self
    }

    /// Whether the child is killed when its [`Child`] is dropped; usually not.
    pub fn kill_on_drop(&mut self, kills: bool) -> &mut Self {
        self.kill_on_drop = kills;
        self
    }

    /// Whether [`kill_on_drop`](Self::kill_on_drop) is set.
    #[must_use]
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Sets the name by which the child knows itself, its argument 0. Usually it is the program's.
    pub fn arg0(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.command.arg0(name);
        self
    }

    /// Puts the child into this group of processes; 0 is a group of its own, which gets no signals of this program's
    /// terminal, and to which `kill` can send one signal for all. Usually it is in this process's group.
    pub fn process_group(&mut self, group: i32) -> &mut Self {
        self.command.process_group(group);
        self
    }

    /// Runs the child as this user; most systems allow it to root only. See
    /// [`CommandExt::uid`].
    pub fn uid(&mut self, user: u32) -> &mut Self {
        self.command.uid(user);
        self
    }

    /// Runs the child with this group of users; see [`uid`](Self::uid).
    pub fn gid(&mut self, group: u32) -> &mut Self {
        self.command.gid(group);
        self
    }

    /// The command of the standard library; [`kill_on_drop`](Self::kill_on_drop) is lost.
    #[must_use]
    pub fn into_std(self) -> process::Command {
        self.command
    }

    /// The command of the standard library.
    pub fn as_std(&self) -> &process::Command {
        &self.command
    }

    /// The command of the standard library, for what has no method here.
    pub fn as_std_mut(&mut self) -> &mut process::Command {
        &mut self.command
    }

    /// Starts the program. Costs this poll about a millisecond: the system copies what it knows of the process.
    ///
    /// # Errors
    ///
    /// When there is no such program, or the system has no process or no descriptors left.
    /// [`named_call`](crate::io::named_call) names the program.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        // Before there is a process.
        let started = refuse_in_simulation().and_then(|()| self.command.spawn());
        let child = started.and_then(|child| Child::new(child, self.kill_on_drop));
        child.map_err(|error| {
            let program = Path::new(self.command.get_program()).display();
            with_context(format!("cannot start {program}: {error}"), error)
        })
    }

    /// Starts the program, and returns a future that waits for its end. Not cancel safe: if the future is dropped,
    /// its result is lost, and the child goes on, unless [`kill_on_drop`](Self::kill_on_drop) is set.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + Send + use<> {
        let child = self.spawn_named();
        async move { child?.wait().await }
    }

    /// Starts the program, and returns a future that waits for its end, and has what it wrote to its standard output and
    /// error. Not cancel safe: if the future is dropped, what it has read is lost, and the child goes on, unless
    /// [`kill_on_drop`](Self::kill_on_drop) is set.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + Send + use<> {
        if !self.has_stdin {
            self.command.stdin(Stdio::null());
        }
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.spawn_named();
        async move { child?.wait_with_output().await }
    }

    /// For a future that returns the error later, and tells its name then.
    #[track_caller]
    fn spawn_named(&mut self) -> Result<Child, NamedError> {
        let listening = Listening::begin();
        let child = self.spawn();
        child.map_err(|error| NamedError::of(error, listening.end()))
    }
}
