//! As the example of the same name in `crates/consumer/consumer`, with the engines that need a server:
//!
//! ```text
//! consumer-member --engine kafka|kip848|jetstream --url HOST:PORT --topic T --group G --effects FILE
//! ```

#[path = "../../../consumer/examples/consumer-member/member.rs"]
mod member;

use member::Plan;
use std::error::Error;

#[colored::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let plan = Plan::read()?;
    match plan.engine.as_str() {
        "kafka" | "kip848" => {
            let protocol = if plan.engine == "kafka" { "classic" } else { "consumer" };
            let engine = colored_consumer_kafka::Engine::new(&plan.url);
            let engine = engine.set("group.protocol", protocol);
            let join = |plan: &Plan| {
                let mut options = engine.member(&plan.group, [&*plan.topic]).session(plan.session);
                if let Some(name) = &plan.instance {
                    options = options.instance(name);
                }
                options.join()
            };
            member::run(plan, join).await
        }
        "jetstream" => {
            let engine = colored_consumer_jetstream::Engine::connect(&plan.url).await?;
            let join = |plan: &Plan| {
                let mut options = engine.member(&plan.group, [&*plan.topic]).session(plan.session);
                if let Some(name) = &plan.instance {
                    options = options.instance(name);
                }
                options.join()
            };
            member::run(plan, join).await
        }
        engine => Err(format!("--engine {engine}: expected kafka, kip848 or jetstream").into()),
    }
}
