//! Nothing from the wire leads out of the root.

use super::{Folder, open, owner, place, serve};
use crate::nfs::{Nfs, Request};
use crate::refused::Refused;
use crate::root::Root;
use nfs3_types::nfs3::{
    MKDIR3args, SYMLINK3args, nfs_fh3, nfspath3, nfsstat3, sattr3, symlinkdata3,
};
use nfs3_types::xdr_codec::Opaque;
use std::fs;

async fn mkdir(nfs: &Nfs, request: &Request, top: &nfs_fh3, name: &str) -> nfs_fh3 {
    let args = MKDIR3args { where_: place(top, name), attributes: sattr3::default() };
    nfs.mkdir(request, args).await.unwrap().obj.unwrap()
}

async fn link(nfs: &Nfs, request: &Request, top: &nfs_fh3, name: &str, target: &str) -> nfs_fh3 {
    let symlink_data = nfspath3(Opaque::owned(target.as_bytes().to_vec()));
    let symlink = symlinkdata3 { symlink_attributes: sattr3::default(), symlink_data };
    let made = nfs.symlink(request, SYMLINK3args { where_: place(top, name), symlink }).await;
    made.unwrap().obj.unwrap()
}

/// A file beside the served directory, and that directory.
fn secret() -> (Folder, std::path::PathBuf) {
    let folder = Folder::new();
    let served = folder.0.join("served");
    fs::create_dir(&served).unwrap();
    fs::write(folder.0.join("secret"), "secret").unwrap();
    (folder, served)
}

#[colored::test]
async fn names_go_one_step_down_and_the_root_is_above_itself() {
    let (folder, served) = secret();
    let (nfs, request) = (open(&served).await, owner(&folder));
    let top = nfs.top().await;
    assert_eq!(nfs.seek(&request, &top, "..").await.unwrap(), top);
    for name in ["../secret", "/etc/passwd", "x/../../secret", "", "a\0b"] {
        assert_eq!(nfs.seek(&request, &top, name).await, Err(Refused::INVALID), "{name:?}");
        assert_eq!(nfs.make(&request, &top, name).await, Err(Refused::INVALID), "{name:?}");
    }
    for name in ["..", "."] {
        assert!(nfs.make(&request, &top, name).await.is_err());
        assert!(nfs.mv(&request, (&top, name), (&top, "x")).await.is_err());
    }
    let inner = mkdir(&nfs, &request, &top, "inner").await;
    assert_eq!(nfs.seek(&request, &inner, "..").await.unwrap(), top);
}

#[colored::test]
async fn handles_that_the_server_has_not_made_mean_nothing() {
    let (folder, served) = secret();
    let (nfs, request) = (open(&served).await, owner(&folder));
    for bytes in [&b""[..], b"/etc/passwd", &[0; 64], &[0xff; 12], b"sfs1../../.."] {
        let handle = nfs_fh3 { data: Opaque::owned(bytes.to_vec()) };
        let Err(Refused(status)) = nfs.get(&request, &handle).await else {
            panic!("{bytes:?} is a handle");
        };
        assert!(matches!(status, nfsstat3::NFS3ERR_BADHANDLE | nfsstat3::NFS3ERR_STALE));
    }
}

/// Reads the secret by the handle of a directory: the directory above it has become a link.
async fn read_behind_a_link(nfs: &Nfs, request: &Request, folder: &Folder) -> Option<Vec<u8>> {
    let top = nfs.top().await;
    let inner = mkdir(nfs, request, &top, "inner").await;
    let deep = mkdir(nfs, request, &inner, "deep").await;
    let served = folder.0.join("served");
    fs::rename(served.join("inner"), served.join("away")).unwrap();
    fs::create_dir(folder.0.join("deep")).unwrap();
    fs::write(folder.0.join("deep/secret"), "secret").unwrap();
    link(nfs, request, &top, "inner", folder.0.to_str().unwrap()).await;
    let file = nfs.seek(request, &deep, "secret").await.ok()?;
    nfs.get(request, &file).await.ok()
}

#[colored::test]
async fn links_lead_nowhere() {
    let (folder, served) = secret();
    let (nfs, request) = (open(&served).await, owner(&folder));
    let top = nfs.top().await;
    let leads_out = link(&nfs, &request, &top, "out", "../secret").await;
    assert_eq!(nfs.get(&request, &leads_out).await, Err(Refused::INVALID));
    assert!(nfs.put(&request, &leads_out, b"changed").await.is_err());
    let above = link(&nfs, &request, &top, "above", "..").await;
    assert!(nfs.seek(&request, &above, "secret").await.is_err());
    assert!(nfs.make(&request, &above, "new").await.is_err());
    assert_eq!(read_behind_a_link(&nfs, &request, &folder).await, None);
    assert_eq!(fs::read(folder.0.join("secret")).unwrap(), b"secret");
    assert!(!folder.0.join("new").exists());
}

#[colored::test]
async fn plain_paths_would_lead_out() {
    let (folder, served) = secret();
    let (nfs, request) = (serve(Root::simulated(&served)).await, owner(&folder));
    let found = read_behind_a_link(&nfs, &request, &folder).await;
    assert_eq!(found.as_deref(), Some(&b"secret"[..]), "the attack of the test above works");
}
