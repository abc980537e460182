//! [`color_local!`](crate::color_local!): the macro. What it declares is in the core.

/// Declares values of which every color has its own.
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
/// Each is a [`ColorLocal`](crate::ColorLocal), which says when values are made and dropped. The type
/// is `Send`, since colors move between workers, and need not be `Sync`.
///
/// | the state belongs to | use |
/// |---|---|
/// | one color that you name, and is used from others too | [`ColorCell`](crate::ColorCell) |
/// | whatever color runs: a connection, a session, a tenant | `color_local!` |
/// | one task, wherever it goes | [`task_local!`](crate::task_local) |
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
