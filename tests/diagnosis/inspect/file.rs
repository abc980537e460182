//! The file of the socket: who may connect, what it replaces, when it goes.

use super::{Reader, inspected, place, settings};
use colored::Runtime;
use colored_tests::{child, watched};
use std::env;
use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;

#[test]
fn the_socket_is_its_users_and_goes_with_the_runtime() {
    watched(|| {
        let (scratch, path) = place();
        let runtime = inspected(&path);
        let file = fs::symlink_metadata(&path).unwrap();
        assert!(file.file_type().is_socket());
        assert_eq!(file.permissions().mode() & 0o7777, 0o600);
        let _whole = Reader::connect(&path).snapshot();
        drop(runtime);
        let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

#[test]
fn every_kind_of_shutdown_removes_the_socket() {
    watched(|| {
        let (_scratch, path) = place();
        inspected(&path).shutdown_background();
        assert!(!path.exists());
        inspected(&path).shutdown_timeout(std::time::Duration::from_secs(60)).unwrap();
        assert!(!path.exists());
        let mut embedded = settings(&path).build_embedded().unwrap();
        embedded.block_on(async {});
        let _whole = Reader::connect(&path).snapshot();
        drop(embedded);
        assert!(!path.exists());
    });
}

/// The mode keeps other users out; where it is changed, the user of the peer does.
#[test]
fn another_user_is_refused() {
    const SOCKET: &str = "COLORED_TESTS_SOCKET";
    if env::var_os(SOCKET).is_none() {
        let setpriv = Command::new("setpriv").arg("--version").output();
        if !rustix::process::geteuid().is_root() || setpriv.is_err() {
            println!("skipped: it takes root and the program setpriv to be another user");
            return;
        }
    }
    watched(|| {
        let (scratch, path) = place();
        let served = env::var_os(SOCKET).is_none().then(|| inspected(&path));
        if served.is_some() {
            fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        }
        // The binary of the tests may be where another user may not go.
        let copy = scratch.join("tests");
        let copy = copy.display();
        // The shell copies it: a child that another test forks would hold our copy open, and no such file is executed.
        let line = format!(
            "cp \"$0\" '{copy}' && chmod 755 '{copy}'\nexport {SOCKET}='{}'\n\
            exec setpriv --reuid=65534 --regid=65534 --clear-groups '{copy}' \"$@\"",
            path.display()
        );
        child::run_after(&line, module_path!(), "another_user_is_refused", || {
            let mut reader = Reader::connect(env::var_os(SOCKET).unwrap().as_ref());
            assert_eq!(reader.error(), "only the user of the program, and root, may connect");
            assert!(reader.reply().is_none());
        });
    });
}

#[test]
fn the_socket_of_a_process_that_has_ended_is_replaced() {
    watched(|| {
        let (_scratch, path) = place();
        // A listener leaves its file behind. A child that another test has forked may hold it for a moment.
        drop(UnixListener::bind(&path).unwrap());
        while UnixStream::connect(&path).is_ok() {}
        let runtime = inspected(&path);
        let _whole = Reader::connect(&path).snapshot();
        drop(runtime);
        assert!(!path.exists());
    });
}

#[test]
fn a_socket_in_use_and_other_files_are_kept() {
    watched(|| {
        let (scratch, path) = place();
        let refuses = |kind: ErrorKind, part: &str| {
            let error = settings(&path).build().unwrap_err();
            assert_eq!(error.kind(), kind);
            let text = error.to_string();
            assert!(text.contains(path.to_str().unwrap()) && text.contains(part), "{text}");
        };
        let runtime = inspected(&path);
        refuses(ErrorKind::AddrInUse, "a process listens there");
        let _whole = Reader::connect(&path).snapshot();
        drop(runtime);

        fs::write(&path, "mine").unwrap();
        refuses(ErrorKind::AlreadyExists, "a file of another kind");
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        fs::remove_file(&path).unwrap();

        let elsewhere = scratch.join("elsewhere");
        drop(UnixListener::bind(&elsewhere).unwrap());
        symlink(&elsewhere, &path).unwrap();
        refuses(ErrorKind::AlreadyExists, "a file of another kind");
        assert!(elsewhere.exists());
    });
}

#[test]
fn a_file_that_has_taken_the_place_of_the_socket_stays() {
    watched(|| {
        let (_scratch, path) = place();
        let runtime = inspected(&path);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "mine").unwrap();
        drop(runtime);
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    });
}

#[test]
fn the_environment_names_the_socket() {
    const TEST: &str = "the_environment_names_the_socket";
    watched(|| {
        let (scratch, _) = place();
        let line = format!("export COLORED_INSPECT='{}/{{pid}}'", scratch.path().display());
        child::run_after(&line, module_path!(), TEST, || {
            let pattern = env::var("COLORED_INSPECT").unwrap();
            let path = pattern.replace("{pid}", &std::process::id().to_string());
            let runtime = Runtime::builder().workers(1).build().unwrap();
            let _whole = Reader::connect(path.as_ref()).snapshot();
            drop(runtime);
            assert!(!std::path::Path::new(&path).exists());
        });
    });
}

#[test]
fn an_empty_path_of_the_environment_is_an_error() {
    watched(|| {
        let test = "an_empty_path_of_the_environment_is_an_error";
        child::run_after("export COLORED_INSPECT=", module_path!(), test, || {
            let error = Runtime::builder().build().unwrap_err();
            assert!(error.to_string().contains("COLORED_INSPECT is \"\""), "{error}");
        });
    });
}
