//! The procedures, called without a wire.

mod durable;
mod escape;
mod restart;

use super::{Answer, Nfs, Request};
use crate::palette::Palette;
use crate::recall::Recall;
use crate::refused::Refused;
use crate::replies::Replies;
use crate::root::Root;
use crate::settings::Settings;
use crate::tree::Tree;
use crate::users::{User, UserMap};
use colored::ColorCell;
use colored::time::Duration;
use nfs3_types::nfs3::{
    ACCESS3_MODIFY, ACCESS3_READ, ACCESS3args, CREATE3args, GETATTR3args, LOOKUP3args, Nfs3Option,
    READ3args, READDIRPLUS3args, REMOVE3args, RENAME3args, WRITE3args, cookieverf3, createhow3,
    createverf3, diropargs3, filename3, nfs_fh3, nfsstat3, sattr3, stable_how,
};
use nfs3_types::xdr_codec::Opaque;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory for a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sfs-nfs-{}-{number}", std::process::id()));
        // An earlier process of this number may have been killed, and have left it behind.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn serve(root: Root) -> Nfs {
    let settings = Settings { lease: Duration::ZERO, ..Settings::default() };
    let palette = Palette::serial();
    let tree = Tree::new(root, &palette, [7; 8], None).await.unwrap();
    let replies = ColorCell::new(palette.names, Replies::default());
    Nfs { tree, recall: Recall::new(&palette, &settings), replies, gives_files: false }
}

async fn open(path: &Path) -> Nfs {
    serve(Root::open(path).unwrap()).await
}

/// The user who owns the files that this process makes.
fn owner(folder: &Folder) -> Request {
    let metadata = fs::metadata(&folder.0).unwrap();
    let user = User { uid: metadata.uid(), gids: vec![metadata.gid()] };
    Request { user, users: Arc::new(UserMap::same()), holder: None }
}

fn place(dir: &nfs_fh3, name: &str) -> diropargs3<'static> {
    diropargs3 { dir: dir.clone(), name: filename3(Opaque::owned(name.as_bytes().to_vec())) }
}

impl Nfs {
    async fn top(&self) -> nfs_fh3 {
        self.tree.top().await.handle()
    }

    async fn seek(&self, request: &Request, dir: &nfs_fh3, name: &str) -> Answer<nfs_fh3> {
        Ok(self.lookup(request, LOOKUP3args { what: place(dir, name) }).await?.object)
    }

    async fn make(&self, request: &Request, dir: &nfs_fh3, name: &str) -> Answer<nfs_fh3> {
        let how = createhow3::UNCHECKED(sattr3::default());
        let made = self.create(request, CREATE3args { where_: place(dir, name), how }).await?;
        Ok(made.obj.unwrap())
    }

    async fn get(&self, request: &Request, file: &nfs_fh3) -> Answer<Vec<u8>> {
        let args = READ3args { file: file.clone(), offset: 0, count: 1000 };
        Ok(self.read(request, args).await?.data.into_owned())
    }

    async fn put(&self, request: &Request, file: &nfs_fh3, bytes: &[u8]) -> Answer<()> {
        let (data, count) = (Opaque::owned(bytes.to_vec()), bytes.len() as u32);
        let stable = stable_how::FILE_SYNC;
        let args = WRITE3args { file: file.clone(), offset: 0, count, stable, data };
        self.write(request, args).await.map(|_| ())
    }

    async fn mv(
        &self,
        request: &Request,
        from: (&nfs_fh3, &str),
        to: (&nfs_fh3, &str),
    ) -> Answer<()> {
        let args = RENAME3args { from: place(from.0, from.1), to: place(to.0, to.1) };
        self.rename(request, args).await.map(|_| ())
    }
}

#[colored::test]
async fn a_handle_outlives_a_rename_and_ends_with_its_file() {
    let folder = Folder::new();
    let (nfs, request) = (open(&folder.0).await, owner(&folder));
    let top = nfs.top().await;
    let file = nfs.make(&request, &top, "a").await.unwrap();
    nfs.put(&request, &file, b"first").await.unwrap();
    nfs.mv(&request, (&top, "a"), (&top, "b")).await.unwrap();
    assert_eq!(nfs.get(&request, &file).await.unwrap(), b"first");
    assert_eq!(nfs.seek(&request, &top, "b").await.unwrap(), file);
    let other = nfs.make(&request, &top, "a").await.unwrap();
    assert_ne!(other, file);
    nfs.mv(&request, (&top, "a"), (&top, "b")).await.unwrap();
    assert_eq!(nfs.get(&request, &file).await, Err(Refused::STALE));
    nfs.remove(&request, REMOVE3args { object: place(&top, "b") }).await.unwrap();
    assert_eq!(nfs.get(&request, &other).await, Err(Refused::STALE));
}

#[colored::test]
async fn an_exclusive_creation_can_be_repeated_by_its_client_only() {
    let folder = Folder::new();
    let (nfs, request) = (open(&folder.0).await, owner(&folder));
    let top = nfs.top().await;
    let create = async |verifier| {
        let how = createhow3::EXCLUSIVE(createverf3([verifier; 8]));
        let made = nfs.create(&request, CREATE3args { where_: place(&top, "a"), how }).await;
        made.map(|made| made.obj.unwrap())
    };
    let file = create(1).await.unwrap();
    assert_eq!(create(1).await.unwrap(), file);
    assert_eq!(create(2).await, Err(Refused(nfsstat3::NFS3ERR_EXIST)));
    let how = createhow3::GUARDED(sattr3::default());
    let guarded = nfs.create(&request, CREATE3args { where_: place(&top, "a"), how }).await;
    assert_eq!(guarded.unwrap_err(), Refused(nfsstat3::NFS3ERR_EXIST));
    nfs.put(&request, &file, b"text").await.unwrap();
    let new = sattr3 { size: Nfs3Option::Some(0), ..sattr3::default() };
    let how = createhow3::UNCHECKED(new);
    nfs.create(&request, CREATE3args { where_: place(&top, "a"), how }).await.unwrap();
    assert_eq!(nfs.get(&request, &file).await.unwrap(), b"");
}

#[colored::test]
async fn a_directory_that_changes_between_pages_shows_each_lasting_entry_once() {
    let folder = Folder::new();
    let (nfs, request) = (open(&folder.0).await, owner(&folder));
    let top = nfs.top().await;
    for number in 0..200 {
        fs::write(folder.0.join(format!("lasting-{number:03}")), "").unwrap();
    }
    let (mut names, mut cookie, mut pages) = (Vec::new(), 0, 0);
    loop {
        let cookieverf = cookieverf3::default();
        let (dir, maxcount) = (top.clone(), 4096);
        let args = READDIRPLUS3args { dir, cookie, cookieverf, dircount: 1024, maxcount };
        let page = nfs.readdirplus(&request, args).await.unwrap();
        for entry in page.reply.entries.0 {
            names.push(String::from_utf8(entry.name.as_ref().to_vec()).unwrap());
            cookie = entry.cookie;
        }
        if page.reply.eof {
            break;
        }
        pages += 1;
        fs::write(folder.0.join(format!("new-{pages}")), "").unwrap();
        let _ = fs::remove_file(folder.0.join(format!("new-{}", pages - 1)));
    }
    assert!(pages > 5, "{pages} pages");
    assert!(names.starts_with(&[String::from("."), String::from("..")]));
    names.retain(|name| name.starts_with("lasting"));
    names.sort();
    let expected: Vec<_> = (0..200).map(|number| format!("lasting-{number:03}")).collect();
    assert_eq!(names, expected);
}

#[colored::test]
async fn the_mode_decides_what_a_user_may_do() {
    let folder = Folder::new();
    fs::write(folder.0.join("a"), "text").unwrap();
    let set = |mode| {
        fs::set_permissions(folder.0.join("a"), fs::Permissions::from_mode(mode)).unwrap();
    };
    let (nfs, request) = (open(&folder.0).await, owner(&folder));
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).unwrap();
    let top = nfs.top().await;
    let stranger = Request::new(Arc::new(UserMap::of([])), Some((0, &[0])), None);
    let file = nfs.seek(&stranger, &top, "a").await.unwrap();
    set(0o644);
    assert_eq!(nfs.get(&stranger, &file).await.unwrap(), b"text");
    assert_eq!(nfs.put(&stranger, &file, b"new").await, Err(Refused::DENIED));
    assert_eq!(nfs.make(&stranger, &top, "b").await, Err(Refused::DENIED));
    let args = ACCESS3args { object: file.clone(), access: ACCESS3_READ | ACCESS3_MODIFY };
    assert_eq!(nfs.access(&stranger, args).await.unwrap().access, ACCESS3_READ);
    set(0o600);
    assert_eq!(nfs.get(&stranger, &file).await, Err(Refused::DENIED));
    assert_eq!(nfs.get(&request, &file).await.unwrap(), b"text");
    let args = GETATTR3args { object: file };
    assert_eq!(nfs.getattr(&stranger, args).await.unwrap().obj_attributes.uid, 65534);
}
