//! [`Args`]: the words of a command line.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;

/// The words of a command line, taken one by one; a word that is left at the end is a mistake.
#[derive(Debug)]
pub struct Args(Vec<String>);

/// A mistake in a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake(String);

impl Mistake {
    /// A mistake; the text should name the given value and the allowed ones.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Mistake {}

impl Args {
    /// These words. `--name=value` is the same as `--name value`.
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        let split = |word: String| match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => vec![name.into(), value.into()],
            _ => vec![word],
        };
        Self(words.into_iter().flat_map(split).collect())
    }

    /// The value of the option `name`, if it is given.
    ///
    /// # Errors
    ///
    /// If the value is missing or is not a `T`, which `allowed` describes.
    pub fn value<T: FromStr>(&mut self, name: &str, allowed: &str) -> Result<Option<T>, Mistake> {
        self.value_by(name, allowed, |word| word.parse().ok())
    }

    /// The same with a parser.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn value_by<T>(
        &mut self,
        name: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Mistake> {
        let Some(place) = self.0.iter().position(|word| word == name) else {
            return Ok(None);
        };
        self.0.remove(place);
        if self.0.get(place).is_none_or(|word| word.starts_with("--")) {
            return Err(Mistake(format!("{name} has no value; allowed is {allowed}")));
        }
        let word = self.0.remove(place);
        match parse(&word) {
            Some(value) => Ok(Some(value)),
            None => Err(Mistake(format!("{name} is {word:?}; allowed is {allowed}"))),
        }
    }

    /// The words in the value of the option `name`, which may begin with dashes; none if it is not given.
    ///
    /// # Errors
    ///
    /// If the value is missing.
    pub fn words(&mut self, name: &str, allowed: &str) -> Result<Vec<String>, Mistake> {
        let Some(place) = self.0.iter().position(|word| word == name) else {
            return Ok(Vec::new());
        };
        self.0.remove(place);
        if place == self.0.len() {
            return Err(Mistake(format!("{name} has no value; allowed is {allowed}")));
        }
        Ok(self.0.remove(place).split_ascii_whitespace().map(str::to_owned).collect())
    }

    /// Whether the option `name`, which has no value, is given.
    pub fn flag(&mut self, name: &str) -> bool {
        let place = self.0.iter().position(|word| word == name);
        place.map(|place| self.0.remove(place)).is_some()
    }

    /// The next word that is no option. The options must have been taken before.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn word(&mut self, what: &str) -> Result<String, Mistake> {
        match self.0.first() {
            Some(word) if word.starts_with("--") => Err(unknown(word)),
            Some(_) => Ok(self.0.remove(0)),
            None => Err(Mistake(format!("{what} is missing"))),
        }
    }

    /// Checks that no word is left.
    ///
    /// # Errors
    ///
    /// If there is one.
    pub fn end(self) -> Result<(), Mistake> {
        self.0.first().map_or(Ok(()), |word| Err(unknown(word)))
    }
}

fn unknown(word: &str) -> Mistake {
    Mistake(format!("{word:?} is not known here, or is given twice"))
}

/// Bytes, such as `4096`, `300MB` or `1.5GB`, where 1 MB is 10⁶ bytes and 1 GB is 10⁹ bytes. None for another text.
#[must_use]
pub fn bytes(text: &str) -> Option<u64> {
    let units = [("MB", 1e6), ("GB", 1e9)];
    match units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor))) {
        None => text.parse().ok(),
        Some((number, factor)) => {
            let bytes = number.parse::<f64>().ok()? * factor;
            // Up to 2⁵³ the product is exact.
            (0.0..9e15).contains(&bytes).then_some(bytes.round() as u64)
        }
    }
}

/// Runs a program with the words of its command line. `--help` prints the usage.
///
/// The exit status is 0, or 2 for a mistake in the command line, or 1 for another error. Errors go to standard error.
pub fn run(usage: &str, program: impl FnOnce(Args) -> Result<(), Box<dyn Error>>) -> ExitCode {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let mut args = Args::new(words);
    if args.flag("--help") || args.flag("-h") {
        print!("{usage}");
        return ExitCode::SUCCESS;
    }
    match program(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<Mistake>() => {
            eprintln!("error: {error}\n\n{usage}");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read = (Option<u8>, bool, String);

    fn read(line: &str) -> Result<Read, String> {
        let mut args = Args::new(line.split_whitespace().map(str::to_owned));
        let read = |args: &mut Args| {
            let number = args.value("--number", "0 to 255")?;
            Ok((number, args.flag("--switch"), args.word("a name")?))
        };
        let read = read(&mut args).and_then(|read| args.end().map(|()| read));
        read.map_err(|mistake: Mistake| mistake.to_string())
    }

    #[test]
    fn options_come_in_any_order_or_not_at_all() {
        assert_eq!(read("it"), Ok((None, false, "it".to_owned())));
        for line in ["--number 7 --switch it", "it --switch --number=7"] {
            assert_eq!(read(line), Ok((Some(7), true, "it".to_owned())));
        }
    }

    #[test]
    fn mistakes_name_the_word_and_what_is_allowed() {
        for (line, mistake) in [
            ("it --number 256", "--number is \"256\"; allowed is 0 to 255"),
            ("it --number", "--number has no value; allowed is 0 to 255"),
            ("--number --switch it", "--number has no value; allowed is 0 to 255"),
            ("--colour it", "\"--colour\" is not known here, or is given twice"),
            ("it --switch --switch", "\"--switch\" is not known here, or is given twice"),
            ("it more", "\"more\" is not known here, or is given twice"),
            ("", "a name is missing"),
        ] {
            assert_eq!(read(line), Err(mistake.to_owned()), "{line}");
        }
    }

    #[test]
    fn bytes_may_have_a_unit() {
        let right = [("0", 0), ("4096", 4_096), ("8MB", 8_000_000), ("1.5GB", 1_500_000_000)];
        for (text, number) in right {
            assert_eq!(bytes(text), Some(number), "{text}");
        }
        for wrong in ["", "GB", "-1", "-1MB", "8KB", "1e30GB", "NaNGB", "infMB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
