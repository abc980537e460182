//! Browsers without a browser: the handshake and the frames by hand.

use crate::support::{Running, addr_after, connect, error, get, send};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

struct Browser(TcpStream);

impl Browser {
    /// In the room when this returns.
    fn enter(addr: SocketAddr, room: &str, name: &str) -> Browser {
        let mut stream = connect(addr);
        let request = format!(
            "GET /rooms/{room}/{name} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let head = String::from_utf8(head).unwrap();
        // The example of the standard, RFC 6455, section 1.3.
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert!(head.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        let mut browser = Browser(stream);
        assert_eq!(browser.line(), format!("* {} is here", name.replace("%20", " ")));
        browser
    }

    /// A frame with a mask of zeros: what a client must send.
    fn frame(&mut self, opcode: u8, payload: &[u8]) {
        let mut frame = vec![0x80 | opcode];
        match u16::try_from(payload.len()).expect("short frames") {
            length @ ..126 => frame.push(0x80 | length as u8),
            length => {
                frame.push(0x80 | 126);
                frame.extend(length.to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(payload);
        self.0.write_all(&frame).unwrap();
    }

    fn say(&mut self, text: &str) {
        self.frame(1, text.as_bytes());
    }

    /// The next frame: its opcode and its payload.
    fn next(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).unwrap();
        let length = match head[1] {
            126 => {
                let mut length = [0; 2];
                self.0.read_exact(&mut length).unwrap();
                usize::from(u16::from_be_bytes(length))
            }
            length => usize::from(length),
        };
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).unwrap();
        (head[0] & 0xf, payload)
    }

    fn line(&mut self) -> String {
        let (opcode, payload) = self.next();
        assert_eq!(opcode, 1, "{payload:?}");
        String::from_utf8(payload).unwrap()
    }
}

fn start() -> (Running, SocketAddr) {
    let rooms = Running::start("websocket-rooms", "--addr 127.0.0.1:0");
    let addr = addr_after(&rooms.line(), "listening on http://");
    (rooms, addr)
}

#[test]
fn there_is_a_page_and_the_rest_is_refused() {
    let (_rooms, addr) = start();
    let (head, page) = get(addr, "/");
    assert!(head.contains("content-type: text/html; charset=utf-8"), "{head}");
    assert!(page.contains("new WebSocket(") && page.ends_with("</script>\n"), "{page}");
    assert!(get(addr, "/nothing").0.starts_with("HTTP/1.1 404 "));
    let (head, why) = get(addr, "/rooms/hall/me");
    assert!(
        head.starts_with("HTTP/1.1 426 ") && why.contains("No \"Connection: upgrade\""),
        "{why}"
    );
    let head = send(addr, "GET /rooms/hall HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").0;
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
}

#[test]
fn all_members_hear_one_order() {
    const LINES: usize = 100;
    let (_rooms, addr) = start();
    let mut first = Browser::enter(addr, "hall", "a%20b");
    let mut second = Browser::enter(addr, "hall", "c");
    let mut other = Browser::enter(addr, "cellar", "ghost");
    assert_eq!(first.line(), "* c is here");
    for line in 0..LINES {
        first.say(&format!("a {line}"));
        second.say(&format!("c {line}"));
    }
    let heard =
        |browser: &mut Browser| -> Vec<_> { (0..2 * LINES).map(|_| browser.line()).collect() };
    let lines = heard(&mut first);
    assert_eq!(lines, heard(&mut second));
    let of_first = lines.iter().filter_map(|line| line.strip_prefix("a b: a "));
    assert!(of_first.map(|line| line.parse::<usize>().unwrap()).eq(0..LINES));
    // A close frame is answered, and the others hear of it.
    second.frame(8, &1000_u16.to_be_bytes());
    let (opcode, payload) = second.next();
    assert_eq!((opcode, &payload[..]), (8, &1000_u16.to_be_bytes()[..]));
    assert_eq!(first.line(), "* c has left");
    other.say("boo");
    assert_eq!(other.line(), "ghost: boo");
}

#[test]
fn a_browser_that_does_not_read_is_put_out() {
    let (_rooms, addr) = start();
    let mut speaker = Browser::enter(addr, "hall", "speaker");
    let _asleep = Browser::enter(addr, "hall", "sleeper");
    assert_eq!(speaker.line(), "* sleeper is here");
    let mut write = Browser(speaker.0.try_clone().unwrap());
    // Until it is put out: more than the sockets keep for it.
    let (out, put_out) = std::sync::mpsc::channel();
    let speech = std::thread::spawn(move || {
        let text = "x".repeat(30_000);
        while put_out.try_recv().is_err() {
            write.say(&text);
        }
        write.frame(8, &1000_u16.to_be_bytes());
    });
    let mut news = || (0..).map(|_| speaker.line()).find(|line| line.starts_with('*'));
    assert_eq!(news().unwrap(), "* sleeper was too slow");
    out.send(()).unwrap();
    // What is on the way is heard, so that the speech can end.
    let _ = speaker.0.read_to_end(&mut Vec::new());
    speech.join().unwrap();
}

#[cfg(unix)]
#[test]
fn a_signal_closes_the_websockets() {
    let (rooms, addr) = start();
    let mut browsers = ["a", "b"].map(|name| Browser::enter(addr, name, name));
    crate::support::signal(rooms.id());
    for browser in &mut browsers {
        let (opcode, payload) = browser.next();
        assert_eq!(opcode, 8);
        assert_eq!(payload, [&1001_u16.to_be_bytes()[..], b"the server shuts down"].concat());
        browser.frame(8, &payload);
        assert_eq!(browser.0.read(&mut [0]).unwrap(), 0);
    }
    assert_eq!(rooms.end(), ["stopped: all rooms are empty"]);
}

#[test]
fn it_says_what_it_does_not_know() {
    let text = error("websocket-rooms", "--port 7");
    assert!(text.ends_with("\nusage: websocket-rooms [--addr HOST:PORT]\n"), "{text}");
}
