//! [`Streams`]: which streams of HTTP/2 have a body or a response under way, as their frames tell.

use super::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, Event, Frame, Frames, HEADERS, RST_STREAM,
    SETTINGS, WINDOW_UPDATE, number,
};
use crate::serve::activity::Activity;

/// The window of RFC 9113, of a stream and of the connection, before a frame changes it.
const WINDOW: i64 = 65_535;

/// More than any server allows at once.
const MOST: usize = 4096;

/// The streams of one connection.
pub(super) struct Streams {
    activity: Activity,
    from_client: Frames,
    from_server: Frames,
    open: Vec<Stream>,
    /// The highest number of a stream.
    last: u32,
    /// The stream whose fields go on in the next frame, and whether these end it.
    fields: Option<(u32, bool)>,
    /// How much the client may send on a fresh stream, and on all.
    window: i64,
    credit: i64,
    /// The most that `credit` has been.
    most: i64,
}

struct Stream {
    id: u32,
    /// The client has not ended the request.
    body: bool,
    /// The response has begun.
    answered: bool,
    /// The response has begun and not ended.
    response: bool,
    /// How much the client may send.
    credit: i64,
    /// Whether some of the body has come since the wait began.
    came: bool,
}

impl Streams {
    pub(super) fn new(activity: Activity) -> Streams {
        Streams {
            activity,
            from_client: Frames::after(24),
            from_server: Frames::after(0),
            open: Vec::new(),
            last: 0,
            fields: None,
            window: WINDOW,
            credit: WINDOW,
            most: WINDOW,
        }
    }

    /// Whether the client owes a part of a request that nobody has answered yet: once there is a response, the handler knows
    /// whether the two sides talk. A client without half of its window may wait for the handler to read.
    fn is_owed(&self, stream: &Stream) -> bool {
        stream.body
            && !stream.answered
            && stream.credit * 2 >= self.window
            && self.credit * 2 >= self.most
    }

    pub(super) fn owes(&self) -> bool {
        self.open.iter().any(|stream| self.is_owed(stream))
    }

    pub(super) fn begin_wait(&mut self) {
        self.open.iter_mut().for_each(|stream| stream.came = false);
    }

    pub(super) fn has_stalled(&self) -> bool {
        self.open.iter().any(|stream| self.is_owed(stream) && !stream.came)
    }

    pub(super) fn read(&mut self, bytes: &[u8]) {
        let mut frames = std::mem::replace(&mut self.from_client, Frames::after(0));
        frames.take(bytes, |event| match event {
            Event::Data(id, _) => {
                if let Some(stream) = self.stream(id) {
                    stream.came = true;
                }
            }
            Event::Frame(frame) => self.take_from_client(&frame),
        });
        self.from_client = frames;
    }

    pub(super) fn note_written(&mut self, bytes: &[u8]) {
        let mut frames = std::mem::replace(&mut self.from_server, Frames::after(0));
        frames.take(bytes, |event| match event {
            Event::Data(_, len) => {
                self.activity.note_progress();
                if let Some(flow) = self.activity.flow() {
                    flow.note_sent(len);
                }
            }
            Event::Frame(frame) => self.take_from_server(&frame),
        });
        self.from_server = frames;
    }

    fn stream(&mut self, id: u32) -> Option<&mut Stream> {
        self.open.iter_mut().find(|stream| stream.id == id)
    }

    fn take_from_client(&mut self, frame: &Frame<'_>) {
        let ends = frame.flags & END_STREAM != 0;
        match frame.kind {
            HEADERS if frame.flags & END_HEADERS != 0 => self.take_fields(frame.stream, ends),
            HEADERS => self.fields = Some((frame.stream, ends)),
            CONTINUATION if frame.flags & END_HEADERS != 0 => {
                if let Some((id, ends)) = self.fields.take() {
                    self.take_fields(id, ends);
                }
            }
            DATA => {
                let len = i64::from(frame.len);
                self.credit -= len;
                if let Some(stream) = self.stream(frame.stream) {
                    stream.credit -= len;
                    stream.body &= !ends;
                }
                self.sweep(frame.stream, ends);
            }
            RST_STREAM => self.remove(frame.stream),
            _ => {}
        }
    }

    /// The fields of a new request, or those behind a body.
    fn take_fields(&mut self, id: u32, ends: bool) {
        if let Some(stream) = self.stream(id) {
            stream.body &= !ends;
            self.sweep(id, ends);
        } else if id > self.last && self.open.len() < MOST {
            self.last = id;
            let credit = self.window;
            let body = !ends;
            self.open.push(Stream {
                id,
                body,
                answered: false,
                response: false,
                credit,
                came: true,
            });
        }
    }

    fn take_from_server(&mut self, frame: &Frame<'_>) {
        let ends = frame.flags & END_STREAM != 0;
        match frame.kind {
            HEADERS | DATA => self.take_response(frame.stream, ends),
            RST_STREAM => self.remove(frame.stream),
            WINDOW_UPDATE => {
                let more = i64::from(number(frame.payload));
                if frame.stream == 0 {
                    self.credit += more;
                    self.most = self.most.max(self.credit);
                } else if let Some(stream) = self.stream(frame.stream) {
                    stream.credit += more;
                }
            }
            SETTINGS if frame.flags & ACK == 0 => self.take_settings(frame.payload),
            _ => {}
        }
    }

    fn take_response(&mut self, id: u32, ends: bool) {
        let Some(stream) = self.stream(id) else { return };
        let (before, now) = (stream.response, !ends);
        stream.answered = true;
        stream.response = now;
        if before != now {
            self.activity.note_response(now);
        }
        self.sweep(id, ends);
    }

    /// The setting 4 is the window of streams.
    fn take_settings(&mut self, payload: &[u8]) {
        for setting in payload.chunks_exact(6).filter(|setting| setting[..2] == [0, 4]) {
            let window = i64::from(number(&setting[2..]));
            let more = window - self.window;
            self.window = window;
            self.open.iter_mut().for_each(|stream| stream.credit += more);
        }
    }

    /// Forgets a stream of which one direction has ended, if the other has as well.
    fn sweep(&mut self, id: u32, ended: bool) {
        if ended {
            self.open.retain(|stream| {
                stream.id != id || stream.body || stream.response || !stream.answered
            });
        }
    }

    fn remove(&mut self, id: u32) {
        let at = self.open.iter().position(|stream| stream.id == id);
        if at.is_some_and(|at| self.open.swap_remove(at).response) {
            self.activity.note_response(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend(payload);
        bytes
    }

    /// A connection with one request on stream 1 whose body is to come.
    fn begun() -> Streams {
        let mut streams = Streams::new(Activity::new());
        streams.read(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        streams.read(&frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 1]));
        let fields = frame(HEADERS, 0, 1, b"half");
        for byte in fields.iter().chain(&frame(CONTINUATION, END_HEADERS, 1, b"half")) {
            assert!(!streams.owes());
            streams.read(&[*byte]);
        }
        assert!(streams.owes());
        streams
    }

    #[test]
    fn a_body_is_owed_until_its_last_byte() {
        let mut streams = begun();
        streams.begin_wait();
        assert!(streams.has_stalled());
        let data = frame(DATA, END_STREAM, 1, b"the body");
        for byte in &data[..10] {
            assert!(streams.owes());
            streams.read(&[*byte]);
        }
        assert!(streams.owes() && !streams.has_stalled());
        streams.read(&data[10..]);
        assert!(!streams.owes());
        // Nobody has answered.
        assert_eq!(streams.open.len(), 1);
        streams.note_written(&frame(HEADERS, END_HEADERS | END_STREAM, 1, b"200"));
        assert!(streams.open.is_empty());
    }

    #[test]
    fn a_reset_ends_a_body_and_trailers_do() {
        for (from_server, kind, flags) in [
            (false, RST_STREAM, 0),
            (true, RST_STREAM, 0),
            (false, HEADERS, END_HEADERS | END_STREAM),
            (true, HEADERS, END_HEADERS),
        ] {
            let mut streams = begun();
            let frame = frame(kind, flags, 1, &[0; 4]);
            if from_server {
                streams.note_written(&frame)
            } else {
                streams.read(&frame)
            }
            assert!(!streams.owes());
        }
    }

    #[test]
    fn a_client_without_room_owes_nothing() {
        let mut streams = begun();
        streams.read(&frame(DATA, 0, 1, &[0; 16_000]));
        streams.read(&frame(DATA, 0, 1, &[0; 16_000]));
        assert!(streams.owes());
        streams.read(&frame(DATA, 0, 1, &[0; 16_000]));
        assert!(!streams.owes());
        streams.note_written(&frame(WINDOW_UPDATE, 0, 1, &16_000_u32.to_be_bytes()));
        assert!(!streams.owes());
        streams.note_written(&frame(WINDOW_UPDATE, 0, 0, &16_000_u32.to_be_bytes()));
        assert!(streams.owes());
        streams.note_written(&frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0xff, 0xff]));
        assert!(streams.owes());
        streams.note_written(&frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 9]));
        assert!(!streams.owes());
    }

    #[test]
    fn responses_are_counted_from_their_first_frame_to_their_last() {
        let mut streams = begun();
        assert!(!streams.activity.has_responses());
        streams.note_written(&frame(HEADERS, END_HEADERS, 1, b"200"));
        assert!(streams.activity.has_responses() && streams.activity.take_progress());
        let data = frame(DATA, END_STREAM, 1, b"abc");
        streams.note_written(&data[..10]);
        assert!(streams.activity.has_responses() && streams.activity.take_progress());
        streams.note_written(&data[10..]);
        assert!(!streams.activity.has_responses());
        streams.note_written(&frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 9]));
        streams.activity.take_progress();
        streams.note_written(&frame(6, ACK, 0, &[0; 8]));
        assert!(!streams.activity.take_progress(), "a pong is no progress");

        let mut streams = begun();
        streams.note_written(&frame(HEADERS, END_HEADERS, 1, b"200"));
        streams.read(&frame(RST_STREAM, 0, 1, &[0; 4]));
        assert!(!streams.activity.has_responses());
    }
}
