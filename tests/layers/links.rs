//! Links of the pages in Markdown: the file is there, and the heading too.

use crate::{budgets, root};
use std::fs;
use std::path::{Path, PathBuf};

/// The pages of the repository.
pub(crate) fn pages() -> Vec<PathBuf> {
    budgets::pages().iter().map(|(page, _)| root().join(page)).collect()
}

/// The links of `page` that lead nowhere, and how many links there are.
pub(crate) fn faults(page: &Path) -> (Vec<String>, usize) {
    let text = fs::read_to_string(page).expect("the page can be read");
    let links: Vec<_> = prose(&text).flat_map(links_of).filter(|link| !is_outside(link)).collect();
    let broken =
        |link: &&str| (!leads_somewhere(page, link)).then(|| format!("{}: {link}", page.display()));
    (links.iter().filter_map(broken).collect(), links.len())
}

fn is_outside(link: &str) -> bool {
    link.starts_with("https://") || link.starts_with("http://")
}

fn leads_somewhere(page: &Path, link: &str) -> bool {
    let (file, heading) =
        link.split_once('#').map_or((link, None), |(file, name)| (file, Some(name)));
    let folder = page.parent().expect("a page is in a folder");
    let target = if file.is_empty() { page.to_owned() } else { folder.join(file) };
    match heading {
        None => target.exists(),
        Some(name) => fs::read_to_string(target).is_ok_and(|text| {
            prose(&text).any(|line| line.starts_with('#') && anchor(line) == name)
        }),
    }
}

/// The lines outside blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of the links of a line.
fn links_of(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// The name that a heading has in links.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
