#[colored::main(wrokers = 4)]
async fn main() {}
