//! A page of which a program writes some blocks, and people the rest.
//!
//! A block stands between `<!-- measured: <name> -->` and `<!-- end -->`, each a line of its own.

use std::fs;
use std::io;
use std::path::Path;

const END: &str = "<!-- end -->";

/// Puts `body` in the place of the block called `name`.
///
/// # Errors
///
/// If the text has no such block, or the block no end.
pub fn with_block(text: &str, name: &str, body: &str) -> Result<String, String> {
    let begin = format!("<!-- measured: {name} -->\n");
    let (before, rest) =
        text.split_once(&begin).ok_or(format!("the page has no line {:?}", begin.trim_end()))?;
    let (_, after) =
        rest.split_once(END).ok_or(format!("the block {name:?} has no line {END:?}"))?;
    let body = body.trim_end();
    Ok(format!("{before}{begin}\n{body}\n\n{END}{after}"))
}

/// Writes a block of the page at `folder/benchmarks.md`, and its plots into `folder/plots`.
///
/// # Errors
///
/// If the page cannot be read or written, or has no such block.
pub fn write(folder: &Path, name: &str, body: &str, plots: &[(String, String)]) -> io::Result<()> {
    fs::create_dir_all(folder.join("plots"))?;
    for (file, svg) in plots {
        fs::write(folder.join("plots").join(file), svg)?;
    }
    let page = folder.join("benchmarks.md");
    let text = fs::read_to_string(&page)?;
    fs::write(page, with_block(&text, name, body).map_err(io::Error::other)?)
}

#[cfg(test)]
mod tests {
    use super::with_block;

    const PAGE: &str = "# Title\n<!-- measured: a -->\nold\n<!-- end -->\nprose\n\
                        <!-- measured: b -->\n<!-- end -->\n";

    #[test]
    fn a_block_is_replaced_and_nothing_else() {
        let once = with_block(PAGE, "b", "new\n").expect("it is there");
        let twice = with_block(&once, "a", "newer").expect("it is there");
        assert_eq!(
            twice,
            "# Title\n<!-- measured: a -->\n\nnewer\n\n<!-- end -->\nprose\n\
             <!-- measured: b -->\n\nnew\n\n<!-- end -->\n"
        );
        assert_eq!(with_block(&twice, "b", "new"), Ok(twice));
    }

    #[test]
    fn a_block_that_is_not_there_is_an_error() {
        assert!(with_block(PAGE, "c", "").is_err());
        assert!(with_block("<!-- measured: a -->\n", "a", "").is_err());
    }
}
