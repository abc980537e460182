//! Node.fz: callbacks of one event loop, which is a color, and of what it waits for.

use super::kernels;
use super::tools::{Shared, join};
use colored::time::{Duration, sleep};
use colored::{ColorCell, spawn_colored, yield_now};

kernels! {
    Turn cinovo_logger_file "Node.fz cinovo-logger-file" "a line is lost";
    Turn agentkeepalive "Node.fz agentkeepalive" "the socket is destroyed";
    Turn commutative_order "Node.fz, commutative ordering violation" "the end before the last answer";
    Turn etherpad_lite "Node.fz etherpad-lite" "a change is lost";
    Turn ghost "Node.fz ghost" "two have one name";
    Turn kue "Node.fz kue" "a job without its data";
    Turn mkdirp "Node.fz mkdirp" "the directory is there already";
    Turn socket_io "Node.fz socket.io" "a client is left";
}

/// The event loop.
const LOOP: u64 = 1;

/// State of the event loop: a callback has it without a wait.
fn state<T: Send + 'static>(value: T) -> ColorCell<T> {
    ColorCell::new(LOOP, value)
}

/// A logger rotates its file while a line, which has chosen the file before, is on its way to it.
async fn cinovo_logger_file(wrong: bool) {
    let files = Shared::new([Some(0), None]);
    let (current, pending) = (state(0_usize), state(0));
    let write = {
        let (files, current, pending) = (files.clone(), current.clone(), pending.clone());
        spawn_colored(LOOP, async move {
            let file = current.with(|current| *current);
            pending.with(|pending| *pending += 1);
            let is_written =
                files.update(move |files| files[file].as_mut().map(|lines| *lines += 1).is_some());
            assert!(is_written.await, "a line is lost");
            pending.with(|pending| *pending -= 1);
        })
    };
    let rotate = spawn_colored(LOOP, async move {
        files.update(|files| files[1] = Some(0)).await;
        current.with(|current| *current = 1);
        while !wrong && pending.with(|pending| *pending > 0) {
            yield_now().await;
        }
        files.update(|files| files[0] = None).await;
    });
    join([write, rotate]).await;
}

/// An idle socket has a timer, which destroys it although it has been taken for a request in between.
async fn agentkeepalive(wrong: bool) {
    let (is_idle, is_destroyed) = (state(true), state(false));
    let expire = {
        let (is_idle, is_destroyed) = (is_idle.clone(), is_destroyed.clone());
        spawn_colored(LOOP, async move {
            sleep(Duration::from_millis(5)).await;
            if wrong || is_idle.with(|is_idle| *is_idle) {
                is_destroyed.with(|is_destroyed| *is_destroyed = true);
            }
        })
    };
    let request = spawn_colored(LOOP, async move {
        sleep(Duration::from_millis(5)).await;
        if !is_destroyed.with(|is_destroyed| *is_destroyed) {
            is_idle.with(|is_idle| *is_idle = false);
            yield_now().await;
            assert!(!is_destroyed.with(|is_destroyed| *is_destroyed), "the socket is destroyed");
        }
    });
    join([expire, request]).await;
}

/// Requests are made in a loop, and the answer to the last one ends the whole: other answers come later.
async fn commutative_order(wrong: bool) {
    let server = Shared::new(0);
    let answers = state(0);
    let ask = |number: u32| {
        let (server, answers) = (server.clone(), answers.clone());
        spawn_colored(LOOP, async move {
            server.update(|asked| *asked += 1).await;
            let count = answers.with(|count| {
                *count += 1;
                *count
            });
            let is_end = if wrong { number == 2 } else { count == 3 };
            assert!(!is_end || count == 3, "the end before the last answer");
        })
    };
    join([ask(0), ask(1), ask(2)]).await;
}

/// A pad is read, changed, and written back.
async fn etherpad_lite(wrong: bool) {
    let pad = Shared::new(String::new());
    let edit = |letter: char| {
        let pad = pad.clone();
        spawn_colored(LOOP, async move {
            if wrong {
                let mut text = pad.get().await;
                text.push(letter);
                pad.set(text).await;
            } else {
                pad.update(move |text| text.push(letter)).await;
            }
        })
    };
    join([edit('a'), edit('b')]).await;
    assert!(pad.get().await.len() == 2, "a change is lost");
}

/// A name is looked for in the database, and added if it is not there.
async fn ghost(wrong: bool) {
    let names = Shared::new(Vec::new());
    let add = |_| {
        let names = names.clone();
        spawn_colored(LOOP, async move {
            if wrong {
                if !names.get().await.contains(&"user") {
                    names.update(|names| names.push("user")).await;
                }
            } else {
                let add = |names: &mut Vec<_>| {
                    if names.is_empty() {
                        names.push("user")
                    }
                };
                names.update(add).await;
            }
        })
    };
    join([add(1), add(2)]).await;
    assert!(names.get().await.len() == 1, "two have one name");
}

/// A job is put into the index of waiting jobs, and then its data are stored.
async fn kue(wrong: bool) {
    let (index, data) = (Shared::new(Vec::new()), Shared::new(Vec::new()));
    let save = {
        let (index, data) = (index.clone(), data.clone());
        spawn_colored(LOOP, async move {
            if wrong {
                index.update(|index| index.push(7)).await;
                data.update(|data| data.push(7)).await;
            } else {
                data.update(|data| data.push(7)).await;
                index.update(|index| index.push(7)).await;
            }
        })
    };
    let work = spawn_colored(2, async move {
        while let Some(job) = index.update(Vec::pop).await {
            assert!(data.get().await.contains(&job), "a job without its data");
        }
    });
    join([save, work]).await;
}

/// Two make a directory: each looks whether it is there, and makes it.
async fn mkdirp(wrong: bool) {
    let directories = Shared::new(Vec::new());
    let make = |_| {
        let directories = directories.clone();
        spawn_colored(LOOP, async move {
            if directories.get().await.contains(&"a") {
                return;
            }
            let make = |directories: &mut Vec<_>| {
                let is_new = !directories.contains(&"a");
                if is_new {
                    directories.push("a");
                }
                is_new
            };
            let is_new = directories.update(make).await;
            // The twin takes that as a success.
            assert!(is_new || !wrong, "the directory is there already");
        })
    };
    join([make(1), make(2)]).await;
}

/// A client is let in after a look into the database. It may have left in between, which its own callback has handled.
async fn socket_io(wrong: bool) {
    let database = Shared::new(());
    let (clients, is_gone) = (state(Vec::new()), state(false));
    let connect = {
        let (database, clients, is_gone) = (database.clone(), clients.clone(), is_gone.clone());
        spawn_colored(LOOP, async move {
            database.get().await;
            if wrong || !is_gone.with(|is_gone| *is_gone) {
                clients.with(|clients| clients.push("client"));
            }
        })
    };
    let leave = {
        let clients = clients.clone();
        spawn_colored(LOOP, async move {
            is_gone.with(|is_gone| *is_gone = true);
            clients.with(Vec::clear);
        })
    };
    join([connect, leave]).await;
    assert!(clients.call(|clients| clients.is_empty()).await, "a client is left");
}
