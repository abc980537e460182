//! The unit tests in the files of `httpd`. Cargo builds an example as a program or as a test, and
//! `run` needs the program.

#![cfg(unix)]
#![allow(dead_code, reason = "a module's users may be outside")]

#[path = "../examples/httpd/access.rs"]
mod access;
#[path = "../examples/httpd/aio.rs"]
mod aio;
#[path = "../examples/httpd/answer.rs"]
mod answer;
#[path = "../examples/httpd/body.rs"]
mod body;
#[path = "../examples/httpd/cache.rs"]
mod cache;
#[path = "../examples/httpd/conditions.rs"]
mod conditions;
#[path = "../examples/httpd/entry.rs"]
mod entry;
#[path = "../examples/httpd/helpers.rs"]
mod helpers;
#[path = "../examples/httpd/key.rs"]
mod key;
#[path = "../examples/httpd/loading.rs"]
mod loading;
#[path = "../examples/httpd/media.rs"]
mod media;
#[path = "../examples/httpd/outbox.rs"]
mod outbox;
#[path = "../examples/httpd/range.rs"]
mod range;
#[path = "../examples/httpd/roots.rs"]
mod roots;
#[path = "../examples/httpd/steps.rs"]
mod steps;
#[path = "../examples/httpd/target.rs"]
mod target;
