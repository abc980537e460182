//! Which color each part of the server's state has.

use crate::nodes::Id;
use colored::Color;

/// How many parts the state of files is divided into, where it is divided. A guess: many times the usual cores.
const SHARDS: u64 = 16;

/// The colors of the server's state.
#[derive(Clone, Debug)]
pub(crate) struct Palette {
    /// Of the table of names.
    pub(crate) names: Color,
    /// Of the open files and the leases: file `n` belongs to color `n` modulo their number.
    pub(crate) files: Vec<Color>,
}

impl Palette {
    /// All state under the default color.
    pub(crate) fn serial() -> Palette {
        Palette { names: Color::DEFAULT, files: vec![Color::DEFAULT] }
    }

    /// A color for the names, and one for each sixteenth of the files.
    pub(crate) fn by_file() -> Palette {
        let files = (0..SHARDS).map(|shard| color_of_file(Id(shard))).collect();
        Palette { names: Color::named("names"), files }
    }
}

/// The color of the state of a file in [`Palette::by_file`].
pub(crate) fn color_of_file(file: Id) -> Color {
    Color::of(("files", file.0 % SHARDS))
}
