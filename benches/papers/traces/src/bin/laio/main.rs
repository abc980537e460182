//! The experiments of the LAIO paper with the Berkeley trace: figures 7, 10 and 11, and table 3.

#[cfg(target_os = "linux")]
mod goals;
#[cfg(target_os = "linux")]
mod page;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod table3;

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: this program needs control groups and /proc, and so Linux");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    colored_traces::args::run(plan::USAGE, |args| {
        let plan = plan::Plan::parse(args)?;
        let swept = sweep::run(&plan)?;
        page::write(&plan, &swept)
    })
}
