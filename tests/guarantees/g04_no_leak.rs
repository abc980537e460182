//! G4: a color does not leak into tasks that are spawned under it.

use colored::{
    Color, ColorCell, Handle, hop, spawn, spawn_blocking, spawn_colored, spawn_here, spawn_local,
    spawn_unique,
};
use colored_tests::run;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

async fn color() -> Option<Color> {
    Color::current()
}

/// Shows G4.
#[test]
fn only_spawn_here_and_spawn_local_inherit_the_color() {
    run(2, async {
        let colored = spawn_colored(RED, async {
            assert_eq!(spawn(color()).await.unwrap(), Some(Color::DEFAULT));
            let through_handle = Handle::current().spawn(color());
            assert_eq!(through_handle.await.unwrap(), Some(Color::DEFAULT));
            assert_eq!(spawn_colored(BLUE, color()).await.unwrap(), Some(BLUE));
            assert_eq!(spawn_here(color()).await.unwrap(), Some(RED));
            assert_eq!(spawn_local(color()).await.unwrap(), Some(RED));
            assert_eq!(spawn_blocking(Color::current).await.unwrap(), None);
            let first = spawn_unique(color()).await.unwrap().unwrap();
            let second = spawn_unique(color()).await.unwrap().unwrap();
            assert!(first.is_unique() && second.is_unique() && first != second);
            assert_eq!(Color::current(), Some(RED), "the spawner stays where it is");
        });
        colored.await.unwrap();
    });
}

/// Shows G4.
#[test]
fn after_a_hop_here_is_there() {
    run(2, async {
        spawn_colored(RED, async {
            hop(BLUE).await;
            assert_eq!(Color::current(), Some(BLUE));
            assert_eq!(spawn_here(color()).await.unwrap(), Some(BLUE));
            assert_eq!(spawn(color()).await.unwrap(), Some(Color::DEFAULT));
        })
        .await
        .unwrap();
    });
}

/// Shows G4.
#[test]
fn inside_a_call_here_is_the_cell_and_afterwards_it_is_not() {
    run(2, async {
        let cell = ColorCell::new(BLUE, ());
        spawn_colored(RED, async move {
            let inside = cell.call(|()| (Color::current(), spawn_here(color()), spawn(color())));
            let (here, inherited, plain) = inside.await;
            assert_eq!(here, Some(BLUE));
            assert_eq!(inherited.await.unwrap(), Some(BLUE));
            assert_eq!(plain.await.unwrap(), Some(Color::DEFAULT));
            assert_eq!(Color::current(), Some(RED));
        })
        .await
        .unwrap();
    });
}

/// Shows G4.
#[test]
fn a_waker_does_not_carry_the_color_of_the_waking_task() {
    run(2, async {
        let (wake, woken) = colored::sync::oneshot::channel();
        let sleeper = spawn_colored(RED, async {
            woken.await.unwrap();
            Color::current()
        });
        spawn_colored(BLUE, async { wake.send(()).unwrap() }).await.unwrap();
        assert_eq!(sleeper.await.unwrap(), Some(RED));
    });
}
