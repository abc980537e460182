//! The functions that take a number: a count, a size, an offset, an index.

use super::{Done, connect, connection, file, on};
use colored::diagnose::Options;
use colored::io::AsyncWriteExt;
use colored::net::{ConnectOptions, KeepAlive, ListenOptions, TcpListener, TcpSocket, UdpSocket};
use colored::runtime::Tuning;
use colored::signal::unix::{SignalKind, signal};
use colored::stage::{self, Batch, each};
use colored::task::{BlockingClass, JoinSet};
use colored::time::Duration;
use colored::{Builder, Color, Limit, Runtime, fs, sim};
use std::io;
use std::net::Ipv6Addr;

const U32: u64 = u32::MAX as u64;
const I32: u64 = i32::MAX as u64;
const SIZE: u64 = usize::MAX as u64;

fn size(value: u64) -> usize {
    usize::try_from(value).expect("the largest value is that of the type")
}

fn small(value: u64) -> u32 {
    u32::try_from(value).expect("the largest value is that of the type")
}

fn builds(builder: Builder) -> Done {
    let runtime = builder.tuning(Tuning::new().spare_workers(0)).build()?;
    runtime.run(async { colored::spawn_unique(async {}).await.unwrap() });
    Ok(())
}

fn one_worker() -> Builder {
    Runtime::builder().workers(1)
}

/// What only the system can say: a flag, a user. It must not be a panic.
fn whatever<T>(done: io::Result<T>) -> Done {
    drop(done);
    Ok(())
}

/// Does something with an open file, and removes it.
fn of_file<F: Future<Output = Done>>(f: impl FnOnce(fs::File) -> F) -> Done {
    let (path, file) = file();
    let done = on(async { f(fs::File::from_std(file).unwrap()).await });
    std::fs::remove_file(path).unwrap();
    done
}

fn of_path<T, F: Future<Output = io::Result<T>>>(f: impl FnOnce(std::path::PathBuf) -> F) -> Done {
    let path = std::env::temp_dir().join(format!("colored-extreme-{}", std::process::id()));
    let done = on(f(path.clone()));
    let _ = std::fs::remove_dir(&path);
    let _ = std::fs::remove_file(&path);
    whatever(done)
}

fn stage(set: impl FnOnce(stage::Builder<u8>) -> stage::Builder<u8>) -> Done {
    on(async {
        let stage = set(stage::Builder::new()).build(each(|_: u8| ()));
        stage.send(7).await.unwrap();
        stage.close();
    });
    Ok(())
}

fn run(set: impl FnOnce(&mut colored::process::Command)) -> Done {
    let mut command = colored::process::Command::new("true");
    set(&mut command);
    whatever(on(async { command.status().await }))
}

fn simulate(simulation: sim::Builder) -> Done {
    let report = simulation.run(|| async { colored::spawn_unique(async {}).await.unwrap() });
    drop(report);
    Ok(())
}

const GROUP: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xabcd);

/// The file and the function, the largest value of the type, and a call.
type Row = (&'static str, u64, fn(u64) -> Done);

pub(super) const ROWS: &[Row] = &[
    ("runtime/builder.rs::workers", SIZE, |of| {
        // Not so many that a machine has no room for them.
        match of {
            1025.. | 0 | 1 => builds(Runtime::builder().workers(size(of))),
            _ => Ok(()),
        }
    }),
    ("sim/builder.rs::workers", SIZE, |of| {
        simulate(sim::Builder::new().seeds(0..2).workers(size(of)..=size(of)))
    }),
    ("sim/builder.rs::seeds", u64::MAX, |of| {
        simulate(sim::Builder::new().seeds(of.saturating_sub(1)..of))
    }),
    ("sim/builder.rs::jobs", SIZE, |of| simulate(sim::Builder::new().seeds(0..2).jobs(size(of)))),
    ("sim/builder.rs::max_turns", u64::MAX, |of| {
        simulate(sim::Builder::new().seeds(0..2).max_turns(of))
    }),
    ("sim/fs.rs::set_capacity", u64::MAX, |of| {
        sim::Builder::new()
            .seeds(0..1)
            .run(move || async move {
                sim::fs::set_capacity("main", of);
                let written = fs::write("/a", [1; 100]).await;
                assert_eq!(written.is_ok(), of >= 100, "{written:?}");
            })
            .assert_passed();
        Ok(())
    }),
    ("sim/builder.rs::until_plateau", u64::MAX, |of| {
        simulate(sim::Builder::new().seeds(0..2).until_plateau(of))
    }),
    ("sim/builder.rs::exhaust", u64::MAX, |of| {
        let made = sim::Builder::new().exhaust(of, || async {});
        assert_eq!(made.is_complete(), of > 0, "{made}");
        Ok(())
    }),
    ("sim/run.rs::happens", U32, |of| {
        assert!(!colored::sim::buggify!(small(of)), "nothing fails outside a simulation");
        sim::Builder::new()
            .seeds(0..2)
            .run(move || async move {
                let _ = colored::sim::buggify!(small(of));
            })
            .assert_passed();
        Ok(())
    }),
    ("runtime/builder/tuning.rs::spare_workers", SIZE, |of| {
        one_worker().tuning(Tuning::new().spare_workers(size(of))).build().map(drop)
    }),
    ("runtime/builder.rs::blocking_threads", SIZE, |of| {
        builds(one_worker().blocking_threads(size(of)))
    }),
    ("runtime/builder.rs::thread_stack_size", SIZE, |of| {
        builds(one_worker().thread_stack_size(size(of)))
    }),
    ("runtime/builder/tuning.rs::slice", U32, |of| {
        builds(one_worker().tuning(Tuning::new().slice(small(of), Duration::from_millis(1))))
    }),
    ("diagnose/options/trace.rs::trace_bytes", SIZE, |of| {
        builds(one_worker().diagnose(Options::new().trace_bytes(size(of))))
    }),
    ("runtime/handle.rs::limit", SIZE, |of| {
        let runtime = one_worker().build().unwrap();
        let limit = runtime.handle().limit(7, size(of));
        assert_eq!(limit.capacity(), size(of));
        Ok(())
    }),
    ("runtime/handle.rs::pinned_cell", SIZE, |of| {
        let runtime = one_worker().build().unwrap();
        runtime.handle().pinned_cell(size(of), 7, || ()).map(drop).map_err(io::Error::other)
    }),
    ("runtime/handle.rs::spawn_pinned", SIZE, |of| {
        let runtime = one_worker().build().unwrap();
        let spawned = runtime.handle().spawn_pinned(size(of), 7, || async {});
        spawned.map(drop).map_err(io::Error::other)
    }),
    ("pinned.rs::on_worker", SIZE, |of| {
        let made = on(async { colored::PinnedCell::on_worker(size(of), 7, || ()) });
        made.map(drop).map_err(io::Error::other)
    }),
    ("pinned/spawn.rs::spawn_pinned", SIZE, |of| {
        let spawned = on(async { colored::spawn_pinned(size(of), 7, || async {}) });
        spawned.map(drop).map_err(io::Error::other)
    }),
    ("colored-limit/limit.rs::new", SIZE, |of| {
        on(async {
            let limit = Limit::new(7, size(of));
            if of > 0 {
                limit.spawn(async {}).await.unwrap();
            }
        });
        Ok(())
    }),
    ("colored-core/color.rs::new", u64::MAX, |of| {
        on(async { colored::spawn_colored(Color::new(of), async {}).await.unwrap() });
        Ok(())
    }),
    ("blocking/class.rs::new", SIZE, |of| {
        on(async {
            let class = BlockingClass::new("extreme", size(of))?;
            class.spawn(|| ()).await.unwrap();
            Ok(())
        })
    }),
    ("colored-stage/stage/builder.rs::capacity", SIZE, |of| {
        stage(|stage| stage.capacity(size(of)))
    }),
    ("colored-stage/stage/builder.rs::parallel", SIZE, |of| {
        stage(|stage| stage.parallel(size(of), |event| *event))
    }),
    ("colored-stage/stage/builder.rs::parallel_by", SIZE, |of| {
        stage(|stage| stage.parallel_by(size(of), |_| 0))
    }),
    ("colored-stage/stage/batching.rs::Fixed", SIZE, |of| {
        stage(|stage| stage.batch(Batch::Fixed(size(of))))
    }),
    ("colored-stage/stage/batching.rs::Adaptive", SIZE, |of| {
        stage(|stage| stage.batch(Batch::Adaptive { max: size(of) }))
    }),
    ("task/join_set.rs::limit", SIZE, |of| {
        on(async {
            let mut group = JoinSet::new().limit(size(of));
            group.spawn_unique(async {});
            group.join_next().await.unwrap().unwrap();
        });
        Ok(())
    }),
    ("net/tcp/connect.rs::send_buffer", SIZE, |of| {
        connect(ConnectOptions::new().send_buffer(size(of)))
    }),
    ("net/tcp/connect.rs::receive_buffer", SIZE, |of| {
        connect(ConnectOptions::new().receive_buffer(size(of)))
    }),
    ("net/tcp/socket.rs::set_recv_buffer_size", U32, |of| {
        TcpSocket::new_v4()?.set_recv_buffer_size(small(of))
    }),
    ("net/tcp/socket.rs::set_send_buffer_size", U32, |of| {
        TcpSocket::new_v4()?.set_send_buffer_size(small(of))
    }),
    ("net/tcp/socket.rs::listen", U32, |of| {
        on(async { TcpSocket::new_v4()?.listen(small(of)).map(drop) })
    }),
    ("net/tcp/listen.rs::backlog", U32, |of| {
        on(async { ListenOptions::new().backlog(small(of)).listen("127.0.0.1:0").await.map(drop) })
    }),
    ("net/tcp/listen.rs::ttl", U32, |of| {
        on(async { ListenOptions::new().ttl(small(of)).listen("127.0.0.1:0").await.map(drop) })
    }),
    ("net/tcp/listener.rs::set_ttl", U32, |of| {
        on(async { TcpListener::bind("127.0.0.1:0").await.unwrap().set_ttl(small(of)) })
    }),
    ("net/tcp/options.rs::set_ttl", U32, |of| on(async { connection().await.set_ttl(small(of)) })),
    ("net/tcp/keep_alive.rs::probes", U32, |of| {
        let options = KeepAlive::new().probes(small(of));
        on(async { connection().await.set_keep_alive(Some(options)) })
    }),
    ("net/traffic_class.rs::set_tos_v4", U32, |of| TcpSocket::new_v4()?.set_tos_v4(small(of))),
    ("net/traffic_class.rs::set_tclass_v6", U32, |of| match TcpSocket::new_v6() {
        Ok(socket) => socket.set_tclass_v6(small(of)),
        // A machine without IPv6.
        Err(_) => Ok(()),
    }),
    ("net/udp.rs::join_multicast_v6", U32, |of| {
        on(async {
            match UdpSocket::bind("[::1]:0").await {
                Ok(socket) => socket.join_multicast_v6(&GROUP, small(of)),
                Err(_) => Ok(()),
            }
        })
    }),
    ("net/udp.rs::leave_multicast_v6", U32, |of| {
        on(async {
            match UdpSocket::bind("[::1]:0").await {
                Ok(socket) => socket.leave_multicast_v6(&GROUP, small(of)),
                Err(_) => Ok(()),
            }
        })
    }),
    ("net/connection.rs::send_file", u64::MAX, |of| {
        let (path, file) = file();
        let done = on(async {
            let file = fs::File::from_std(file).unwrap();
            let stream = connection().await;
            let end = of.saturating_add(1);
            // That there is nothing at this position is no fault of the position.
            whatever(stream.send_file(&file, &mut (of..end)).await)?;
            stream.send_file(&file, &mut (of..of)).await
        });
        std::fs::remove_file(path).unwrap();
        done
    }),
    ("net/connection.rs::try_send_file", u64::MAX, |of| {
        let (path, file) = file();
        let done = on(async {
            let file = fs::File::from_std(file).unwrap();
            let stream = connection().await;
            assert_eq!(stream.try_send_file(&file, of..of)?, 0);
            stream.try_send_file(&file, of..of.saturating_add(1)).map(drop)
        });
        std::fs::remove_file(path).unwrap();
        done
    }),
    ("fs/file.rs::read_at", u64::MAX, |of| {
        of_file(async |file: fs::File| file.read_at(&mut [0; 4], of).await.map(drop))
    }),
    ("fs/file.rs::read_exact_at", u64::MAX, |of| {
        of_file(async |file: fs::File| match file.read_exact_at(&mut [0; 4], of).await {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            done => done,
        })
    }),
    ("fs/file.rs::write_at", u64::MAX, |of| {
        of_file(async |file: fs::File| file.write_at(b"x", of).await.map(drop))
    }),
    ("fs/file.rs::write_all_at", u64::MAX, |of| {
        of_file(async |file: fs::File| file.write_all_at(b"x", of).await)
    }),
    ("fs/file.rs::set_len", u64::MAX, |of| {
        of_file(async |mut file: fs::File| {
            file.set_len(of).await?;
            file.flush().await
        })
    }),
    ("fs/open.rs::mode", U32, |of| {
        of_path(async |path| {
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).mode(small(of)).open(path).await
        })
    }),
    ("fs/open.rs::custom_flags", I32, |of| {
        of_path(async |path| {
            let flags = i32::try_from(of).expect("the largest value is that of the type");
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).custom_flags(flags).open(path).await
        })
    }),
    ("fs/dir_builder.rs::mode", U32, |of| {
        of_path(async |path| fs::DirBuilder::new().mode(small(of)).create(path).await)
    }),
    ("process/command.rs::uid", U32, |of| run(|command| _ = command.uid(small(of)))),
    ("process/command.rs::gid", U32, |of| run(|command| _ = command.gid(small(of)))),
    ("process/command.rs::process_group", I32, |of| {
        run(|command| _ = command.process_group(small(of) as i32))
    }),
    ("signal/unix.rs::from_raw", I32, |of| match of {
        // To listen to it would be for the rest of the process.
        1 => Ok(()),
        _ => on(async { signal(SignalKind::from_raw(small(of) as i32)).map(drop) }),
    }),
];
