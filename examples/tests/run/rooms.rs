//! All members of a room hear one order and nothing from other rooms, and a member that does not read does no
//! harm.

use crate::support::{Running, addr_after, connect, error};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;

struct Client {
    write: TcpStream,
    read: BufReader<TcpStream>,
}

impl Client {
    /// In the room when this returns.
    fn enter(addr: SocketAddr, room: &str, name: &str) -> Client {
        let write = connect(addr);
        let mut client = Client { read: BufReader::new(write.try_clone().unwrap()), write };
        client.say(&format!("{room} {name}"));
        assert_eq!(client.line(), format!("* {name} is here"));
        client
    }

    fn say(&mut self, text: &str) {
        self.write.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.read.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "the connection ended after {line:?}");
        line.pop();
        line
    }

    /// All lines up to the end of the connection, after saying that there is no more to come.
    fn leave(mut self) -> Vec<String> {
        self.write.shutdown(Shutdown::Write).unwrap();
        let mut rest = String::new();
        self.read.read_to_string(&mut rest).unwrap();
        rest.lines().map(str::to_owned).collect()
    }
}

fn start() -> (Running, SocketAddr) {
    let rooms = Running::start("rooms", "--addr 127.0.0.1:0");
    let addr = addr_after(&rooms.line(), "listening on ");
    (rooms, addr)
}

#[test]
fn all_hear_the_same_in_the_same_order() {
    const LINES: usize = 200;
    let (_rooms, addr) = start();
    let mut members: Vec<_> =
        (0..8).map(|n| Client::enter(addr, "kitchen", &format!("cook{n}"))).collect();
    let mut alone = Client::enter(addr, "cellar", "ghost");
    // The first member has seen all others enter.
    for (n, member) in members.iter_mut().enumerate() {
        for later in n + 1..8 {
            assert_eq!(member.line(), format!("* cook{later} is here"));
        }
    }
    let talk = |(n, mut member): (usize, Client)| {
        thread::spawn(move || {
            for line in 0..LINES {
                member.say(&format!("{n} {line}"));
            }
            let heard: Vec<_> = (0..8 * LINES).map(|_| member.line()).collect();
            (member, heard)
        })
    };
    let talks: Vec<_> = members.into_iter().enumerate().map(talk).collect();
    let (mut members, heard): (Vec<_>, Vec<_>) =
        talks.into_iter().map(|talk| talk.join().unwrap()).unzip();
    for other in &heard[1..] {
        assert_eq!(heard[0], *other);
    }
    for n in 0..8 {
        let own = heard[0].iter().filter_map(|line| line.strip_prefix(&format!("cook{n}: {n} ")));
        assert!(own.map(|line| line.parse::<usize>().unwrap()).eq(0..LINES));
    }
    drop(members.pop());
    assert_eq!(members[0].line(), "* cook7 has left");
    alone.say("boo");
    assert_eq!(alone.leave(), ["ghost: boo"]);
}

#[test]
fn a_member_that_does_not_read_is_removed() {
    // Far more than the sockets and the room keep for one member.
    const LINES: usize = 20_000;
    let (_rooms, addr) = start();
    let mut speaker = Client::enter(addr, "hall", "speaker");
    let mut asleep = Client::enter(addr, "hall", "sleeper");
    assert_eq!(speaker.line(), "* sleeper is here");
    let mut write = speaker.write.try_clone().unwrap();
    let speech = thread::spawn(move || {
        let line = format!("{}\n", "x".repeat(2_000));
        (0..LINES).for_each(|_| write.write_all(line.as_bytes()).unwrap());
    });
    // It has the room to itself in the end, and has heard every word.
    let (mut words, mut news) = (0, Vec::new());
    while words < LINES || news.is_empty() {
        let line = speaker.line();
        if line.starts_with('*') {
            news.push(line);
        } else {
            words += 1;
        }
    }
    speech.join().unwrap();
    assert_eq!(news, ["* sleeper was too slow"]);
    // The unread text ends in the middle.
    let mut rest = Vec::new();
    let _ = asleep.read.read_to_end(&mut rest);
    assert!(rest.len() < LINES * 2_000);
    assert_eq!(speaker.leave(), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_after_the_members() {
    let (rooms, addr) = start();
    let (first, mut second) = (Client::enter(addr, "hall", "a"), Client::enter(addr, "hall", "b"));
    drop(first);
    assert_eq!(second.line(), "* a has left");
    crate::support::signal(rooms.id());
    while TcpStream::connect(addr).is_ok() {}
    second.say("is anybody there?");
    assert_eq!(second.leave(), ["b: is anybody there?"]);
    let end = rooms.end().pop().unwrap();
    assert!(end.ends_with(" connections have ended, 0 were cut off"), "{end}");
}

#[test]
fn it_says_what_it_does_not_know() {
    let text = error("rooms", "--port 7");
    let expected =
        "Error: --port is not known here, or given twice\nusage: rooms [--addr HOST:PORT]\n";
    assert_eq!(text, expected);
}
