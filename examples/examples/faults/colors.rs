//! Colors that limit their programs.

use crate::load::{Dice, compute};
use colored::time::sleep;
use colored::{Color, ColorCell, exclusive, spawn, spawn_colored, spawn_unique, yield_now};

/// A shop whose orders are all in one cell: the customers come in parallel, and are served one at a time.
pub(crate) fn hot(dice: &mut Dice) {
    let orders = Color::named("orders");
    let (customers, look, order) =
        (dice.number(12..=60), dice.micros(2..=10), dice.micros(20..=200));
    match dice.number(0..=2) {
        0 => {
            let total = ColorCell::new(orders, 0_u64);
            for _ in 0..customers {
                let total = total.clone();
                let _detached = spawn_unique(async move {
                    loop {
                        compute(look);
                        total
                            .call(move |total| {
                                compute(order);
                                *total += 1;
                            })
                            .await;
                    }
                });
            }
        }
        1 => {
            for _ in 0..customers {
                let _detached = spawn_unique(async move {
                    loop {
                        compute(look);
                        // A task for each order.
                        let _ = spawn_colored(orders, async move { compute(order) }).await;
                    }
                });
            }
        }
        _ => {
            for _ in 0..customers {
                let _detached = spawn_colored(orders, async move {
                    loop {
                        compute(order);
                        yield_now().await;
                    }
                });
            }
        }
    }
}

/// A server that spawns every request by `spawn`, as one for another runtime does: all of it is one color.
pub(crate) fn default(dice: &mut Dice) {
    let (connections, request) = (dice.number(16..=60), dice.micros(30..=300));
    let pause = dice.micros(0..=200);
    // Enough of them that there is always one.
    let connections = connections.max(3_000 / request.as_micros() as usize);
    for _ in 0..connections {
        let _detached = spawn(async move {
            loop {
                sleep(pause).await;
                // The handler of one request.
                let _ = spawn(async move { compute(request) }).await;
            }
        });
    }
}

/// A warehouse that asks a supplier while it keeps the stock to itself.
pub(crate) fn convoy(dice: &mut Dice) {
    let stock = Color::named("stock");
    let (customers, supplier, count) =
        (dice.number(6..=40), dice.micros(500..=8_000), dice.micros(5..=100));
    let kind = dice.number(0..=2);
    if kind == 2 {
        // One section after the other, in all of them.
        for _ in 0..customers {
            let _detached = spawn_colored(stock, async move {
                loop {
                    exclusive(sleep(supplier)).await;
                }
            });
        }
        return;
    }
    if kind == 0 {
        for _ in 0..customers {
            let _detached = spawn_colored(stock, async move {
                loop {
                    exclusive(async {
                        compute(count);
                        sleep(supplier).await;
                    })
                    .await;
                    yield_now().await;
                }
            });
        }
        return;
    }
    let cell = ColorCell::new(stock, 0_u64);
    for _ in 0..customers {
        let cell = cell.clone();
        let _detached = spawn_colored(stock, async move {
            loop {
                cell.exclusive(async |stock| {
                    sleep(supplier).await;
                    compute(count);
                    *stock += 1;
                })
                .await;
                yield_now().await;
            }
        });
    }
}
