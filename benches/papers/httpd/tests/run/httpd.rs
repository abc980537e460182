//! The server for static files, with each way to its files.

use crate::support::{Running, addr_after, connect, error, get, send, signal};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

pub(crate) const MODES: [&str; 5] = ["lazy", "blocking", "pool", "aio", "amped"];

/// A directory with files, removed at the end.
pub(crate) struct Files(PathBuf);

impl Files {
    pub(crate) fn new(name: &str) -> Files {
        let path = std::env::temp_dir().join(format!("httpd-{name}-{}", std::process::id()));
        // An earlier process of this number may have been killed, and have left it behind.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("sub dir/empty")).unwrap();
        let files = Files(path);
        files.write("hello.txt", b"Hello, World!");
        files.write("nothing.txt", b"");
        files.write("index.html", b"<p>home</p>");
        files.write("sub dir/index.html", b"<p>sub</p>");
        files.write("large.bin", &large());
        fs::write(files.0.with_extension("secret"), "secret").unwrap();
        files
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_file(self.0.with_extension("secret"));
    }
}

/// Larger than what is kept in memory, and no multiple of anything.
pub(crate) fn large() -> Vec<u8> {
    (0..300_007u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// A server, and its address.
pub(crate) fn start(files: &Files, options: &str) -> (Running, SocketAddr) {
    let root = files.path().display();
    let httpd = Running::start("httpd", &format!("--addr 127.0.0.1:0 --root {root} {options}"));
    let addr = loop {
        let line = httpd.line();
        if line.starts_with("listening") {
            break addr_after(&line, "listening on http://");
        }
    };
    (httpd, addr)
}

/// The head and the body, as bytes, of an answer to these lines.
pub(crate) fn fetch(addr: SocketAddr, path: &str, headers: &str) -> (String, Vec<u8>) {
    let mut stream = connect(addr);
    let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("there is a head");
    let body = answer.split_off(end + 4);
    (String::from_utf8(answer).unwrap(), body)
}

fn status(head: &str) -> u16 {
    head["HTTP/1.1 ".len()..][..3].parse().unwrap()
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn every_mode_sends_the_same_bytes() {
    let files = Files::new("modes");
    for mode in MODES {
        for rest in [
            "",
            " --sendfile off",
            " --coloring serial",
            " --copies 2 --workers 1",
            " --listeners each",
            " --cache-mib 0 --open-files 0",
            " --workers 1 --shards 1 --recheck-ms 0",
        ] {
            let (httpd, addr) = start(&files, &format!("--fs {mode}{rest}"));
            for _ in 0..2 {
                let (head, body) = fetch(addr, "/hello.txt", "");
                assert_eq!((status(&head), &body[..]), (200, &b"Hello, World!"[..]), "{mode}");
                assert_eq!(header(&head, "content-type"), Some("text/plain; charset=utf-8"));
                let (head, body) = fetch(addr, "/large.bin", "");
                assert_eq!(header(&head, "content-length"), Some("300007"), "{mode}");
                assert!(body == large(), "{mode}");
                let (head, body) = fetch(addr, "/large.bin", "range: bytes=70000-269999\r\n");
                assert_eq!(header(&head, "content-range"), Some("bytes 70000-269999/300007"));
                assert!(status(&head) == 206 && body == large()[70_000..270_000], "{mode}");
                assert_eq!(fetch(addr, "/nothing.txt", "").1, b"", "{mode}");
                assert_eq!(status(&fetch(addr, "/none", "").0), 404, "{mode}");
            }
            drop(httpd);
        }
    }
}

#[test]
fn clients_at_a_time_get_their_files() {
    let files = Files::new("clients");
    for mode in MODES {
        let (httpd, addr) = start(&files, &format!("--fs {mode} --helpers 2 --recheck-ms 0"));
        let client = move |n: usize| {
            for i in 0..20 {
                match (n + i) % 3 {
                    0 => assert_eq!(fetch(addr, "/hello.txt", "").1, b"Hello, World!"),
                    1 => assert!(fetch(addr, "/large.bin", "").1 == large()),
                    _ => assert_eq!(fetch(addr, "/sub%20dir/", "").1, b"<p>sub</p>"),
                }
            }
        };
        let clients: Vec<_> = (0..8).map(|n| thread::spawn(move || client(n))).collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        // Each request was one or the other.
        let [hits, misses, ..] = stop(httpd);
        assert_eq!(hits + misses, 160, "{mode}");
    }
}

/// Asks a server to end, and returns its hits, misses, reads and evictions.
pub(crate) fn stop(httpd: Running) -> [u32; 4] {
    let counts = httpd.stop().pop().expect("it prints what its cache did");
    let numbers: Vec<u32> = counts.split(' ').filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("four numbers in {counts:?}"))
}

#[test]
fn paths_have_their_answers() {
    let files = Files::new("paths");
    let (_httpd, addr) = start(&files, "");
    let rows = [
        ("/", 200, "<p>home</p>"),
        ("/?query", 200, "<p>home</p>"),
        ("//hello.txt", 200, "Hello, World!"),
        ("/%68ello.txt", 200, "Hello, World!"),
        ("/sub%20dir/", 200, "<p>sub</p>"),
        ("/sub%20dir", 301, ""),
        ("/hello.txt/", 404, ""),
        // There is no listing.
        ("/sub%20dir/empty/", 404, ""),
        ("/..", 400, ""),
        ("/../", 400, ""),
        ("/%2e%2e/httpd", 400, ""),
        ("/sub%20dir/..%2fhello.txt", 400, ""),
        ("/hello.txt%00", 400, ""),
    ];
    for (path, expected, content) in rows {
        let (head, body) = get(addr, path);
        assert_eq!(status(&head), expected, "{path}");
        assert!(content.is_empty() || body == content, "{path}: {body}");
        assert!(!body.contains("secret"), "{path}: {body}");
    }
    let secret = files.path().with_extension("secret");
    let outside = format!("/../{}", secret.file_name().unwrap().to_str().unwrap());
    assert_eq!(status(&get(addr, &outside).0), 400);
    assert_eq!(header(&get(addr, "//sub%20dir").0, "location"), Some("/sub%20dir/"));
    let long = format!("/{}", "a".repeat(300));
    assert_eq!(status(&get(addr, &long).0), 404);
}

#[test]
fn a_pipe_is_no_file() {
    let files = Files::new("pipe");
    let made = Command::new("mkfifo").arg(files.path().join("pipe")).status();
    assert!(made.expect("`mkfifo` runs").success());
    for mode in MODES {
        let (_httpd, addr) = start(&files, &format!("--fs {mode}"));
        assert_eq!(status(&get(addr, "/pipe").0), 404, "{mode}");
    }
}

#[test]
fn a_path_that_leads_nowhere_is_no_fault_of_the_server() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    let files = Files::new("nowhere");
    let at = |name: &str| files.path().join(name);
    symlink("loop", at("loop")).unwrap();
    symlink("there", at("here")).unwrap();
    symlink("here", at("there")).unwrap();
    symlink("nothing", at("dangling")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("closed")).unwrap();
    files.write("closed/file", b"closed");
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    // The system lets root read everything.
    let closed = if fs::read(at("closed/file")).is_ok() { 200 } else { 403 };
    let long = format!("/{}", "a".repeat(300));
    let deep = format!("/{}", "a/".repeat(3000));
    let rows = [
        ("/loop", 403),
        ("/loop/file", 403),
        ("/here", 403),
        ("/dangling", 404),
        ("/socket", 404),
        ("/hello.txt/file", 404),
        ("/hello.txt/", 404),
        (&long, 404),
        (&deep, 404),
        ("/closed/file", closed),
    ];
    for mode in MODES {
        let (_httpd, addr) = start(&files, &format!("--fs {mode}"));
        for (path, expected) in rows {
            let path_shown = &path[..path.len().min(20)];
            assert_eq!(status(&get(addr, path).0), expected, "{mode}: {path_shown}");
        }
    }
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn the_longest_prefix_has_the_file() {
    let (one, two) = (Files::new("one"), Files::new("two"));
    two.write("hello.txt", b"two");
    let (_httpd, addr) = start(&one, &format!("--root /second={}", two.path().display()));
    assert_eq!(get(addr, "/hello.txt").1, "Hello, World!");
    assert_eq!(get(addr, "/second/hello.txt").1, "two");
    assert_eq!(status(&get(addr, "/secondhello.txt").0), 404);
}

#[test]
fn methods_have_their_answers() {
    let files = Files::new("methods");
    let (_httpd, addr) = start(&files, "");
    let ask = |method: &str, path: &str| {
        send(addr, &format!("{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"))
    };
    let (head, body) = ask("HEAD", "/large.bin");
    assert_eq!((status(&head), body.as_str()), (200, ""));
    assert_eq!(header(&head, "content-length"), Some("300007"));
    assert_eq!(header(&head, "accept-ranges"), Some("bytes"));
    for method in ["POST", "DELETE", "OPTIONS", "BREW"] {
        let (head, _) = ask(method, "/hello.txt");
        assert_eq!(status(&head), 405, "{method}");
        assert_eq!(header(&head, "allow"), Some("GET, HEAD"), "{method}");
    }
    // A missing file and a wrong range have no body for `HEAD` either.
    assert_eq!(ask("HEAD", "/none").1, "");
}

#[test]
fn conditions_and_ranges_have_their_answers() {
    let files = Files::new("conditions");
    let (_httpd, addr) = start(&files, "");
    let (head, _) = fetch(addr, "/hello.txt", "");
    let tag = header(&head, "etag").expect("a tag").to_owned();
    let time = header(&head, "last-modified").expect("a time").to_owned();
    let ask = |headers: &str| fetch(addr, "/hello.txt", headers);

    for headers in [format!("if-none-match: {tag}\r\n"), format!("if-modified-since: {time}\r\n")] {
        let (head, body) = ask(&headers);
        assert_eq!((status(&head), body.len()), (304, 0), "{headers}");
        assert_eq!(header(&head, "etag"), Some(tag.as_str()));
    }
    assert_eq!(status(&ask("if-none-match: \"x\"\r\n").0), 200);
    assert_eq!(status(&ask("if-match: \"x\"\r\n").0), 412);

    let (head, body) = ask("range: bytes=-6\r\n");
    assert_eq!((status(&head), &body[..]), (206, &b"World!"[..]));
    assert_eq!(header(&head, "content-range"), Some("bytes 7-12/13"));
    let (head, _) = ask("range: bytes=13-\r\n");
    assert_eq!((status(&head), header(&head, "content-range")), (416, Some("bytes */13")));
    let other = ask("range: bytes=0-0\r\nif-range: \"x\"\r\n");
    assert_eq!((status(&other.0), other.1.len()), (200, 13));
    let same = ask(&format!("range: bytes=0-0\r\nif-range: {tag}\r\n"));
    assert_eq!((status(&same.0), &same.1[..]), (206, &b"H"[..]));
}

#[test]
fn a_change_is_seen() {
    let files = Files::new("change");
    // The file is old, so that its entry stays.
    let old = SystemTime::now() - Duration::from_secs(60);
    let file = fs::File::options().write(true).open(files.path().join("hello.txt")).unwrap();
    file.set_modified(old).unwrap();
    for mode in MODES {
        files.write("hello.txt", b"Hello, World!");
        file.set_modified(old).unwrap();
        let (_httpd, addr) = start(&files, &format!("--fs {mode} --recheck-ms 0"));
        let (head, body) = fetch(addr, "/hello.txt", "");
        assert_eq!(body, b"Hello, World!");
        let before = header(&head, "etag").unwrap().to_owned();
        // As many bytes as before.
        files.write("hello.txt", b"HELLO, WORLD!");
        let (head, body) = fetch(addr, "/hello.txt", &format!("if-none-match: {before}\r\n"));
        assert_eq!((status(&head), &body[..]), (200, &b"HELLO, WORLD!"[..]), "{mode}");
        fs::remove_file(files.path().join("hello.txt")).unwrap();
        assert_eq!(status(&fetch(addr, "/hello.txt", "").0), 404, "{mode}");
        files.write("hello.txt", b"new");
        assert_eq!(fetch(addr, "/hello.txt", "").1, b"new", "{mode}");
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_is_no_whole_answer() {
    let files = Files::new("shrinks");
    for mode in MODES {
        // More than the buffers of a connection hold.
        files.write("huge.bin", &vec![7; 64 << 20]);
        let (_httpd, addr) = start(&files, &format!("--fs {mode}"));
        let mut stream = connect(addr);
        stream
            .write_all(b"GET /huge.bin HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut first = [0; 1000];
        stream.read_exact(&mut first).unwrap();
        let file = fs::File::options().write(true).open(files.path().join("huge.bin")).unwrap();
        file.set_len(1 << 20).unwrap();
        let mut rest = Vec::new();
        // The connection ends, in order or not.
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < 64 << 20, "{mode}");
        assert_eq!(fetch(addr, "/hello.txt", "").1, b"Hello, World!", "{mode}");
    }
}

#[test]
fn connections_are_kept_or_not() {
    let files = Files::new("keep");
    for (option, kept) in [("on", true), ("off", false)] {
        let (_httpd, addr) = start(&files, &format!("--keepalive {option}"));
        let stream = connect(addr);
        let mut reader = BufReader::new(&stream);
        let mut count = 0;
        for _ in 0..2 {
            if (&stream).write_all(b"GET /hello.txt HTTP/1.1\r\nhost: a\r\n\r\n").is_err() {
                break;
            }
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
            if head.is_empty() {
                break;
            }
            reader.read_exact(&mut [0; 13]).unwrap();
            count += 1;
        }
        assert_eq!(count, 1 + u32::from(kept), "{option}");
    }
}

#[test]
fn a_signal_ends_it_after_the_last_answer() {
    let files = Files::new("signal");
    files.write("huge.bin", &vec![7; 16 << 20]);
    for mode in MODES {
        let (httpd, addr) = start(&files, &format!("--fs {mode}"));
        let mut stream = connect(addr);
        stream.write_all(b"GET /huge.bin HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
        let mut answer = vec![0; 1000];
        stream.read_exact(&mut answer).unwrap();
        signal(httpd.id());
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.len() > 16 << 20, "{mode}: {} bytes", answer.len());
        let last = httpd.end().pop().unwrap();
        assert_eq!(last, "0 hits, 1 misses, 1 reads and 0 evictions of the cache", "{mode}");
    }
}

#[test]
fn a_helper_that_ends_is_replaced() {
    let files = Files::new("helper");
    let root = files.path().display();
    let options = format!("--addr 127.0.0.1:0 --root {root} --fs amped --helpers 2 --cache-mib 0");
    let httpd = Running::start("httpd", &options);
    let line = httpd.line();
    let ids = line.trim_start_matches("helpers [").trim_end_matches(']').split(", ");
    let addr = addr_after(&httpd.line(), "listening on http://");
    ids.for_each(|id| signal(id.parse().unwrap()));
    for _ in 0..10 {
        assert_eq!(fetch(addr, "/hello.txt", "").1, b"Hello, World!");
        assert!(fetch(addr, "/large.bin", "").1 == large());
    }
}

#[test]
fn it_says_what_is_allowed() {
    let mistakes = [
        (
            "--fs magic",
            "--fs magic: expected lazy or blocking or pool or aio or amped\nusage: httpd ",
        ),
        ("--keepalive maybe", "--keepalive maybe: expected on or off\nusage: "),
        ("--coloring red", "--coloring red: expected colored or serial\nusage: "),
        ("--copies 0", "--copies 0: expected a number from 1 to 64\nusage: "),
        ("--shards 0", "--shards 0: expected a number from 1 to 1024\nusage: "),
        ("--helpers 257", "--helpers 257: expected a number from 1 to 256\nusage: "),
        ("--root /nowhere/at/all", "--root /nowhere/at/all: there is no directory"),
        ("--root /..=/", "--root /..=/: a path must not contain `.` or `..`\nusage: "),
        ("--recheck-ms soon", "--recheck-ms soon: expected a number from 0 to 86400000\nusage: "),
    ];
    for (args, expected) in mistakes {
        let text = error("httpd", args);
        assert!(text.starts_with(&format!("Error: {expected}")), "{text}");
    }
}
