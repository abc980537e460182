//! A process with members of a group, for proofs: it handles records, and appends a line for each effect to a file.
//!
//! ```text
//! consumer-member --engine embedded --url DIRECTORY --topic T --group G --effects FILE
//! ```
//!
//! A line is `key number member generation start end partition offset`: `number` is the value of the record, `member` the
//! process with the place in it, and the times are nanoseconds since 1970. `SIGTERM` drains, commits, and leaves.
//!
//! | option | |
//! |---|---|
//! | `--members N` | members in this process, 1 by default |
//! | `--work-us N` | a handler sleeps so long before its effect |
//! | `--fail-every N` | the first attempt of one of N records fails |
//! | `--poison KEY` | every attempt of the key fails |
//! | `--churn-ms N` | as often, a member leaves and another one joins |
//! | `--session-ms N` | the session of a member |
//! | `--instance NAME` | a static member |
//! | `--broken receipt\|drain` | a build that commits on receipt, or releases without a drain |
//!
//! The program of the same name in `crates/consumer/proof` has the engines that need a server.

mod member;

use colored_consumer::embedded::Options;
use member::Plan;
use std::error::Error;

#[colored::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let plan = Plan::read()?;
    if plan.engine != "embedded" {
        return Err(format!("--engine {}: expected embedded", plan.engine).into());
    }
    // The proof kills the process, and not the machine.
    let engine = Options::new().sync(false).open(&plan.url).await?;
    let join = |plan: &Plan| {
        let mut options = engine.member(&plan.group, [&*plan.topic]).session(plan.session);
        if let Some(name) = &plan.instance {
            options = options.instance(name);
        }
        options.join()
    };
    member::run(plan, join).await
}
