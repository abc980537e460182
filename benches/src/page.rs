//! A page with some blocks that a program writes; people write the rest.
//!
//! A block stands between `<!-- measured: <name> -->` and `<!-- end -->`, each a line of its own.

use std::fs;
use std::io;
use std::path::Path;

/// The heads of the columns of an experiment's goals.
pub const GOALS: [&str; 4] = ["what it must show", "measured", "goal", ""];

const END: &str = "<!-- end -->";
const SUMMARY: &str = "summary";

/// The head of a table, its first column to the left and all others to the right.
#[must_use]
pub fn table_head(head: &[&str]) -> String {
    format!("| {} |\n|---|{}\n", head.join(" | "), "---:|".repeat(head.len() - 1))
}

/// Replaces the block called `name` by `body`.
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

/// Writes a block of the page, and its plots into the folder `plots` beside it.
///
/// # Errors
///
/// If the page cannot be read or written, or has no such block.
pub fn write(page: &Path, name: &str, body: &str, plots: &[(String, String)]) -> io::Result<()> {
    let folder = page.with_file_name("plots");
    fs::create_dir_all(&folder)?;
    for (file, svg) in plots {
        fs::write(folder.join(file), svg)?;
    }
    let text = fs::read_to_string(page)?;
    fs::write(page, with_block(&text, name, body).map_err(io::Error::other)?)
}

/// Writes the summary of the page: how many goals of its blocks are met, which are missed, and
/// which experiments failed, if any.
///
/// # Errors
///
/// If the page cannot be read or written, or has no block for the summary.
pub fn summarize(page: &Path, failures: &[String]) -> io::Result<()> {
    let text = fs::read_to_string(page)?;
    fs::write(page, with_summary(&text, failures).map_err(io::Error::other)?)
}

fn with_summary(text: &str, failures: &[String]) -> Result<String, String> {
    let blocks = with_block(text, SUMMARY, "")?;
    let head = table_head(&GOALS);
    let goals = blocks.split(&head).skip(1);
    let rows = goals.flat_map(|rest| rest.lines().take_while(|line| line.starts_with('|')));
    let (missed, met): (Vec<_>, Vec<_>) = rows.partition(|row| row.ends_with("| missed |"));
    let mut body = format!(
        "Of {} goals {} are met, each in the last run of its experiment. These are missed:\n\n{head}",
        met.len() + missed.len(),
        met.len(),
    );
    for row in missed {
        body.push_str(row);
        body.push('\n');
    }
    for failure in failures {
        body.push_str(&format!("\n**Failed in this run: {failure}.**\n"));
    }
    with_block(text, SUMMARY, &body)
}

#[cfg(test)]
mod tests {
    use super::{with_block, with_summary};

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
    fn the_summary_counts_the_goals_of_all_blocks_and_shows_the_missed_ones() {
        let goals = "| what it must show | measured | goal |  |\n|---|---:|---:|---:|\n";
        let block = |row: &str| format!("| no | goal |\n|---|---:|\n| 1 | 2 |\n\n{goals}{row}\n");
        let page = format!("<!-- measured: summary -->\n<!-- end -->\n{PAGE}");
        let page =
            with_block(&page, "a", &block("| a | 1 | at most 2 | met |")).expect("it is there");
        let page =
            with_block(&page, "b", &block("| b | 3 | at most 2 | missed |")).expect("so is it");
        let once = with_summary(&page, &[]).expect("and it");
        assert!(once.contains("Of 2 goals 1 are met"), "{once}");
        let rows = "| b | 3 | at most 2 | missed |\n\n<!-- end -->";
        assert!(once.contains(&format!("{goals}{rows}\n# Title")), "{once}");
        let twice = with_summary(&once, &[]).expect("and it");
        assert_eq!(twice, once);
        let failed = with_summary(&once, &[String::from("c: it hangs")]).expect("all are there");
        assert!(
            failed
                .contains("| b | 3 | at most 2 | missed |\n\n**Failed in this run: c: it hangs.**")
        );
        assert!(with_summary(PAGE, &[]).is_err());
    }

    #[test]
    fn a_block_that_is_not_there_is_an_error() {
        assert!(with_block(PAGE, "c", "").is_err());
        assert!(with_block("<!-- measured: a -->\n", "a", "").is_err());
    }
}
