//! Web traces for servers of files: a generator, and a player.
//!
//! The LAIO paper (Elmeleegy et al., USENIX ATC 2004) compares servers under two traces of university web servers. We
//! do not have these traces, so `tracegen` writes synthetic ones with the same marginals. `traceplay` replays a
//! trace against a server on this machine.
//!
//! | marginal | Rice | Berkeley |
//! |---|---:|---:|
//! | requests | 245,820 | 3,184,540 |
//! | footprint: the sizes of all requested files, summed | 1.1 GB | 6.4 GB |
//! | bytes transferred in files of at most 8 KB | 5.5 % | 8.2 % |
//! | of 8 to 256 KB | 20.2 % | 33.2 % |
//! | of more than 256 KB | 74.3 % | 58.6 % |
//! | footprint over the memory of the paper's server, 2 GB | 0.55 | 3.2 |
//!
//! Here 1 KB is 1,024 bytes, and 1 GB is 10⁹ bytes.
//!
//! ```text
//! cargo build --release -p colored-traces
//! tracegen new rice rice.trace --scale 0.1 --seed 7      # writes a trace, prints its marginals
//! tracegen show rice.trace                               # prints the marginals of any trace
//! tracegen files rice.trace /tmp/rice --limit 200MB      # creates the files that the trace names
//! tracegen check rice.trace /tmp/rice                    # compares sizes and contents
//! traceplay closed rice.trace 127.0.0.1:8080 --clients 64
//! traceplay open rice.trace 127.0.0.1:8080 --rate 200 --clients 512 --seconds 30
//! ```
//!
//! # Servers beside each other
//!
//! `fileservers` starts servers of files one after the other, round by round, plays a trace against each, and prints
//! medians: our example `httpd` in each of its modes, nginx if it is installed, and tokio with `ServeDir`.
//!
//! ```text
//! cargo build --release -p httpd
//! cargo build --release -p colored-papers --bin servedir
//! fileservers rice.trace /tmp/rice --clients 64 --sequences 5000
//! ```
//!
//! `webserver` repeats the experiment of the first paper's web server with a third trace, [`specweb`]: 800 clients, and
//! servers under a limit of CPU time.
//!
//! `laio` repeats the paper's figures with the Berkeley trace: it makes the trace and its files, plays them against each
//! mode of `httpd` in a control group with the paper's ratio of footprint to memory, and writes a page.
//!
//! ```text
//! laio /tmp/berkeley --drop-caches --read-ops 3000 --page results/laio.md
//! ```
//!
//! # What the generator chooses
//!
//! The paper prints the marginals above and no others. The rest is our choice, and [`generate`] documents it: how the
//! footprint divides among the three classes, the sizes inside a class, the popularity of files (Zipf), and the lengths
//! of sequences (geometric). Requests are independent of each other: the trace has no locality beyond popularity.
//!
//! The page cache holds whole pages. So with files of this mix the footprint of 1.1 GB takes some 9 % more memory.
//!
//! # What the player measures
//!
//! [`play`] starts a thread for each client. A client takes the next sequence of the trace, opens a connection, and
//! sends the requests of the sequence one after another, each after the response to the last one. In the closed loop
//! the next sequence starts when a client is free. In the open loop sequences arrive at a fixed rate, and a latency
//! starts at the scheduled arrival, so a slow server cannot delay its own load.

pub mod args;
pub mod class;
pub mod content;
pub mod files;
pub mod format;
pub mod generate;
pub mod place;
pub mod play;
pub mod profile;
#[cfg(target_os = "linux")]
pub mod servers;
pub mod specweb;
pub mod summary;

mod popularity;
mod sizes;
