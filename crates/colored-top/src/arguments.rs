//! [`Arguments`]: what the command line says.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Shows what a program on the colored runtime does.

usage: colored-top [--once | --json] [--no-level] [PATH]

PATH is the socket of the program: that of Options::inspect, or of the program's environment variable
COLORED_INSPECT. Without it, this program's own variable COLORED_INSPECT counts.

  --once      print one screen after two seconds, and end
  --json      print one snapshot after two seconds, as JSON, and end
  --no-level  do not let the program measure waits, which costs it about one percent
  --help, --version
";

pub(crate) const NO_PATH: &str =
    "no socket: name it, or set COLORED_INSPECT as for the program; see --help";

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Live,
    Once,
    Json,
    Help,
    Version,
}

/// The command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) mode: Mode,
    pub(crate) path: Option<PathBuf>,
    /// Whether the program records what it records without a reader.
    pub(crate) leaves_level: bool,
}

impl Arguments {
    /// Reads the arguments, without the program's name.
    pub(crate) fn parse(all: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut mode = Mode::Live;
        let (mut path, mut leaves_level) = (None, false);
        for argument in all {
            match argument.to_str() {
                Some("--once") => mode = Mode::Once,
                Some("--json") => mode = Mode::Json,
                Some("--help" | "-h") => mode = Mode::Help,
                Some("--version" | "-V") => mode = Mode::Version,
                Some("--no-level") => leaves_level = true,
                Some(option) if option.starts_with('-') => {
                    return Err(format!("there is no option {option}; see --help"));
                }
                _ if path.is_some() => {
                    return Err(format!("one path is allowed, and {argument:?} is another"));
                }
                _ => path = Some(PathBuf::from(argument)),
            }
        }
        let path = path.or_else(|| env::var_os("COLORED_INSPECT").map(PathBuf::from));
        Ok(Self { mode, path, leaves_level })
    }
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Mode};
    use std::path::Path;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(Into::into))
    }

    #[test]
    fn options_and_a_path_come_in_any_order() {
        let arguments = parse("--once a --no-level").unwrap();
        assert_eq!(arguments.mode, Mode::Once);
        assert_eq!(arguments.path.as_deref(), Some(Path::new("a")));
        assert!(arguments.leaves_level);
        assert_eq!(parse("a").unwrap().mode, Mode::Live);
        assert_eq!(parse("a --json").unwrap().mode, Mode::Json);
        assert_eq!(parse("--all").unwrap_err(), "there is no option --all; see --help");
        assert!(parse("a b").unwrap_err().contains("\"b\""));
    }
}
