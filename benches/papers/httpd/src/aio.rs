//! Asynchronous reads beside calls that block: what a server could do before there were lazy ones.

use crate::access::{Absent, Loaded, Opened, SMALL, check_kind};
use colored::fs;
use colored::runtime::Tuning;
use std::path::Path;

/// A runtime with these settings leaves each read to io_uring, or to a thread where there is none.
pub(crate) fn tuning() -> Tuning {
    Tuning::new().lazy_files(false).io_uring(true)
}

pub(crate) async fn load(path: &Path) -> Result<Loaded, Absent> {
    check_kind(&path.metadata()?)?;
    let file = std::fs::File::open(path)?;
    let metadata = file.metadata()?;
    let file = fs::File::from_std(file)?;
    let mut content = None;
    if metadata.len() <= SMALL {
        let mut bytes = vec![0; metadata.len() as usize];
        file.read_exact_at(&mut bytes, 0).await?;
        content = Some(bytes);
    }
    Ok(Loaded { metadata, file: Opened::Lazy(file), content })
}
