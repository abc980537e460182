//! Each server that is compared answers as the others do, and loses no increment.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;

struct Server(Child, u16);

impl Server {
    fn start(name: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_redis"));
        command.args(["serve", name, "2"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let mut line = String::new();
        let out = process.stdout.as_mut().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("it says its port");
        let port = line.trim().strip_prefix("PORT ").expect("it listens").parse();
        Self(process, port.expect("a port"))
    }

    /// Sends `request`, and expects `answer`.
    fn exchange(&self, request: &str, answer: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.1)).expect("it accepts");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut got = vec![0; answer.len()];
        stream.read_exact(&mut got).expect("it answers");
        assert_eq!(String::from_utf8_lossy(&got), answer, "to {request:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_server_answers_in_order_and_loses_no_increment() {
    for name in ["lock", "locks", "serial", "colors", "batches"] {
        let server = Server::start(name);
        server.exchange("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\nxy\r\n", "+OK\r\n");
        // Several in one packet, and a line.
        let request = "GET a\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\nPING\r\nDEL a\r\nDEL a\r\nFLY\r\n";
        let answers = "$2\r\nxy\r\n$-1\r\n+PONG\r\n:1\r\n:0\r\n-ERR GET, SET, INCR, DEL and PING are known\r\n";
        server.exchange(request, answers);
        server.exchange("*x\r\n", "-ERR not a number\r\n");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut stream =
                        TcpStream::connect(("127.0.0.1", server.1)).expect("it accepts");
                    stream.write_all("INCR n\r\n".repeat(250).as_bytes()).expect("it reads");
                    let answers = BufReader::new(stream).lines().take(250);
                    assert_eq!(answers.filter(|line| line.is_ok()).count(), 250);
                });
            }
        });
        server.exchange("GET n\r\n", "$4\r\n1000\r\n");
    }
}

/// The client that the bench uses, where it is installed.
#[test]
fn redis_benchmark_is_answered() {
    if Command::new("redis-benchmark").arg("--version").output().is_err() {
        return println!("redis-benchmark is not installed (Debian: redis-tools)");
    }
    for name in ["lock", "locks", "serial", "colors", "batches"] {
        let server = Server::start(name);
        let mut command = Command::new("redis-benchmark");
        command.args(["-q", "-h", "127.0.0.1", "-p", &server.1.to_string(), "-t", "set,get,incr"]);
        let output = command.args(["-c", "20", "-P", "16", "-n", "2000", "-r", "100"]).output();
        let output = output.expect("it is installed");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let all = ["SET: ", "GET: ", "INCR: "].iter().all(|row| said.contains(row));
        assert!(output.status.success() && all, "{name}: {said}");
    }
}

#[test]
fn a_name_that_is_not_known_is_told_with_those_that_are() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redis"));
    let output = command.args(["serve", "fast"]).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("\"fast\"") && said.contains("colors"),
        "{said}"
    );
}
