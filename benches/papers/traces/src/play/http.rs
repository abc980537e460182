//! The client side of HTTP/1.1, with one request at a time: [`Http`].

use super::fault::{Fault, FaultKind};
use super::response::{Head, MAX_HEAD, parse};
use super::settings::Settings;
use crate::{content, place};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// The size of the buffer for reading. At least as long as a head.
const BUFFER: usize = 64 * 1024;
const _: () = assert!(BUFFER >= MAX_HEAD);

/// A connection to the server, which opens when a request needs it.
pub(super) struct Http<'a> {
    settings: &'a Settings,
    stream: Option<TcpStream>,
    buffer: Box<[u8]>,
    request: Vec<u8>,
    /// The number of connections opened so far.
    pub(super) connections: u64,
}

impl<'a> Http<'a> {
    pub(super) fn new(settings: &'a Settings) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Self { settings, stream: None, buffer, request: Vec::new(), connections: 0 }
    }

    /// Closes the connection, if one is open.
    pub(super) fn close(&mut self) {
        self.stream = None;
    }

    /// Requests a file, which must have `size` bytes, and reads the response. A fault closes the connection.
    pub(super) fn get(&mut self, file: u32, size: u64) -> Result<(), Fault> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect()?,
        };
        let settings = self.settings;
        let connection = if settings.keep_alive { "" } else { "Connection: close\r\n" };
        self.request.clear();
        write!(
            self.request,
            "GET /{} HTTP/1.1\r\nHost: {}\r\n{connection}\r\n",
            place::path(file),
            settings.address
        )
        .expect("a vector takes all bytes");
        let start = Instant::now();
        stream.write_all(&self.request).map_err(|error| Fault::of_io(&error))?;
        let (head, filled) = self.head(&mut stream, start)?;
        check(&head, size)?;
        self.body(&mut stream, start, file, size, head.bytes..filled)?;
        if settings.keep_alive && !head.closes {
            self.stream = Some(stream);
        }
        Ok(())
    }

    fn connect(&mut self) -> Result<TcpStream, Fault> {
        let timeout = self.settings.timeout;
        let stream =
            TcpStream::connect_timeout(&self.settings.address, timeout).and_then(|stream| {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))?;
                Ok(stream)
            });
        let stream = stream.map_err(|error| Fault::new(FaultKind::Connect, error.to_string()))?;
        self.connections += 1;
        Ok(stream)
    }

    /// Reads a head, and returns it with the number of bytes in the buffer, which include the start of the body.
    fn head(&mut self, stream: &mut TcpStream, start: Instant) -> Result<(Head, usize), Fault> {
        let mut filled = 0;
        loop {
            match self.read(stream, start, filled)? {
                0 => {
                    let text = format!("the connection ended after {filled} bytes of the head");
                    return Err(Fault::new(FaultKind::Broken, text));
                }
                length => filled += length,
            }
            if let Some(head) = parse(&self.buffer[..filled])? {
                return Ok((head, filled));
            }
        }
    }

    /// Reads a body, whose start is in this range of the buffer.
    fn body(
        &mut self,
        stream: &mut TcpStream,
        start: Instant,
        file: u32,
        size: u64,
        mut range: std::ops::Range<usize>,
    ) -> Result<(), Fault> {
        let mut offset = 0;
        loop {
            let bytes = &self.buffer[range];
            let after = offset + bytes.len() as u64;
            if after > size {
                let text = format!("{} bytes follow the body of {size} bytes", after - size);
                return Err(Fault::new(FaultKind::Length, text));
            }
            if self.settings.check_content && !content::matches(file, offset, bytes) {
                let text = format!("the body after {offset} bytes is not that of the file");
                return Err(Fault::new(FaultKind::Content, text));
            }
            offset = after;
            if offset == size {
                return Ok(());
            }
            match self.read(stream, start, 0)? {
                0 => {
                    let text = format!("the body ended after {offset} of {size} bytes");
                    return Err(Fault::new(FaultKind::Broken, text));
                }
                length => range = 0..length,
            }
        }
    }

    /// Reads into the buffer behind its first `filled` bytes.
    fn read(
        &mut self,
        stream: &mut TcpStream,
        start: Instant,
        filled: usize,
    ) -> Result<usize, Fault> {
        // The time-out of the socket is that of one read; a server that sends byte by byte would meet it for ever.
        if start.elapsed() >= self.settings.timeout {
            let text = format!("the response was not complete after {:?}", self.settings.timeout);
            return Err(Fault::new(FaultKind::Timeout, text));
        }
        stream.read(&mut self.buffer[filled..]).map_err(|error| Fault::of_io(&error))
    }
}

fn check(head: &Head, size: u64) -> Result<(), Fault> {
    if head.status != 200 {
        let text = format!("{}; allowed is 200", head.status);
        return Err(Fault::new(FaultKind::Status, text));
    }
    match head.length {
        Some(length) if length == size => Ok(()),
        Some(length) => {
            let text = format!("content-length {length}; allowed is {size}, the size of the file");
            Err(Fault::new(FaultKind::Length, text))
        }
        None => Err(Fault::new(FaultKind::Malformed, "no content-length; it must have one")),
    }
}
