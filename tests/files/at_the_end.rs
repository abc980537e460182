//! The end of a runtime in the middle of file operations, and files that outlive it.

use super::runtime_that_is;
use colored::fs::{self, File};
use colored::time::Duration;
use colored::{Runtime, spawn_unique};
use colored_tests::scratch::Scratch;
use colored_tests::{panic_of, shared};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Shows G13.
#[test]
fn a_shutdown_in_the_middle_of_a_thousand_operations_ends() {
    shared(|| {
        for lazy in [true, false] {
            let scratch = Scratch::new();
            let path = scratch.file("file", vec![7; 1 << 16]);
            let runtime = runtime_that_is(lazy, 2);
            runtime.run(async move {
                let file =
                    Arc::new(File::options().read(true).write(true).open(path).await.unwrap());
                for i in 0..1000 {
                    let file = Arc::clone(&file);
                    drop(spawn_unique(async move {
                        let mut buf = vec![0; 1 << 12];
                        loop {
                            file.read_at(&mut buf, i).await.unwrap();
                            file.write_at(&buf, i).await.unwrap();
                        }
                    }));
                }
                colored::time::sleep(Duration::from_millis(20)).await;
            });
            runtime.shutdown_timeout(Duration::from_secs(30)).unwrap();
        }
    });
}

#[test]
fn a_file_of_a_runtime_that_is_gone_gives_an_error() {
    shared(|| {
        let scratch = Scratch::new();
        let path = scratch.file("file", "bytes");
        let gone = runtime_that_is(false, 1);
        let file = gone.run(async move { File::open(path).await.unwrap() });
        gone.shutdown_timeout(Duration::from_secs(30)).unwrap();
        let other = Runtime::builder().workers(1).build().unwrap();
        let error = other.run(async move { file.read_at(&mut [0; 5], 0).await.unwrap_err() });
        assert!(error.to_string().contains("the runtime has shut down"), "{error}");
    });
}

#[test]
fn a_file_outside_a_runtime_panics_with_the_reason() {
    let said =
        panic_of(|| File::from_std(std::fs::File::open(std::env::current_exe().unwrap()).unwrap()));
    assert!(said.contains("this thread is in no `colored` runtime"), "{said}");
}

#[test]
fn an_operation_on_a_path_outside_a_runtime_says_how_to_enter_one() {
    let operations: [fn() -> io::Result<()>; 3] = [
        || foreign(fs::metadata(".")).map(drop),
        || foreign(File::open(".")).map(drop),
        || foreign(fs::read_dir(".")).map(drop),
    ];
    for operation in operations {
        let said = panic_of(operation);
        assert!(said.contains("sockets, timers, files and blocking calls are made"), "{said}");
        assert!(said.contains("while the guard of `Handle::enter` lives"), "{said}");
    }
}

#[test]
fn any_executor_may_poll_the_operations() {
    shared(|| {
        let scratch = Scratch::new();
        let path = scratch.path().join("file");
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let file = {
            let _inside = runtime.enter();
            foreign(async {
                fs::write(&path, "bytes").await.unwrap();
                assert_eq!(fs::metadata(&path).await.unwrap().len(), 5);
                File::open(&path).await.unwrap()
            })
        };
        // A file keeps its runtime.
        let mut bytes = [0; 5];
        foreign(file.read_exact_at(&mut bytes, 0)).unwrap();
        assert_eq!(&bytes, b"bytes");
        assert_eq!(foreign(file.metadata()).unwrap().len(), 5);
    });
}

/// An executor that knows of no runtime.
fn foreign<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn a_wrong_environment_variable_is_an_error_of_the_builder() {
    colored_tests::child::run_after(
        "export COLORED_LAZY_FILES=maybe",
        module_path!(),
        "a_wrong_environment_variable_is_an_error_of_the_builder",
        || {
            let error = Runtime::builder().workers(1).build().unwrap_err().to_string();
            assert!(
                error.contains("COLORED_LAZY_FILES is \"maybe\": allowed are 0 and 1"),
                "{error}"
            );
        },
    );
}
