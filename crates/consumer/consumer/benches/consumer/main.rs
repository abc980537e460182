//! Rows of a consumer on the embedded engine: `cargo bench -p colored-rt-consumer`. Names choose the rows.
//!
//! | row | what |
//! |---|---|
//! | `sleep KEYS` | 10,000 records whose handler sleeps 2 ms, 100 at a time: the time over its bound |
//! | `cpu` | CPU time of a record with a handler of 1 µs and 1,000 Zipf keys; the floor polls the member and drops the records |
//! | `partitions` | CPU time of a record with 12 partitions and with 1,000, all of which reach their bounds again and again |
//! | `compute` | handlers that compute 20 µs: 2, 8 and 16 workers over one, as far as the machine has them |
//! | `lag` | 10,000 records a second: the time from the confirmation of a record to the commit that covers it |
//! | `memory` | a process that holds 100,000 records in flight, and then has a million keys pass; by handlers at a time |
//! | `open` | the time to open a log whose last segment is nearly full |
//!
//! The peers of `sleep` and `cpu` are in `benches/peers`.

mod hold;
mod lag;
mod memory;
mod open;
mod support;
mod throughput;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [name, handlers, directory] = &words[..]
        && name == memory::CHILD
    {
        let handlers = handlers.parse().expect("the parent gives a number");
        return memory::measure(handlers, directory.into());
    }
    let rows: [(&str, fn()); 7] = [
        ("cpu", throughput::cpu),
        ("compute", throughput::compute),
        ("lag", lag::lag),
        ("memory", memory::memory),
        ("open", open::open),
        ("partitions", throughput::partitions),
        ("sleep", throughput::sleep),
    ];
    for (name, row) in rows {
        if words.is_empty() || words.iter().any(|word| word == name) {
            row();
        }
    }
}
