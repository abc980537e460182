//! Settings in a file: notify tells of its changes, and atomic-write-file replaces it in one step.
//!
//! notify calls back on a thread of its own, which posts to the cell of the settings: changes arrive one after another,
//! behind whatever was scheduled under the cell's color. No reader sees a half of a file, also after a crash of the
//! writer, since the new file takes the place of the old one when it is whole.

use atomic_write_file::AtomicWriteFile;
use colored::sync::mpsc::unbounded_channel;
use colored::{Color, ColorCell, spawn_blocking};
use colored_libraries::Failure;
use notify::{RecursiveMode, Watcher};
use std::io::Write;
use std::path::PathBuf;

#[colored::main]
async fn main() -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("settings-{}", std::process::id()));
    colored::fs::create_dir_all(&folder).await?;
    let file = folder.canonicalize()?.join("settings");
    let settings = ColorCell::new(Color::of("settings"), String::new());

    // The directory is watched, not the file: a replaced file is another one, and a watch would stay with the old one.
    let (changed, mut changes) = unbounded_channel();
    let (cell, watched) = (settings.clone(), file.clone());
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let is_ours = |event: &notify::Event| event.paths.contains(&watched);
        if !event.as_ref().is_ok_and(|event| is_ours(event) && !event.kind.is_access()) {
            return;
        }
        let (watched, changed) = (watched.clone(), changed.clone());
        cell.post(move |settings| {
            // Between two replacements there is always a whole file.
            if let Ok(text) = std::fs::read_to_string(watched)
                && text != *settings
            {
                settings.clone_from(&text);
                let _ = changed.send(text);
            }
        });
    })?;
    watcher.watch(&folder, RecursiveMode::NonRecursive)?;

    for color in ["red", "green", "blue"] {
        replace(file.clone(), format!("color = {color}")).await?;
        println!("{}", changes.recv().await.expect("the watcher is there"));
    }
    drop(watcher);
    Ok(colored::fs::remove_dir_all(&folder).await?)
}

/// Makes the text the contents of the file, which others see as it was or as it is.
async fn replace(file: PathBuf, text: String) -> Result<(), Failure> {
    let write = spawn_blocking(move || {
        let mut new = AtomicWriteFile::open(file)?;
        new.write_all(text.as_bytes())?;
        new.commit()
    });
    Ok(write.await??)
}
