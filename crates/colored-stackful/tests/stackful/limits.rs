//! The limits of the system on stacks, each in a process of its own: the error says which limit it is, and nothing else is
//! lost.
#![cfg(all(target_os = "linux", target_endian = "little"))]

use colored::runtime::Tuning;
use colored::sync::oneshot;
use colored::task::JoinHandle;
use colored::time::{Duration, sleep};
use colored::{Color, Runtime, spawn_colored};
use colored_stackful as stackful;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{fs, io, ptr};

const VARIABLE: &str = "COLORED_STACKFUL_LIMITS";

/// So many tasks find no stack in the end.
const REFUSED: usize = 20;
/// More than the limits below leave room for.
const MOST: usize = 5_000;

/// Runs the test `name` of this program, with the variable that it asks for.
fn in_a_child(name: &str) -> (Output, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let test = format!("limits::{name}");
    let child = child.args(["--exact", &test, "--nocapture"]).env(VARIABLE, name);
    let output = child.env("RUST_BACKTRACE", "0").output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}

fn is_child(name: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|child| child == name)
}

/// Has the system refuse `MADV_GUARD_INSTALL` to this thread and those that it starts, as Linux before 6.13 does.
fn refuse_guards_inside_of_mappings() {
    const GUARD_INSTALL: u32 = 102;
    /// Where the number of the call and its third argument are.
    const CALL: u32 = 0;
    const ADVICE: u32 = 16 + 2 * 8;
    let load = |place| (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place, 0);
    // Goes on behind so many instructions if the value is another one.
    let compare = |value, skip| (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, skip);
    let end = |answer| (libc::BPF_RET | libc::BPF_K, answer, 0);
    let program = [
        load(CALL),
        compare(libc::SYS_madvise as u32, 3),
        load(ADVICE),
        compare(GUARD_INSTALL, 1),
        end(libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
        end(libc::SECCOMP_RET_ALLOW),
    ];
    let instruction = |(code, k, jf)| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let mut program = program.map(instruction);
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: it changes what this process may do, and no memory.
    let given_up = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(given_up, 0, "{}", io::Error::last_os_error());
    // SAFETY: the filter and its program are there for the call.
    let set =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    assert_eq!(set, 0, "{}", io::Error::last_os_error());
}

fn protect(page: usize, access: libc::c_int) -> bool {
    // SAFETY: the page is one of `leave_mappings`, and nobody uses it.
    unsafe { libc::mprotect(ptr::with_exposed_provenance_mut(page), page_size(), access) == 0 }
}

fn page_size() -> usize {
    // SAFETY: the call only asks.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Makes mappings until the process may have only about so many more.
fn leave_mappings(left: usize) {
    let most = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
    let most: usize = most.trim().parse().unwrap();
    let bytes = 2 * most * page_size();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address that the system chooses touches nothing that exists.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    assert_ne!(start, libc::MAP_FAILED, "{}", io::Error::last_os_error());
    let start = start.expose_provenance();
    let pages = (start..start + bytes).step_by(2 * page_size());
    let made: Vec<_> = pages.take_while(|page| protect(*page, libc::PROT_READ)).collect();
    assert!(made.len() < most, "there is no limit");
    let (kept, freed) = made.split_at(made.len() - left / 2);
    KEPT.lock().unwrap().extend(&kept[kept.len() - 100..]);
    free(freed);
}

/// Pages that are mappings of their own.
static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Each is one with its neighbors again.
fn free(pages: &[usize]) {
    for page in pages {
        assert!(protect(*page, libc::PROT_NONE));
    }
}

/// Lets the process have so many more bytes of addresses.
fn leave_addresses(left: usize) {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').next().unwrap().parse().unwrap();
    let most = (pages * page_size() + left) as libc::rlim_t;
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the limit is there for the call.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(set, 0, "{}", io::Error::last_os_error());
}

struct Count(Arc<AtomicUsize>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A task that has begun and waits, with what ends it.
type Waiting = (oneshot::Sender<usize>, JoinHandle<usize>);

/// Spawns a task, and returns it if it has begun. Otherwise returns the text of its panic.
async fn begin(
    builder: stackful::Builder<'_>,
    dropped: &Arc<AtomicUsize>,
) -> Result<Waiting, String> {
    let (begins, begun) = oneshot::channel();
    let (end, ended) = oneshot::channel();
    let count = Count(Arc::clone(dropped));
    let task = builder.spawn(move || {
        let _count = count;
        begins.send(()).unwrap();
        stackful::wait(ended).unwrap()
    });
    if begun.await.is_ok() {
        return Ok((end, task));
    }
    let payload = task.await.unwrap_err().try_into_panic().unwrap();
    Err(*payload.downcast::<String>().unwrap())
}

/// Waits until no thread is about to start: std gives it its name first, and then makes mappings, and at the limit it aborts the
/// process if there is no room for them. So each has a name of its own, and each but this one sleeps.
async fn settle() {
    let of = |thread: &fs::DirEntry, file| fs::read_to_string(thread.path().join(file)).unwrap();
    let is_settled = || {
        let this = fs::read_link("/proc/thread-self").unwrap();
        let threads = fs::read_dir("/proc/self/task").unwrap().map(Result::unwrap);
        let (names, asleep): (BTreeSet<_>, Vec<_>) = threads
            .map(|thread| {
                let stat = of(&thread, "stat");
                let sleeps = stat.rsplit(')').next().unwrap().starts_with(" S");
                (of(&thread, "comm"), sleeps || Some(&*thread.file_name()) == this.file_name())
            })
            .unzip();
        names.len() == asleep.len() && asleep.iter().all(|sleeps| *sleeps)
    };
    for _ in 0..1_000 {
        if is_settled() {
            return;
        }
        sleep(Duration::from_millis(1)).await;
    }
    panic!("two threads have one name, or one does not come to rest");
}

/// Spawns until there is no stack for some, and checks that these panic with a text that names the `limit`, and that nothing
/// else is lost.
fn spawn_to_the_limit(size: usize, limit: fn(), names: &[&str]) {
    // No thread starts at the limit.
    let tuning = Tuning::new().spare_workers(0);
    let runtime = Runtime::builder().workers(2).tuning(tuning).build().unwrap();
    let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
    runtime.run(async move {
        let dropped = Arc::new(AtomicUsize::new(0));
        let builder = stackful::Builder::new().color(1).stack_size(size);
        // A stack that was taken before.
        let (end, first) = begin(builder, &dropped).await.unwrap();
        settle().await;
        limit();
        let (mut waiting, mut refused) = (vec![(end, first)], 0);
        while refused < REFUSED {
            match begin(builder, &dropped).await {
                Ok(task) => waiting.push(task),
                Err(text) => {
                    refused += 1;
                    assert_eq!(dropped.load(Ordering::Relaxed), refused, "the closure is dropped");
                    let start = format!("no stack of {size} bytes for the task spawned at ");
                    assert!(text.starts_with(&start) && text.contains(file!()), "{text}");
                    names.iter().for_each(|name| assert!(text.contains(name), "{name}: {text}"));
                }
            }
            assert!(waiting.len() < MOST, "there is no limit");
        }
        println!("{} stacks", waiting.len());

        // The color goes on.
        assert_eq!(
            spawn_colored(1, async { Color::current() }).await.unwrap(),
            Some(Color::new(1))
        );
        // A task that has begun catches the panic of a second stack, and goes on.
        let (end, last) = waiting.pop().unwrap();
        end.send(0).unwrap();
        last.await.unwrap();
        let nests = builder.spawn(move || {
            let inner = || stackful::exclusive(|| stackful::yield_now());
            let refused = size == DEFAULT && catch_unwind(AssertUnwindSafe(inner)).is_err();
            stackful::yield_now();
            refused
        });
        assert_eq!(nests.await.unwrap(), size == DEFAULT);

        // The stacks of ended tasks are taken again, and all tasks go on where they were.
        let begun = waiting.len();
        for round in 0..2 {
            for (index, (end, _)) in waiting.iter_mut().enumerate() {
                std::mem::replace(end, oneshot::channel().0).send(index + round).unwrap();
            }
            for (index, (_, task)) in waiting.drain(..).enumerate() {
                assert_eq!(task.await.unwrap(), index + round);
            }
            if round == 0 {
                for _ in 0..begun {
                    waiting.push(begin(builder, &dropped).await.expect("there is one in the pool"));
                }
            }
        }
        // A thread starts at the end of the runtime, to wait for tokio's.
        free(&KEPT.lock().unwrap());
    });
}

/// The stack of a section.
const DEFAULT: usize = 256 << 10;

#[test]
fn to_the_limit_of_mappings() {
    if is_child("to_the_limit_of_mappings") {
        refuse_guards_inside_of_mappings();
        spawn_to_the_limit(
            DEFAULT,
            || leave_mappings(400),
            &["as many mappings as the system allows", "`vm.max_map_count`", "fewer tasks"],
        );
    }
}

#[test]
fn to_the_limit_of_addresses() {
    if is_child("to_the_limit_of_addresses") {
        spawn_to_the_limit(
            64 << 20,
            || leave_addresses(1 << 30),
            &["refuses the process", "`ulimit -v`", "`stackful::Builder::stack_size`"],
        );
    }
}

#[test]
fn a_limit_is_named_and_nothing_else_is_lost() {
    for name in ["to_the_limit_of_mappings", "to_the_limit_of_addresses"] {
        let (output, text) = in_a_child(name);
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {told}{text}");
        assert!(told.contains(" stacks\n"), "{name} has not run: {told}");
    }
}
