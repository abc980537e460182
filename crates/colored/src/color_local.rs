//! The macro [`color_local!`](crate::color_local!). The type that it declares is in the core.

/// Declares a static of which every color has its own value.
///
/// ```
/// use colored::{Color, spawn_colored};
/// use std::cell::Cell;
///
/// colored::color_local! {
///     /// How often this color has been asked.
///     static ASKED: Cell<u64> = Cell::new(0);
/// }
///
/// async fn ask() -> u64 {
///     // No lock, and no other task of the color in between.
///     ASKED.with(|asked| asked.replace(asked.get() + 1))
/// }
///
/// # #[colored::main(workers = 2)]
/// # async fn main() {
/// let asks = |color| async move {
///     spawn_colored(color, async {
///         (ask().await, colored::task::spawn_here(ask()).await.unwrap())
///     })
///     .await
///     .unwrap()
/// };
/// assert_eq!(asks(Color::new(1)).await, (0, 1));
/// assert_eq!(asks(Color::new(2)).await, (0, 1), "another color has its own");
/// # }
/// ```
///
/// Each static is a [`ColorLocal`](crate::ColorLocal), whose page describes when values are made and
/// dropped. The type must be `Send`, because colors move between workers, and need not be `Sync`.
///
/// | the state belongs to | use |
/// |---|---|
/// | one color that you name, with accesses from other colors too | [`ColorCell`](crate::ColorCell) |
/// | the current color: a connection, a session, a tenant | `color_local!` |
/// | one task, under all its colors | [`task_local!`](crate::task_local) |
#[macro_export]
macro_rules! color_local {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $init:expr);* $(;)?) => {
        $(
            $(#[$attribute])*
            $visibility static $name: $crate::ColorLocal<$type> =
                $crate::ColorLocal::__new(::std::stringify!($name), || $init);
        )*
    };
}
