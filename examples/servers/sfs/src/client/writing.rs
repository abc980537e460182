//! What the client changes: always at the server, and out of its own cache first.

use super::{Client, Error, Result};
use crate::refused::Refused;
use nfs3_types::nfs3::{
    COMMIT3args, COMMIT3resfail, COMMIT3resok, CREATE3args, CREATE3resfail, CREATE3resok,
    NFS_PROGRAM, Nfs3Option, WRITE3args, WRITE3resfail, WRITE3resok, createhow3, diropargs3,
    filename3, nfs_fh3, nfsstat3, sattr3, stable_how,
};
use nfs3_types::xdr_codec::Opaque;

/// The bytes of one request.
const PIECE: usize = 64 * 1024;

/// How often a file is written again because the server has lost what was not synced.
const TRIES: usize = 5;

impl Client {
    /// Makes a file, or empties the one that has the name.
    pub async fn create(&self, directory: &nfs_fh3, name: &[u8]) -> Result<nfs_fh3> {
        let new = sattr3 {
            mode: Nfs3Option::Some(0o644),
            size: Nfs3Option::Some(0),
            ..sattr3::default()
        };
        let where_ = diropargs3 { dir: directory.clone(), name: filename3::from(name) };
        let args = CREATE3args { where_, how: createhow3::UNCHECKED(new) };
        self.forget(directory).await;
        let made = self
            .nfs::<_, CREATE3resok, CREATE3resfail>(NFS_PROGRAM::NFSPROC3_CREATE as u32, &args)
            .await;
        self.forget(directory).await;
        match made?.obj {
            Nfs3Option::Some(file) => {
                self.forget(&file).await;
                Ok(file)
            }
            Nfs3Option::None => self.lookup(directory, name).await,
        }
    }

    /// Writes bytes at a position. When it returns, nobody reads older ones; `FILE_SYNC` also brings them to the device. Returns the
    /// verifier: if [`commit`](Self::commit) returns another one, what is not synced may be lost.
    pub async fn write(
        &self,
        file: &nfs_fh3,
        offset: u64,
        bytes: &[u8],
        stable: stable_how,
    ) -> Result<[u8; 8]> {
        self.forget(file).await;
        let mut written = 0;
        let mut verifier = None;
        while written < bytes.len() || verifier.is_none() {
            let piece = &bytes[written..bytes.len().min(written + PIECE)];
            let args = WRITE3args {
                file: file.clone(),
                offset: offset + written as u64,
                count: piece.len() as u32,
                stable,
                data: Opaque::borrowed(piece),
            };
            let answer = self
                .nfs::<_, WRITE3resok, WRITE3resfail>(NFS_PROGRAM::NFSPROC3_WRITE as u32, &args)
                .await;
            self.forget(file).await;
            let answer = answer?;
            // Two servers in one write: the first piece may be lost.
            let first = *verifier.get_or_insert(answer.verf.0);
            if first != answer.verf.0 {
                verifier = Some([0; 8]);
            }
            written += (answer.count as usize).min(piece.len());
            if answer.count == 0 && !piece.is_empty() {
                return Err(Error::Refused(Refused(nfsstat3::NFS3ERR_IO)));
            }
        }
        Ok(verifier.unwrap_or_default())
    }

    /// Brings what was written to the device. Returns the verifier.
    pub async fn commit(&self, file: &nfs_fh3) -> Result<[u8; 8]> {
        let args = COMMIT3args { file: file.clone(), offset: 0, count: 0 };
        let answer: COMMIT3resok =
            self.nfs::<_, _, COMMIT3resfail>(NFS_PROGRAM::NFSPROC3_COMMIT as u32, &args).await?;
        Ok(answer.verf.0)
    }

    /// Makes these the bytes of a file, on the device, also if the server stops and starts again meanwhile.
    pub async fn store(&self, directory: &nfs_fh3, name: &[u8], bytes: &[u8]) -> Result<nfs_fh3> {
        let file = self.create(directory, name).await?;
        for _ in 0..TRIES {
            let written = self.write(&file, 0, bytes, stable_how::UNSTABLE).await?;
            if self.commit(&file).await? == written || self.ignores_verifiers {
                return Ok(file);
            }
        }
        Err(Error::Refused(Refused(nfsstat3::NFS3ERR_IO)))
    }

    async fn forget(&self, file: &nfs_fh3) {
        let file = file.data.to_vec();
        self.cache.call(move |cache| cache.forget(&file)).await;
    }
}
