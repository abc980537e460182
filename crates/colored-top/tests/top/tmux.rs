//! The program in a terminal: tmux draws it, types keys, and tells what is on the screen.

use crate::load::{HOT, Load, wait_until};
use colored::diagnose::usage::Level;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A server of tmux of its own, with the program in it. Dropping it ends both.
struct Screen {
    socket: PathBuf,
}

impl Screen {
    fn start(directory: &Path, program: &str) -> Self {
        let screen = Self { socket: directory.join("tmux") };
        let size = ["-x", "110", "-y", "40"];
        let new = [&["-f", "/dev/null", "new-session", "-d"], &size[..], &[program]].concat();
        assert!(screen.tmux(&new).is_some(), "tmux starts");
        screen
    }

    /// What the command prints; none if it fails.
    fn tmux(&self, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(&self.socket).args(arguments);
        let output = command.env("LC_ALL", "C.UTF-8").output().expect("tmux is there");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn text(&self) -> String {
        self.tmux(&["capture-pane", "-p"]).unwrap_or_default()
    }

    #[track_caller]
    fn shows(&self, parts: &[&str]) -> String {
        let mut text = String::new();
        wait_until(&format!("the screen shows {parts:?}"), || {
            text = self.text();
            parts.iter().all(|part| text.contains(part))
        });
        text
    }

    fn press(&self, key: &str) {
        assert!(self.tmux(&["send-keys", key]).is_some(), "the program runs");
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

fn has_tmux() -> bool {
    let found = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    let must = env::var("COLORED_ALL_PROGRAMS").is_ok_and(|value| value == "1");
    assert!(found || !must, "COLORED_ALL_PROGRAMS=1, and there is no program tmux: install it");
    if !found {
        println!("skipped: there is no program tmux");
    }
    found
}

#[test]
fn a_terminal_shows_the_verdict_and_keys_change_the_page() {
    if !has_tmux() {
        return;
    }
    let mut load = Load::start();
    let program = format!("'{}' '{}'", env!("CARGO_BIN_EXE_colored-top"), load.socket().display());
    let screen = Screen::start(load.directory(), &program);
    let text = screen.shows(&["hot-color: color \"orders\"", HOT, "8 tasks", "recorder: level 1"]);
    println!("{text}");
    assert!(text.contains("worker  0 [") && text.contains("q quit"), "{text}");
    for (key, parts) in [
        ("2", ["colors in use", HOT]),
        ("Enter", ["color \"orders\"", "turns of"]),
        ("3", ["polls/s", "worker 1"]),
        ("4", ["spawned at", "load.rs"]),
        ("5", ["long poll", "q quit"]),
        ("6", ["timers are set", "woken"]),
        ("7", ["hot-color: color", "to mend it"]),
        ("8", ["spawned at", "load.rs"]),
        ("?", ["ctrl-c", "the mean number"]),
        ("1", ["recorder: level 1", HOT]),
        ("t", ["since its begin", HOT]),
        ("p", ["PAUSED", HOT]),
    ] {
        screen.press(key);
        screen.shows(&parts);
    }
    assert_eq!(load.runtime().handle().trace_level(), Level::Slices);
    screen.press("q");
    wait_until("the program ends", || screen.tmux(&["list-sessions"]).is_none());
    wait_until("the level is as before", || load.runtime().handle().trace_level() == Level::Off);

    // And the program ends, in place of this one.
    let program = format!("{program} 2>&1; read wait");
    let screen = Screen::start(load.directory(), &program);
    screen.shows(&[HOT]);
    load.end();
    screen.shows(&["colored-top: the program has ended, or has closed the connection"]);
}
