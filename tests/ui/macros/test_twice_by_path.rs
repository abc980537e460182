#[colored::test]
#[core::prelude::v1::test]
async fn adds() {}

fn main() {}
