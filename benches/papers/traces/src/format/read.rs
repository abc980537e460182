//! The parser: [`Reader`].

use super::{MAGIC, MAX_FILES, MAX_LINE, MAX_SEQUENCE, MAX_SIZE, VERSION};
use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::str::{FromStr, SplitAsciiWhitespace};

/// A trace that is read line by line. The sizes of the files stay in memory, the sequences do not.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    files: Vec<u64>,
    sequences: u64,
    requests: u64,
    has_ended: bool,
}

/// Why some text is not a trace.
#[derive(Debug)]
pub struct ParseError {
    line: u64,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Io(io::Error),
    /// A text with what is wrong and what is allowed.
    Text(String),
}

impl ParseError {
    /// The number of the line, from 1.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.line
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::Io(error) => write!(f, "line {} of the trace: {error}", self.line),
            Problem::Text(text) => write!(f, "line {} of the trace: {text}", self.line),
        }
    }
}

impl Error for ParseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.problem {
            Problem::Io(error) => Some(error),
            Problem::Text(_) => None,
        }
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads the sizes of the files, up to the first sequence.
    ///
    /// # Errors
    ///
    /// If reading fails, or a line is not as [`format`](crate::format) describes it.
    pub fn new(input: R) -> Result<Self, ParseError> {
        let mut lines = Lines { input, text: String::new(), number: 0 };
        let count = lines.parse(header)?;
        let mut files = Vec::new();
        for _ in 0..count {
            files.push(lines.parse(|text| file(text, count))?);
        }
        Ok(Self { lines, files, sequences: 0, requests: 0, has_ended: false })
    }

    /// The sizes of the files in bytes, by number.
    pub fn files(&self) -> &[u64] {
        &self.files
    }

    /// Reads the next sequence into `sequence`, in place of its old content. False if there is none left.
    ///
    /// # Errors
    ///
    /// If reading fails, or a line is not as [`format`](crate::format) describes it.
    pub fn read(&mut self, sequence: &mut Vec<u32>) -> Result<bool, ParseError> {
        sequence.clear();
        if self.has_ended {
            return Ok(false);
        }
        let (files, counted) = (self.files.len(), (self.sequences, self.requests));
        self.has_ended = self.lines.parse(|text| match text.split_once(' ') {
            Some(("seq", numbers)) => sequence_of(numbers, files, sequence).map(|()| false),
            Some(("end", counts)) => end(counts, counted).map(|()| true),
            _ => Err(format!("{}: allowed is `seq NUMBER ...` or `end ...`", quote(text))),
        })?;
        if self.has_ended {
            self.lines.end()?;
        } else {
            self.sequences += 1;
            self.requests += sequence.len() as u64;
        }
        Ok(!self.has_ended)
    }
}

fn header(text: &str) -> Result<u64, String> {
    let mut words = text.split_ascii_whitespace();
    if (words.next(), words.next()) != (Some(MAGIC), Some(VERSION)) {
        return Err(format!("{}: allowed is `{MAGIC} {VERSION} FILES`", quote(text)));
    }
    number(&mut words, "the number of files", 0, MAX_FILES).and_then(|count| last(words, count))
}

fn file(text: &str, count: u64) -> Result<u64, String> {
    let mut words = text.split_ascii_whitespace();
    if words.next() != Some("file") {
        let text = quote(text);
        return Err(format!("{text}: allowed is `file SIZE`, as the first line promises {count}"));
    }
    number(&mut words, "the size of a file", 0, MAX_SIZE).and_then(|size| last(words, size))
}

fn sequence_of(text: &str, files: usize, sequence: &mut Vec<u32>) -> Result<(), String> {
    let Some(most) = files.checked_sub(1) else {
        return Err("a sequence, but there are no files: allowed is `end 0 0`".to_owned());
    };
    for word in text.split_ascii_whitespace() {
        if sequence.len() == MAX_SEQUENCE {
            return Err(format!("more than {MAX_SEQUENCE} requests: allowed are 1 to that many"));
        }
        // The number of files is at most `MAX_FILES`, so numbers fit.
        sequence.push(in_range(word, "the number of a file", 0, most as u64)? as u32);
    }
    Ok(())
}

fn end(text: &str, (sequences, requests): (u64, u64)) -> Result<(), String> {
    let mut words = text.split_ascii_whitespace();
    number(&mut words, "the number of sequences above", sequences, sequences)?;
    number(&mut words, "the number of requests above", requests, requests)?;
    last(words, ())
}

fn number(
    words: &mut SplitAsciiWhitespace<'_>,
    what: &str,
    least: u64,
    most: u64,
) -> Result<u64, String> {
    in_range(words.next().unwrap_or_default(), what, least, most)
}

fn in_range(word: &str, what: &str, least: u64, most: u64) -> Result<u64, String> {
    match u64::from_str(word) {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ if least == most => Err(format!("{} is not {what}: allowed is {most}", quote(word))),
        _ => Err(format!("{} is not {what}: allowed are {least} to {most}", quote(word))),
    }
}

fn last<T>(mut words: SplitAsciiWhitespace<'_>, value: T) -> Result<T, String> {
    match words.next() {
        None => Ok(value),
        Some(word) => Err(format!("{}: allowed is the end of the line", quote(word))),
    }
}

/// A part of a line for an error message; it has no control characters.
fn quote(text: &str) -> String {
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        short.push_str("...");
    }
    format!("`{short}`")
}

/// The lines that are no comments.
#[derive(Debug)]
struct Lines<R> {
    input: R,
    text: String,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Parses the next line, which must exist. An error gets the number of the line.
    fn parse<T>(&mut self, f: impl FnOnce(&str) -> Result<T, String>) -> Result<T, ParseError> {
        let parsed = match self.next()? {
            true => f(self.text.trim_end()),
            false => Err("the trace ends here: allowed is an `end` line as its last".to_owned()),
        };
        parsed.map_err(|text| self.error(Problem::Text(text)))
    }

    /// Checks that no line is left.
    fn end(&mut self) -> Result<(), ParseError> {
        if !self.next()? {
            return Ok(());
        }
        let text = format!("{}: allowed is nothing after `end`", quote(self.text.trim_end()));
        Err(self.error(Problem::Text(text)))
    }

    /// Reads the next line. False at the end of the input.
    fn next(&mut self) -> Result<bool, ParseError> {
        loop {
            self.text.clear();
            self.number += 1;
            let length = Read::take(&mut self.input, MAX_LINE).read_line(&mut self.text);
            let length = length.map_err(|error| self.error(Problem::Io(error)))?;
            if length as u64 == MAX_LINE && !self.text.ends_with('\n') {
                let text = format!("a longer line: allowed are {MAX_LINE} bytes");
                return Err(self.error(Problem::Text(text)));
            }
            // The first line says what the file is, so it is no comment.
            if !self.text.starts_with('#') || self.number == 1 {
                return Ok(length > 0);
            }
        }
    }

    fn error(&self, problem: Problem) -> ParseError {
        ParseError { line: self.number, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sequences of a trace, or the text of its error.
    fn read(text: &str) -> Result<Vec<Vec<u32>>, String> {
        let all = || -> Result<_, ParseError> {
            let mut reader = Reader::new(text.as_bytes())?;
            let (mut sequences, mut sequence) = (Vec::new(), Vec::new());
            while reader.read(&mut sequence)? {
                sequences.push(sequence.clone());
            }
            assert!(!reader.read(&mut sequence)?);
            Ok(sequences)
        };
        all().map_err(|error| error.to_string())
    }

    #[test]
    fn a_trace_has_files_sequences_comments_and_an_end() {
        let text =
            "colored-trace 1 2\n# one\nfile 10\r\nfile 0\n# two\nseq 1 0 1\nseq  0\nend 2 4\n";
        assert_eq!(read(text), Ok(vec![vec![1, 0, 1], vec![0]]));
        assert_eq!(read("colored-trace 1 0\nend 0 0"), Ok(vec![]));
    }

    #[test]
    fn errors_name_the_line_and_what_is_allowed() {
        let files = "colored-trace 1 2\n# comment\nfile 10\nfile 20\n";
        let with = |rest: &str| format!("{files}{rest}");
        for (text, error) in [
            (
                String::new(),
                "1 of the trace: the trace ends here: allowed is an `end` line as its last",
            ),
            ("# no".into(), "1 of the trace: `# no`: allowed is `colored-trace 1 FILES`"),
            (
                "colored-trace 2 5".into(),
                "1 of the trace: `colored-trace 2 5`: allowed is `colored-trace 1 FILES`",
            ),
            (
                "colored-trace 1 -5".into(),
                "1 of the trace: `-5` is not the number of files: allowed are 0 to 10000000",
            ),
            (
                "colored-trace 1 2\nfile 10\nseq 0".into(),
                "3 of the trace: `seq 0`: allowed is `file SIZE`, as the first line promises 2",
            ),
            (
                "colored-trace 1 2\nfile ten".into(),
                "2 of the trace: `ten` is not the size of a file: allowed are 0 to 1099511627776",
            ),
            (
                "colored-trace 1 2\nfile 10 20".into(),
                "2 of the trace: `20`: allowed is the end of the line",
            ),
            (
                with("seq 0\nseq 0 2\n"),
                "6 of the trace: `2` is not the number of a file: allowed are 0 to 1",
            ),
            (with("seq \n"), "5 of the trace: `seq`: allowed is `seq NUMBER ...` or `end ...`"),
            (
                with("file 30\n"),
                "5 of the trace: `file 30`: allowed is `seq NUMBER ...` or `end ...`",
            ),
            (
                with("seq 0\n"),
                "6 of the trace: the trace ends here: allowed is an `end` line as its last",
            ),
            (
                with("seq 0 1\nend 1 3\n"),
                "6 of the trace: `3` is not the number of requests above: allowed is 2",
            ),
            (with("end 0 0\nseq 1\n"), "6 of the trace: `seq 1`: allowed is nothing after `end`"),
            (
                "colored-trace 1 0\nseq 1".into(),
                "2 of the trace: a sequence, but there are no files: allowed is `end 0 0`",
            ),
        ] {
            assert_eq!(read(&text), Err(format!("line {error}")));
        }
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let input = io::BufReader::new(io::repeat(b'x'));
        let error = Reader::new(input).expect_err("it is too long");
        assert_eq!(
            error.to_string(),
            "line 1 of the trace: a longer line: allowed are 131072 bytes"
        );
        let long = format!("colored-trace 1 1\nfile 1\nseq{}\n", " 0".repeat(MAX_SEQUENCE + 1));
        let error = read(&long).expect_err("it is too long");
        assert!(error.contains("line 3 of the trace: more than 10000 requests"), "{error}");
    }

    #[test]
    fn an_error_shows_only_the_start_of_its_line_and_no_control_characters() {
        let error = read(&format!("\u{1b}{}", "x".repeat(1_000))).expect_err("it is no trace");
        assert!(error.contains("`\\u{1b}xxx"), "{error}");
        assert!(error.len() < 150, "{error}");
    }
}
