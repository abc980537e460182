use colored::ColorCell;

async fn next() -> u32 {
    1
}

async fn add(list: ColorCell<Vec<u32>>) {
    list.call(async |list| list.push(next().await)).await;
}

fn main() {}
