//! The bytes of files.

use super::Tree;
use crate::attributes;
use crate::nodes::Id;
use crate::refused::Refused;
use crate::settings::Mistake;
use colored::fs::File;
use nfs3_types::nfs3::{fattr3, sattr3, stable_how};
use std::io;

/// The longest read and write, in bytes.
pub(crate) const LONGEST: u32 = 256 * 1024;

impl Tree {
    /// The bytes at an offset: fewer than asked for only at the end of the file.
    pub(crate) async fn read(
        &self,
        id: Id,
        offset: u64,
        count: u32,
    ) -> Result<(Vec<u8>, fattr3), Refused> {
        let file = self.open(id).await?;
        let offset = match self.mistake {
            Some(Mistake::MixesUpBlocks) => offset.saturating_sub(count.into()),
            _ => offset,
        };
        let mut bytes = vec![0; count.min(LONGEST) as usize];
        let read = file.read_at(&mut bytes, offset).await?;
        bytes.truncate(read);
        Ok((bytes, attributes::of(id, &file.metadata().await?)))
    }

    /// Writes all bytes, or fails. Returns what says which bytes may be lost.
    pub(crate) async fn write(
        &self,
        id: Id,
        offset: u64,
        bytes: &[u8],
        stable: stable_how,
    ) -> Result<(fattr3, [u8; 8]), Refused> {
        let file = self.open(id).await?;
        let verifier = self.verifier().await;
        match file.write_all_at(bytes, offset).await {
            Err(error) if self.hides(&error) => {}
            written => written?,
        }
        self.sync(&file, stable).await?;
        Ok((attributes::of(id, &file.metadata().await?), verifier))
    }

    /// Brings all writes of a file to the device.
    pub(crate) async fn commit(&self, id: Id) -> Result<(fattr3, [u8; 8]), Refused> {
        let file = self.open(id).await?;
        // Of before the sync: one that fails beside changes it, and may have taken this one's error.
        let verifier = self.verifier().await;
        self.sync(&file, stable_how::FILE_SYNC).await?;
        Ok((attributes::of(id, &file.metadata().await?), verifier))
    }

    /// Changes attributes, the length among them.
    pub(crate) async fn set(&self, id: Id, new: &sattr3) -> Result<fattr3, Refused> {
        let path = self.path(id).await?;
        let metadata = self.root.look(&path).await.map_err(super::gone)?;
        self.check(id, &metadata)?;
        if metadata.is_dir() {
            self.root.set_of_directory(&path, new).await?;
            return self.look(id).await;
        }
        let file = self.open(id).await?;
        attributes::set(&self.root, &file, new).await?;
        self.sync(&file, stable_how::FILE_SYNC).await?;
        Ok(attributes::of(id, &file.metadata().await?))
    }

    async fn verifier(&self) -> [u8; 8] {
        self.verifier.call(|verifier| *verifier).await
    }

    /// Brings the writes of a file to the device, as far as asked for. After a sync that failed, the next one succeeds, although
    /// the bytes are not on the device. Another verifier has the clients write again what they have not committed.
    async fn sync(&self, file: &File, stable: stable_how) -> Result<(), Refused> {
        let synced = match stable {
            _ if self.mistake == Some(Mistake::AnswersBeforeTheSync) => Ok(()),
            stable_how::UNSTABLE => Ok(()),
            stable_how::DATA_SYNC => file.sync_data().await,
            stable_how::FILE_SYNC => file.sync_all().await,
        };
        if synced.is_err() {
            self.verifier
                .call(|verifier| {
                    *verifier = u64::from_be_bytes(*verifier).wrapping_add(1).to_be_bytes()
                })
                .await;
        }
        Ok(synced?)
    }

    /// Whether the mistake of a test hides this error of a write.
    fn hides(&self, error: &io::Error) -> bool {
        self.mistake == Some(Mistake::AnswersWithoutRoom)
            && error.kind() == io::ErrorKind::StorageFull
    }
}
