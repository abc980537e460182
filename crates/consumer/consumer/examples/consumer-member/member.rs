//! A member of a group, for proofs: it handles records, and appends a line for each effect to a file. The engines of
//! other workspaces use it, too.

use colored::task::CancellationToken;
use colored::time::{Duration, sleep, timeout};
use colored_consumer::{Broken, Consumer, ConsumerError, Context, Failure, Record, Source};
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The options of the command line.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) engine: String,
    pub(crate) url: String,
    pub(crate) topic: String,
    pub(crate) group: String,
    pub(crate) session: Duration,
    /// The name of a static member.
    pub(crate) instance: Option<String>,
    effects: String,
    members: usize,
    work: Duration,
    fail_every: u64,
    poison: Option<String>,
    churn: Option<Duration>,
    broken: Broken,
}

impl Plan {
    pub(crate) fn read() -> Result<Plan, Box<dyn Error>> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let value = |name: &str| {
            let place = words.iter().position(|word| word == name)?;
            words.get(place + 1).cloned()
        };
        let text = |name: &str| value(name).ok_or_else(|| format!("{name} VALUE is missing"));
        let number = |name: &str, default: u64| match value(name) {
            None => Ok(default),
            Some(word) => word.parse().map_err(|_| format!("{name} {word}: expected a number")),
        };
        let broken = match value("--broken").as_deref() {
            None => Broken::Nothing,
            Some("receipt") => Broken::CommitOnReceipt,
            Some("drain") => Broken::NoDrain,
            Some(word) => {
                return Err(format!("--broken {word}: expected receipt or drain").into());
            }
        };
        let churn = number("--churn-ms", 0)?;
        Ok(Plan {
            engine: text("--engine")?,
            url: text("--url")?,
            topic: text("--topic")?,
            group: text("--group")?,
            session: Duration::from_millis(number("--session-ms", 10_000)?),
            instance: value("--instance"),
            effects: text("--effects")?,
            members: number("--members", 1)?.max(1) as usize,
            work: Duration::from_micros(number("--work-us", 0)?),
            fail_every: number("--fail-every", 0)?,
            poison: value("--poison"),
            churn: (churn > 0).then(|| Duration::from_millis(churn)),
            broken,
        })
    }

    /// The effect of a record, if it does not fail.
    async fn handle(
        &self,
        file: &File,
        member: &str,
        record: Record,
        context: Context,
    ) -> Result<(), Failure> {
        let start = nanoseconds();
        let key = String::from_utf8_lossy(record.key.as_deref().unwrap_or_default()).into_owned();
        if !self.work.is_zero() {
            sleep(self.work).await;
        }
        let is_unlucky = self.fail_every > 0 && record.offset.is_multiple_of(self.fail_every);
        if self.poison.as_deref() == Some(&key) || (is_unlucky && context.attempt() == 1) {
            return Err(Failure::retry("it fails"));
        }
        let (number, generation) = (
            String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()),
            context.generation(),
        );
        let (partition, offset, end) = (record.partition, record.offset, nanoseconds());
        let line =
            format!("{key} {number} {member} {generation} {start} {end} {partition} {offset}\n");
        // One write, so that lines of several processes do not mix.
        (&*file).write_all(line.as_bytes())?;
        Ok(())
    }

    fn start<S: Source>(
        &self,
        source: S,
        file: &Arc<File>,
        number: usize,
        stop: &CancellationToken,
    ) -> Result<Consumer, ConsumerError> {
        let (plan, file) = (Arc::new(self.clone()), Arc::clone(file));
        let name: Arc<str> = format!("{}.{number}", std::process::id()).into();
        Consumer::builder(source)
            .broken(self.broken)
            .concurrency(64)
            .records(2_000)
            .commit_every(Duration::from_millis(20))
            .drain(Duration::from_secs(2))
            .retry(Duration::from_millis(2), Duration::from_millis(50))
            .stop_on(stop.child_token())
            .start(move |record, context| {
                let (plan, file, name) = (Arc::clone(&plan), Arc::clone(&file), Arc::clone(&name));
                async move { plan.handle(&file, &name, record, context).await }
            })
    }
}

fn nanoseconds() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos())
}

/// Cancels the token when somebody asks the process to end.
#[cfg(unix)]
fn stop_on_signal(stop: CancellationToken) -> std::io::Result<()> {
    use colored::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let _detached = colored::spawn_unique(async move {
        terminate.recv().await;
        stop.cancel();
    });
    Ok(())
}

#[cfg(not(unix))]
fn stop_on_signal(_: CancellationToken) -> std::io::Result<()> {
    Ok(())
}

/// Handles the records of the members that `join` returns, until somebody asks the process to end.
pub(crate) async fn run<S, Joined>(
    plan: Plan,
    join: impl Fn(&Plan) -> Joined,
) -> Result<(), Box<dyn Error>>
where
    S: Source,
    Joined: Future<Output = Result<S, colored_consumer::Error>>,
{
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone())?;
    let file = Arc::new(File::options().create(true).append(true).open(&plan.effects)?);
    let mut consumers = Vec::new();
    for number in 0..plan.members {
        consumers.push(plan.start(join(&plan).await?, &file, number, &stop)?);
    }
    println!("ready");
    let mut next = plan.members;
    while let Some(churn) = plan.churn {
        if timeout(churn, stop.cancelled()).await.is_ok() {
            break;
        }
        // The oldest leaves.
        let gone = consumers.remove(0);
        if next.is_multiple_of(2) {
            consumers.push(plan.start(join(&plan).await?, &file, next, &stop)?);
            gone.stop().await?;
        } else {
            gone.stop().await?;
            consumers.push(plan.start(join(&plan).await?, &file, next, &stop)?);
        }
        next += 1;
    }
    let mut ended: Result<(), ConsumerError> = Ok(());
    for consumer in consumers {
        ended = ended.and(consumer.wait().await);
    }
    ended?;
    println!("left");
    Ok(())
}
