#[colored::test(sim, seeds = 0, strategy = 3, budget = "soon", until = 7, workers = 65, pin = true)]
async fn a_test() {}

#[colored::test(seeds = 10)]
async fn not_a_simulation() {}

#[colored::main(sim)]
async fn main() {}
