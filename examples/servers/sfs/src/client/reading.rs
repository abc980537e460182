//! What the client reads: from its cache, or else from the server.

use super::cache::{Block, Listed};
use super::{Client, Error, Result};
use crate::refused::Refused;
use colored::time::Instant;
use nfs3_types::mount;
use nfs3_types::nfs3::{
    LOOKUP3args, LOOKUP3resfail, LOOKUP3resok, NFS_PROGRAM, Nfs3Option, READ3args, READ3resfail,
    READ3resok, READDIRPLUS3args, READDIRPLUS3resfail, READDIRPLUS3resok, cookieverf3, diropargs3,
    fattr3, filename3, nfs_fh3, nfsstat3,
};
use nfs3_types::xdr_codec::Opaque;
use std::sync::Arc;

/// The bytes of a block of the cache, which are read at once.
const BLOCK: u64 = 64 * 1024;

impl Client {
    /// The directory that the server serves.
    ///
    /// # Errors
    ///
    /// As all methods: see [`Error`].
    pub async fn root(&self) -> Result<nfs_fh3> {
        let path = mount::dirpath(Opaque::borrowed(b"/"));
        let procedure = mount::MOUNT_PROGRAM::MOUNTPROC3_MNT as u32;
        match self.link.call(mount::PROGRAM, mount::VERSION, procedure, &path).await? {
            mount::mountres3::Ok(answer) => {
                Ok(nfs_fh3 { data: Opaque::owned(answer.fhandle.0.to_vec()) })
            }
            mount::mountres3::Err(_) => Err(Error::Refused(Refused(nfsstat3::NFS3ERR_ACCES))),
        }
    }

    /// The file at a path from the root on. Symbolic links are not followed.
    pub async fn resolve(&self, path: &str) -> Result<nfs_fh3> {
        let mut at = self.root().await?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            at = self.lookup(&at, name.as_bytes()).await?;
        }
        Ok(at)
    }

    /// The file of a name in a directory.
    pub async fn lookup(&self, directory: &nfs_fh3, name: &[u8]) -> Result<nfs_fh3> {
        let (asked, wanted) = (directory.clone(), name.to_vec());
        let found = self.cache.call(move |cache| cache.name(&asked, &wanted, Instant::now())).await;
        if let Some(found) = found {
            return Ok(found);
        }
        self.renew(directory).await?;
        let generation = self.generation(directory).await;
        let what = diropargs3 { dir: directory.clone(), name: filename3::from(name) };
        let answer: LOOKUP3resok = self
            .nfs::<_, _, LOOKUP3resfail>(NFS_PROGRAM::NFSPROC3_LOOKUP as u32, &LOOKUP3args { what })
            .await?;
        let (directory, name, file) = (directory.clone(), name.to_vec(), answer.object.clone());
        self.cache
            .call(move |cache| {
                cache.keep_name((&directory, generation), name, file, Instant::now());
            })
            .await;
        Ok(answer.object)
    }

    /// The attributes of a file.
    pub async fn attributes(&self, file: &nfs_fh3) -> Result<fattr3> {
        let asked = file.clone();
        match self.cache.call(move |cache| cache.attributes(&asked, Instant::now())).await {
            Some(attributes) => Ok(attributes),
            None => self.take(file).await,
        }
    }

    /// The bytes of a file at a position: fewer only at its end.
    pub async fn read(&self, file: &nfs_fh3, offset: u64, len: usize) -> Result<Vec<u8>> {
        let (mut bytes, mut at) = (Vec::new(), offset);
        while bytes.len() < len {
            let block = self.block(file, at / BLOCK).await?;
            let begin = (at % BLOCK) as usize;
            let part = block.get(begin..).unwrap_or_default();
            let part = &part[..part.len().min(len - bytes.len())];
            bytes.extend_from_slice(part);
            at += part.len() as u64;
            if part.is_empty() || block.len() < BLOCK as usize {
                break;
            }
        }
        Ok(bytes)
    }

    async fn block(&self, file: &nfs_fh3, number: u64) -> Result<Block> {
        let asked = file.clone();
        let found = self.cache.call(move |cache| cache.block(&asked, number, Instant::now())).await;
        if let Some(found) = found {
            return Ok(found);
        }
        self.renew(file).await?;
        let generation = self.generation(file).await;
        let (file, offset) = (file.clone(), number * BLOCK);
        let mut bytes = Vec::new();
        while bytes.len() < BLOCK as usize {
            let offset = offset + bytes.len() as u64;
            let count = BLOCK as u32 - bytes.len() as u32;
            let args = READ3args { file: file.clone(), offset, count };
            let answer: READ3resok<'static> =
                self.nfs::<_, _, READ3resfail>(NFS_PROGRAM::NFSPROC3_READ as u32, &args).await?;
            bytes.extend_from_slice(&answer.data);
            if answer.eof || answer.data.is_empty() {
                break;
            }
        }
        let block = Arc::new(bytes);
        let kept = Arc::clone(&block);
        self.cache
            .call(move |cache| {
                cache.keep_block((&file, generation), number, kept, Instant::now());
            })
            .await;
        Ok(block)
    }

    /// The entries of a directory, without `.` and `..`, by name.
    pub async fn list(&self, directory: &nfs_fh3) -> Result<Arc<Vec<Listed>>> {
        let asked = directory.clone();
        let found = self.cache.call(move |cache| cache.listing(&asked, Instant::now())).await;
        if let Some(found) = found {
            return Ok(found);
        }
        self.renew(directory).await?;
        let generation = self.generation(directory).await;
        let listing = Arc::new(self.read_directory(directory).await?);
        let (directory, kept) = (directory.clone(), Arc::clone(&listing));
        self.cache
            .call(move |cache| cache.keep_listing((&directory, generation), kept, Instant::now()))
            .await;
        Ok(listing)
    }

    async fn read_directory(&self, directory: &nfs_fh3) -> Result<Vec<Listed>> {
        let mut args = READDIRPLUS3args {
            dir: directory.clone(),
            cookie: 0,
            cookieverf: cookieverf3::default(),
            dircount: 8 * 1024,
            maxcount: 32 * 1024,
        };
        let mut listing = Vec::new();
        loop {
            let answer: READDIRPLUS3resok<'static> = self
                .nfs::<_, _, READDIRPLUS3resfail>(NFS_PROGRAM::NFSPROC3_READDIRPLUS as u32, &args)
                .await?;
            args.cookieverf = answer.cookieverf;
            for entry in answer.reply.entries.0 {
                args.cookie = entry.cookie;
                let name = entry.name.as_ref().to_vec();
                if name != b"." && name != b".." {
                    let attributes = match entry.name_attributes {
                        Nfs3Option::Some(attributes) => Some(attributes),
                        Nfs3Option::None => None,
                    };
                    listing.push(Listed { name, attributes });
                }
            }
            if answer.reply.eof {
                break;
            }
        }
        listing.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(listing)
    }

    pub(super) async fn generation(&self, file: &nfs_fh3) -> u64 {
        let file = file.clone();
        self.cache.call(move |cache| cache.generation(&file)).await
    }
}
