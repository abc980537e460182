//! Every option, as an expression where it has a value.

fn workers(of: &[usize]) -> usize {
    of.len()
}

const PIN: bool = false;

#[colored::main(workers = workers(&[1, 2]) + 1, pin = !PIN, local, paused, crate = ::colored,)]
async fn main() {}

#[test]
fn every_option_takes_an_expression() {
    super::succeeds(main());
}
