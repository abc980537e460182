//! A server that computes expressions such as `(+ 1 (* 2 3))` while they arrive.
//!
//! The [reader](reader) recurs for each parenthesis, and reads from the socket at the bottom of its recursion. As a future
//! it would need a box for each level; with `block_in_place` each slow client would hold a thread. A task with a stack
//! waits where it is, a thousand levels deep, and holds a thousand frames of its stack and nothing else.

mod reader;

use colored::Color;
use colored::net::TcpListener;
use colored_examples::Failure;
use colored_stackful as stackful;
use stackful::net::TcpStream;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;

/// How deep the long expression is.
const LEVELS: usize = 1_000;

/// Enough for these levels without optimization. Only the pages that a task has touched are in memory.
const STACK: usize = 4 << 20;

#[colored::main]
async fn main() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    let server = colored::spawn_unique(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let task = stackful::Builder::new().color(Color::unique()).stack_size(STACK);
            drop(task.spawn(move || serve(&TcpStream::from(stream))));
        }
    });
    for line in stackful::spawn_unique(move || talk(addr)).await?? {
        println!("{line}");
    }
    server.abort();
    Ok(())
}

/// Answers each expression by its value, until something else comes.
fn serve(mut stream: &TcpStream) -> io::Result<()> {
    let mut source = BufReader::new(stream);
    loop {
        match reader::value(&mut source) {
            Ok(value) => writeln!(stream, "{value}")?,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return writeln!(stream, "{error}"),
        }
    }
}

/// Two clients: while one of them is inside its expression, the other one gets answers.
fn talk(addr: SocketAddr) -> io::Result<Vec<String>> {
    let deep = format!("{}1{}\n", "(+ 1 ".repeat(LEVELS), ")".repeat(LEVELS));
    let (begin, end) = deep.split_at(deep.len() / 2);
    let mut slow = BufReader::new(TcpStream::connect(addr)?);
    slow.get_mut().write_all(begin.as_bytes())?;

    let mut quick = BufReader::new(TcpStream::connect(addr)?);
    let mut lines = Vec::new();
    for expression in ["(* 6 (+ 3 4))", "(+)", "(- 1)"] {
        quick.get_mut().write_all(format!("{expression}\n").as_bytes())?;
        lines.push(format!("{expression}: {}", answer(&mut quick)?));
    }
    slow.get_mut().write_all(end.as_bytes())?;
    lines.push(format!("{LEVELS} levels: {}", answer(&mut slow)?));
    Ok(lines)
}

fn answer(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}
