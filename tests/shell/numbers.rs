//! Errors have the kind and the number of the standard library's for the same failure, and `named` gives the operation and its
//! object.

use colored::fs::{self, DirBuilder, File, OpenOptions};
use colored::io::{NamedError, named, named_call};
use colored::net::unix::pipe;
use colored::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream};
use colored::process::Command;
use colored_tests::run;
use colored_tests::scratch::Scratch;
use std::error::Error;
use std::fs::Permissions;
use std::future::Future;
use std::io;
use std::net as std_net;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net as std_unix;

/// What a row checks: its name, ours, and the standard library's.
struct Row {
    what: String,
    ours: io::Error,
    named: NamedError,
    theirs: io::Error,
}

impl Row {
    /// Of an operation that is a future.
    async fn of<T, U, F: Future<Output = io::Result<T>>>(
        what: impl Into<String>,
        ours: impl Fn() -> F,
        theirs: impl FnOnce() -> io::Result<U>,
    ) -> Row {
        let fails = "the operation fails";
        Row {
            what: what.into(),
            ours: ours().await.err().expect(fails),
            named: named(ours()).await.err().expect(fails),
            theirs: theirs().err().expect(fails),
        }
    }

    /// Of a call.
    fn call<T, U>(
        what: impl Into<String>,
        ours: impl Fn() -> io::Result<T>,
        theirs: impl FnOnce() -> io::Result<U>,
    ) -> Row {
        let fails = "the call fails";
        Row {
            what: what.into(),
            ours: ours().err().expect(fails),
            named: named_call(&ours).err().expect(fails),
            theirs: theirs().err().expect(fails),
        }
    }

    fn check(self) {
        let Row { what, ours, named, theirs } = self;
        let number = theirs.raw_os_error();
        assert!(number.is_some(), "{what}: {theirs:?}");
        assert_eq!((ours.kind(), ours.raw_os_error()), (theirs.kind(), number), "{what}: {ours:?}");
        assert_eq!((named.kind(), named.raw_os_error()), (theirs.kind(), number), "{what}");
        let text = named.to_string();
        assert!(text.starts_with(&format!("cannot {what}: ")), "{text}");
        assert!(text.contains(&theirs.to_string()), "{text}");
        let source = named.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.and_then(io::Error::raw_os_error), number, "{what}");
        // `?` keeps the number.
        assert_eq!(io::Error::from(named).raw_os_error(), number);
    }
}

#[test]
fn errors_of_sockets_have_the_numbers_of_the_system() {
    run(2, async {
        let held = std_net::TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = held.local_addr().unwrap();
        let connect = format!("connect to {}", "127.0.0.1:1");
        let closed = "127.0.0.1:1";
        let of = |addr| std_net::TcpStream::connect(addr);
        Row::of(connect, || TcpStream::connect(closed), || of(closed)).await.check();
        let listen = format!("listen on {taken}");
        Row::of(&listen, || TcpListener::bind(taken), || std_net::TcpListener::bind(taken))
            .await
            .check();
        let per_worker = || TcpListener::bind_per_worker(taken);
        Row::of(&listen, per_worker, || std_net::TcpListener::bind(taken)).await.check();
        drop(held);
        let udp = std_net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let addr = udp.local_addr().unwrap();
        let bind = format!("bind to {addr}");
        Row::of(bind, || UdpSocket::bind(addr), || std_net::UdpSocket::bind(addr)).await.check();
        let (one, long) = (UdpSocket::bind("127.0.0.1:0").await.unwrap(), vec![0; 70_000]);
        let send = format!("send 70000 bytes to {addr}");
        Row::of(send, || one.send_to(&long, addr), || udp.send_to(&long, addr)).await.check();
    });
}

#[test]
fn errors_of_unix_sockets_and_pipes_have_the_numbers_of_the_system() {
    run(2, async {
        let scratch = Scratch::new();
        let (gone, plain) = (scratch.join("gone"), scratch.file("plain", "bytes"));
        for path in [&gone, &plain] {
            let at = path.display();
            let of = || std_unix::UnixStream::connect(path);
            Row::of(format!("connect to {at}"), || UnixStream::connect(path), of).await.check();
        }
        let at = plain.display();
        let of = || std_unix::UnixListener::bind(&plain);
        Row::call(format!("listen on {at}"), || UnixListener::bind(&plain), of).check();
        let of = || std_unix::UnixDatagram::bind(&plain);
        Row::call(format!("bind to {at}"), || UnixDatagram::bind(&plain), of).check();
        let (ours, theirs) =
            (UnixDatagram::unbound().unwrap(), std_unix::UnixDatagram::unbound().unwrap());
        let at = gone.display();
        let of = || theirs.send_to(b"x", &gone);
        Row::of(format!("send to {at}"), || ours.send_to(b"x", &gone), of).await.check();
        let of = || theirs.connect(&gone);
        Row::call(format!("connect to {at}"), || ours.connect(&gone), of).check();
        let open = || pipe::OpenOptions::new().open_receiver(&gone);
        let of = || std::fs::File::open(&gone);
        Row::call(format!("open the pipe {at}"), open, of).check();
        let program = gone.to_str().unwrap();
        let of = || std::process::Command::new(program).spawn();
        Row::call(format!("start {program}"), || Command::new(program).spawn(), of).check();
        let of = || std::process::Command::new(program).output();
        Row::of(format!("start {program}"), || Command::new(program).output(), of).await.check();
    });
}

#[test]
fn errors_of_paths_have_the_numbers_of_the_system() {
    run(2, async {
        let scratch = Scratch::new();
        let (gone, plain) = (&scratch.join("gone"), &scratch.file("plain", "bytes"));
        let (under, other) = (&plain.join("under"), &scratch.join("other"));
        for path in [gone, under] {
            let at = path.display();
            let open = format!("open {at}");
            Row::of(&open, || File::open(path), || std::fs::File::open(path)).await.check();
            Row::of(&open, || fs::read(path), || std::fs::read(path)).await.check();
            Row::of(&open, || fs::read_to_string(path), || std::fs::read_to_string(path))
                .await
                .check();
            let options = || {
                let mut options = OpenOptions::new();
                options.append(true);
                async move { options.open(path).await }
            };
            let of = || std::fs::OpenOptions::new().append(true).open(path);
            Row::of(&open, options, of).await.check();
            let look = format!("read the metadata of {at}");
            Row::of(&look, || fs::metadata(path), || std::fs::metadata(path)).await.check();
            let of = || std::fs::symlink_metadata(path);
            Row::of(&look, || fs::symlink_metadata(path), of).await.check();
            let (list, of) = (format!("list {at}"), || std::fs::read_dir(path));
            Row::of(list, || fs::read_dir(path), of).await.check();
            let (remove, of) = (format!("remove the file {at}"), || std::fs::remove_file(path));
            Row::of(remove, || fs::remove_file(path), of).await.check();
            let rename = format!("rename {at} to {}", other.display());
            Row::of(rename, || fs::rename(path, other), || std::fs::rename(path, other))
                .await
                .check();
        }
        let make = format!("make the directory {}", plain.display());
        Row::of(&make, || fs::create_dir(plain), || std::fs::create_dir(plain)).await.check();
        let build = || async { DirBuilder::new().create(plain).await };
        Row::of(&make, build, || std::fs::create_dir(plain)).await.check();
        // The rest names what it names; the numbers are those of the system.
        let check = |ours: io::Error, theirs: io::Error| {
            let number = theirs.raw_os_error();
            assert!(number.is_some(), "{theirs:?}");
            assert_eq!((ours.kind(), ours.raw_os_error()), (theirs.kind(), number), "{ours:?}");
        };
        check(fs::remove_dir(plain).await.unwrap_err(), std::fs::remove_dir(plain).unwrap_err());
        let of = std::fs::remove_dir_all(gone).unwrap_err();
        check(fs::remove_dir_all(gone).await.unwrap_err(), of);
        check(fs::read_link(plain).await.unwrap_err(), std::fs::read_link(plain).unwrap_err());
        check(fs::canonicalize(gone).await.unwrap_err(), std::fs::canonicalize(gone).unwrap_err());
        let of = std::fs::hard_link(gone, other).unwrap_err();
        check(fs::hard_link(gone, other).await.unwrap_err(), of);
        check(fs::copy(gone, other).await.unwrap_err(), std::fs::copy(gone, other).unwrap_err());
        check(fs::write(under, "x").await.unwrap_err(), std::fs::write(under, "x").unwrap_err());
        let of = std::fs::create_dir_all(under).unwrap_err();
        check(fs::create_dir_all(under).await.unwrap_err(), of);
        let (ours, theirs) = (Permissions::from_mode(0o600), Permissions::from_mode(0o600));
        let of = std::fs::set_permissions(gone, theirs).unwrap_err();
        check(fs::set_permissions(gone, ours).await.unwrap_err(), of);
    });
}

/// What `named` hears is of its own future.
#[test]
fn a_name_is_that_of_the_failure_and_of_no_other() {
    run(2, async {
        let scratch = Scratch::new();
        let path = |n: u32| scratch.join(&format!("gone-{n}"));
        // Beside each other, in one poll and in many.
        let (a, b, c) = (path(1), path(2), path(3));
        let (a, b, c) = colored::join!(
            named(File::open(&a)),
            named(async { UnixListener::bind(b.join("socket")) }),
            named(fs::metadata(&c))
        );
        for (n, error) in [a.map(drop), b.map(drop), c.map(drop)].into_iter().zip(1..) {
            let _: u32 = error;
            let text = n.unwrap_err().to_string();
            assert!(text.contains(&format!("gone-{error}")), "{text}");
        }
        // The last one that failed, if the error is its.
        let last = named(async {
            File::open(path(4)).await.unwrap_err();
            fs::remove_file(path(5)).await
        });
        assert!(last.await.unwrap_err().to_string().contains("gone-5"));
        let other = named(async {
            File::open(path(4)).await.unwrap_err();
            io::Result::<()>::Err(io::Error::from_raw_os_error(13))
        });
        let text = other.await.unwrap_err().to_string();
        assert_eq!(text, io::Error::from_raw_os_error(13).to_string());
        // Nested: the inner one hears, and so does nobody else.
        let outer = named(async {
            named(File::open(path(6))).await.unwrap_err();
            io::Result::<()>::Err(io::Error::from_raw_os_error(2))
        });
        let text = outer.await.unwrap_err().to_string();
        assert!(!text.contains("gone-6"), "{text}");
        // Unless the inner error is passed on.
        let outer = named(async {
            named(File::open(path(7))).await?;
            io::Result::Ok(())
        });
        assert!(outer.await.unwrap_err().to_string().contains("gone-7"));
        // An error of ours, without a number, has its text by itself.
        let text = TcpStream::connect("localhost").await.unwrap_err();
        let same = named(TcpStream::connect("localhost")).await.unwrap_err();
        assert_eq!((text.to_string(), text.raw_os_error()), (same.to_string(), None));
    });
}
