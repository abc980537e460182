//! Paths that allocate nothing, as the allocator sees it.

use colored::Runtime;
use colored::fs::File;
use colored_benches::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

const READS: u64 = 1000;

/// The allocations of a thousand reads, each in one poll.
async fn read_in_memory(file: &File) -> usize {
    let mut buf = [0; 4096];
    let before = ALLOCATOR.allocations();
    for index in 0..READS {
        let read = file.read_at(&mut buf, index % 16 * 4096).await;
        assert_eq!(read.expect("the file is readable"), 4096);
    }
    ALLOCATOR.allocations() - before
}

/// Shows G13.
#[test]
fn a_cached_read_allocates_nothing() {
    super::alone(read_a_file);
}

fn read_a_file() {
    let path = std::env::temp_dir().join(format!("colored-allocations-{}", std::process::id()));
    std::fs::write(&path, [7; 1 << 16]).expect("the directory for temporary files is writable");
    let runtime = Runtime::builder().workers(1).build().expect("the runtime starts");
    let opened = path.clone();
    let (allocations, supported) = runtime.run(async move {
        let file = File::open(opened).await.expect("the file is there");
        read_in_memory(&file).await;
        // Another thread of the process may allocate meanwhile; it does not do so each time.
        let mut least = usize::MAX;
        for _ in 0..5 {
            least = least.min(read_in_memory(&file).await);
        }
        let files = colored::Handle::current().metrics().files;
        (least, files.iter().all(|of| of.unsupported == 0))
    });
    std::fs::remove_file(&path).expect("the file is there");
    if supported {
        assert_eq!(allocations, 0);
    } else {
        println!("skipped: the file system of {} has no attempts", path.display());
    }
}
