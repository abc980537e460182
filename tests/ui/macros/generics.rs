#[colored::main]
async fn main<T: Default>() {}
