//! The server of the library `nfs3_server`, on tokio. It knows no TLS, and the file system that it brings is in memory.

use nfs3_server::memfs::{MemFs, MemFsConfig};
use nfs3_server::tcp::{NFSTcp, NFSTcpListener};
use std::fs;
use std::io::{self, Write};

/// Serves copies of the files in the directories of a directory, until the process ends. Prints the address.
pub(crate) fn run(directory: &str, workers: usize) -> io::Result<()> {
    let mut files = MemFsConfig::default();
    for above in fs::read_dir(directory)? {
        let above = above?;
        let directory = format!("/{}", above.file_name().to_string_lossy());
        files.add_dir(&directory);
        for file in fs::read_dir(above.path())? {
            let file = file?;
            let path = format!("{directory}/{}", file.file_name().to_string_lossy());
            files.add_file(&path, fs::read(file.path())?);
        }
    }
    let files = MemFs::new(files).map_err(|status| io::Error::other(status.to_string()))?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(workers).enable_all().build()?.block_on(async {
        let listener = NFSTcpListener::bind("127.0.0.1:0", files).await?;
        writeln!(io::stdout(), "serves 127.0.0.1:{}/ without TLS", listener.get_listen_port())?;
        listener.handle_forever().await
    })
}
