//! Files that answer otherwise than a file on a disk: they refuse positions, or give less than they have.

use super::{File, Scratch, pattern, run_with};
use crate::device::Kind;
#[cfg(unix)]
use crate::fs::cursor::Cursor;
use crate::fs::fault::Fault;
#[cfg(unix)]
use crate::fs::open_file::OpenFile;
use crate::fs::system;
#[cfg(unix)]
use crate::fs::system::{FileType, Identity};
use crate::services::current;
use std::io::{ErrorKind, Seek, SeekFrom, Write};
#[cfg(unix)]
use std::sync::Arc;

/// A file on a file system that seems to be of that kind.
fn on(kind: Kind, file: std::fs::File) -> File {
    let identity = system::identify(&file).unwrap();
    current::with(|context| context.services.devices.get(identity.device).learn(kind));
    File::from_std(file).unwrap()
}

#[test]
fn a_file_that_refuses_positions_is_read_and_written_where_the_system_has_its_own() {
    let scratch = Scratch::new();
    std::fs::write(&scratch.0, pattern(1000)).unwrap();
    let path = scratch.0.clone();
    run_with(Some(Fault::Refused), async move {
        let opened = || std::fs::File::options().read(true).write(true).open(&path).unwrap();
        // The first operation may be of any sort.
        for first in 0..4 {
            let mut std = opened();
            std.seek(SeekFrom::Start(100)).unwrap();
            let mut file = File::from_std(std).unwrap();
            match first {
                0 => {
                    let mut buf = [0; 50];
                    assert_eq!(file.read(&mut buf).await.unwrap(), 50);
                    assert_eq!(buf[..], pattern(1000)[100..150]);
                }
                1 => assert_eq!(file.write(&pattern(1000)[100..150]).await.unwrap(), 50),
                2 => assert_eq!(file.seek(SeekFrom::Current(50)).await.unwrap(), 150),
                _ => {
                    let error = file.read_at(&mut [0; 5], 7).await.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::NotSeekable);
                    let error = file.write_at(&[0; 5], 7).await.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::NotSeekable);
                    assert_eq!(file.seek(SeekFrom::Start(150)).await.unwrap(), 150);
                }
            }
            let mut buf = [0; 10];
            assert_eq!(file.read(&mut buf).await.unwrap(), 10, "{first}");
            assert_eq!(buf[..], pattern(1000)[150..160], "{first}");
            assert_eq!(file.write(&pattern(1000)[160..900]).await.unwrap(), 740);
            assert_eq!(file.seek(SeekFrom::Current(-1)).await.unwrap(), 899, "{first}");
            let mut rest = Vec::new();
            assert_eq!(file.read_to_end(&mut rest).await.unwrap(), 101);
            assert_eq!(rest, pattern(1000)[899..]);
            // The system's position is shared.
            let mut same = file.try_clone().await.unwrap();
            assert_eq!(same.seek(SeekFrom::End(-10)).await.unwrap(), 990);
            assert_eq!(file.read(&mut buf).await.unwrap(), 10);
            let mut std = file.into_std().await.unwrap();
            assert_eq!(std.stream_position().unwrap(), 1000);
        }
        let mut appended = std::fs::File::options().append(true).open(&path).unwrap();
        appended.flush().unwrap();
        let mut file = File::from_std(appended).unwrap();
        assert_eq!(file.write(b"end").await.unwrap(), 3);
        assert_eq!(std::fs::read(&path).unwrap()[1000..], *b"end");
    });
}

#[test]
fn of_a_file_that_a_process_serves_a_read_returns_what_one_answer_has() {
    let scratch = Scratch::new();
    std::fs::write(&scratch.0, pattern(10_000)).unwrap();
    let path = scratch.0.clone();
    run_with(Some(Fault::Short(1000)), async move {
        for (kind, wanted) in [(Kind::Served, 1000), (Kind::Remote, 10_000)] {
            let world = crate::services::testing::World::new();
            let path = path.clone();
            world.block_on(async move {
                let mut file = on(kind, std::fs::File::open(&path).unwrap());
                let mut buf = vec![0; 20_000];
                assert_eq!(file.read_at(&mut buf, 0).await.unwrap(), wanted, "{kind:?}");
                assert_eq!(file.read(&mut buf).await.unwrap(), wanted, "{kind:?}");
                assert_eq!(buf[..wanted], pattern(10_000)[..wanted]);
                let mut all = Vec::new();
                file.seek(SeekFrom::Start(0)).await.unwrap();
                assert_eq!(file.read_to_end(&mut all).await.unwrap(), 10_000, "{kind:?}");
                assert_eq!(all, pattern(10_000));
                file.read_exact_at(&mut buf[..900], 100).await.unwrap();
            });
        }
    });
}

/// A file system that nobody has heard of may have files that wait, too.
#[cfg(target_os = "linux")]
#[test]
fn a_file_without_a_length_gives_what_one_answer_has_on_any_file_system() {
    let ((), metrics) = run_with(None, async {
        let mut file = on(Kind::Remote, std::fs::File::open("/proc/self/status").unwrap());
        let mut buf = vec![0; 1 << 16];
        let n = file.read(&mut buf).await.unwrap();
        assert!(n > 100 && buf.starts_with(b"Name:"));
    });
    assert_eq!(metrics[0].deferred, 1, "the length of 0 says that there is no more");
}

/// The block devices that this process may read.
#[cfg(target_os = "linux")]
fn block_devices() -> impl Iterator<Item = std::fs::File> {
    let names = std::fs::read_dir("/sys/class/block").into_iter().flatten().flatten();
    let open = |name| std::fs::File::open(std::path::Path::new("/dev").join(name));
    let files = names.filter_map(move |entry| open(entry.file_name()).ok());
    files.filter(|file| (&*file).seek(SeekFrom::End(0)).is_ok_and(|length| length > 0)).take(2)
}

#[cfg(target_os = "linux")]
#[test]
fn a_seek_has_the_answer_of_the_standard_library() {
    let scratch = Scratch::new();
    std::fs::write(&scratch.0, pattern(10_000)).unwrap();
    let (pipe, _writer) = std::io::pipe().unwrap();
    let opened = |path: &str| std::fs::File::open(path).unwrap();
    let mut files = vec![opened(scratch.0.to_str().unwrap()), opened("/dev/null")];
    files.extend([opened("/proc/self/status"), std::os::fd::OwnedFd::from(pipe).into()]);
    files.extend(block_devices());
    run_with(None, async move {
        for file in files {
            let length = (&file).seek(SeekFrom::End(0)).unwrap_or(0);
            let mut targets: Vec<_> = [0, 100, length, length + 1, 1 << 62, 1 << 63, u64::MAX]
                .map(SeekFrom::Start)
                .into();
            let offsets = [0, -1, 1, i64::MIN, i64::MAX, 100 - length as i64];
            targets
                .extend(offsets.into_iter().flat_map(|o| [SeekFrom::Current(o), SeekFrom::End(o)]));
            let mut ours = File::from_std(file.try_clone().unwrap()).unwrap();
            for target in targets {
                // The system has one position for the two.
                let before = ours.seek(SeekFrom::Current(0)).await;
                let put_back =
                    || before.iter().all(|before| (&file).seek(SeekFrom::Start(*before)).is_ok());
                assert!(put_back());
                let expected = (&file).seek(target);
                assert!(put_back());
                let of = |result: std::io::Result<u64>| {
                    result.map_err(|error| (error.kind(), error.raw_os_error()))
                };
                assert_eq!(of(ours.seek(target).await), of(expected), "{target:?} in {file:?}");
            }
        }
    });
}

/// What a test can know of block devices where there is none.
#[cfg(unix)]
#[test]
fn the_end_of_a_block_device_is_where_the_system_seeks_it() {
    let scratch = Scratch::new();
    std::fs::write(&scratch.0, pattern(10_000)).unwrap();
    let path = scratch.0.clone();
    let ((), metrics) = run_with(None, async move {
        let std = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        let device = system::identify(&std).unwrap().device;
        let context = current::with(Arc::clone);
        let open = OpenFile::new(std.into(), None, context, false);
        open.learn(Identity { device, file_type: FileType::Block });
        let mut file = File { cursor: Cursor::new(Arc::new(open), 0, false) };
        assert_eq!(file.seek(SeekFrom::End(-100)).await.unwrap(), 9900);
        let mut buf = [0; 200];
        assert_eq!(file.read(&mut buf).await.unwrap(), 100);
        assert_eq!(file.seek(SeekFrom::Current(0)).await.unwrap(), 10_000);
        assert_eq!(file.write_at(&[7; 100], 0).await.unwrap(), 100);
        file.seek(SeekFrom::Start(0)).await.unwrap();
        let mut all = Vec::new();
        assert_eq!(file.read_to_end(&mut all).await.unwrap(), 10_000);
        assert_eq!(all[..100], [7; 100]);
        assert_eq!(all[100..], pattern(10_000)[100..]);
    });
    assert_eq!(metrics[0].hits, 0, "an attempt would wait for the device");
}
