//! [`Args`]: the options of a command line.

use crate::Failure;
use std::fmt::{Display, Write};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The options of a command line, taken out one by one; a remaining argument at the end is a mistake.
///
/// Every error message names the allowed values, and shows the usage.
#[derive(Debug)]
pub struct Args {
    usage: &'static str,
    words: Vec<String>,
}

impl Args {
    /// The options that this program was given. With `--help` among them it prints `usage` and exits.
    #[must_use]
    pub fn from_command_line(usage: &'static str) -> Args {
        let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let args = Args::new(usage, words);
        if args.words.iter().any(|word| word == "--help" || word == "-h") {
            println!("usage: {usage}");
            std::process::exit(0);
        }
        args
    }

    /// These options.
    pub fn new(usage: &'static str, words: impl IntoIterator<Item = impl Into<String>>) -> Args {
        // `--name=value` is `--name value`.
        let split = |word: String| match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => vec![name.into(), value.into()],
            _ => vec![word],
        };
        Args { usage, words: words.into_iter().map(Into::into).flat_map(split).collect() }
    }

    /// Whether the option `name` is given.
    pub fn flag(&mut self, name: &str) -> bool {
        let place = self.words.iter().position(|word| word == name);
        place.map(|place| self.words.remove(place)).is_some()
    }

    /// The value of the option `name`, if it is given.
    ///
    /// # Errors
    ///
    /// If the value is missing or is not a `T`, which `expected` describes.
    pub fn value<T: FromStr>(&mut self, name: &str, expected: &str) -> Result<Option<T>, Failure> {
        let Some(place) = self.words.iter().position(|word| word == name) else {
            return Ok(None);
        };
        self.words.remove(place);
        if self.words.get(place).is_none_or(|word| word.starts_with("--")) {
            return Err(self.mistake(format!("{name} has no value: expected {expected}")));
        }
        let word = self.words.remove(place);
        match word.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(self.mistake(format!("{name} {word}: expected {expected}"))),
        }
    }

    /// The value of the option `name`, a number in `range`, if it is given.
    ///
    /// # Errors
    ///
    /// If it is no such number.
    pub fn number<T: FromStr + PartialOrd + Display>(
        &mut self,
        name: &str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, Failure> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        match self.value(name, &expected)? {
            Some(number) if !range.contains(&number) => {
                Err(self.mistake(format!("{name} {number}: expected {expected}")))
            }
            number => Ok(number),
        }
    }

    /// The value of the option `name`, which must be one that the word before it has `allowed`.
    ///
    /// # Errors
    ///
    /// If it is none of them.
    pub fn choice<T: Copy>(
        &mut self,
        name: &str,
        allowed: &[(&str, T)],
    ) -> Result<Option<T>, Failure> {
        let mut expected = String::new();
        for (n, (word, _)) in allowed.iter().enumerate() {
            let between = if n == 0 { "" } else { " or " };
            write!(expected, "{between}{word}")?;
        }
        let Some(word) = self.value::<String>(name, &expected)? else {
            return Ok(None);
        };
        match allowed.iter().find(|(allowed, _)| *allowed == word) {
            Some((_, value)) => Ok(Some(*value)),
            None => Err(self.mistake(format!("{name} {word}: expected {expected}"))),
        }
    }

    /// To be called when all options are taken.
    ///
    /// # Errors
    ///
    /// If something is left.
    pub fn end(self) -> Result<(), Failure> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(self.mistake(format!("{word} is not known here, or given twice"))),
        }
    }

    /// A mistake in the arguments, with the usage.
    #[must_use]
    pub fn mistake(&self, text: impl Display) -> Failure {
        Failure::new(format!("{text}\nusage: {}", self.usage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        Args::new("it", line.split_whitespace())
    }

    /// A number, a switch and a color, or the first line of what is wrong.
    fn read(line: &str) -> Result<(Option<u8>, bool, Option<char>), String> {
        let mut args = args(line);
        let read = |args: &mut Args| {
            let number = args.value("--number", "0 to 255")?;
            args.number("--limited", 3..=5)?;
            let switch = args.flag("--switch");
            let color = args.choice("--color", &[("red", 'r'), ("blue", 'b')])?;
            Ok((number, switch, color))
        };
        let read = read(&mut args).and_then(|read| args.end().map(|()| read));
        read.map_err(|failure: Failure| {
            let text = format!("{failure:?}");
            text.strip_suffix("\nusage: it").expect("every mistake shows the usage").to_owned()
        })
    }

    #[test]
    fn options_come_in_any_order_or_not_at_all() {
        assert_eq!(read(""), Ok((None, false, None)));
        assert_eq!(read("--limited 3"), Ok((None, false, None)));
        let all = Ok((Some(7), true, Some('b')));
        assert_eq!(read("--number 7 --switch --color blue"), all);
        assert_eq!(read("--color=blue --switch --number=7"), all);
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        let mistakes = [
            ("--number 256", "--number 256: expected 0 to 255"),
            ("--number", "--number has no value: expected 0 to 255"),
            ("--limited 2", "--limited 2: expected a number from 3 to 5"),
            ("--limited 6", "--limited 6: expected a number from 3 to 5"),
            ("--limited few", "--limited few: expected a number from 3 to 5"),
            ("--number --switch", "--number has no value: expected 0 to 255"),
            ("--color green", "--color green: expected red or blue"),
            ("--colour red", "--colour is not known here, or given twice"),
            ("--switch --switch", "--switch is not known here, or given twice"),
            ("more", "more is not known here, or given twice"),
        ];
        for (line, mistake) in mistakes {
            assert_eq!(read(line), Err(mistake.to_owned()));
        }
    }
}
