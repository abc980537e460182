fn workers(of: &[usize]) -> usize {
    of.len()
}

const PIN: bool = false;

#[colored::main(workers = workers(&[1, 2]) + 1, pin = !PIN, local, paused, crate = ::colored,)]
async fn main() {}
