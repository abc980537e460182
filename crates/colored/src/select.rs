//! [`select!`](macro@crate::select).

/// Waits for several futures at once, runs the code behind the first one whose output matches, and drops the others.
///
/// The syntax is that of `tokio::select!`:
///
/// ```text
/// select! {
///     biased;
///     <pattern> = <future> => <expression>,
///     <pattern> = <future>, if <condition> => <expression>,
///     else => <expression>,
/// }
/// ```
///
/// First all conditions are evaluated, in their order; then all expressions behind `=`, in their order, also those of branches
/// whose condition is false. A branch is disabled if its condition is false, or if its future has ended with an output that does
/// not match the pattern. The futures of the other branches are polled by the calling task, one after another. When an output
/// matches, all futures are dropped, and then the expression behind `=>` runs: it may use what the futures have borrowed, and
/// may contain `.await`, `?`, `break` and `return`. If all branches are disabled, the expression behind `else` runs.
///
/// A temporary value that a future borrows, as in `done = &mut ready(()) => ..`, lives until the output is there.
///
/// There are 1 to 64 branches. `biased;`, the conditions and the branch `else` may be left out; so may the comma behind a block.
///
/// **Order.** Each poll begins with a branch that is drawn, and goes on in the order of the text, so no branch that is often
/// ready keeps the others from being polled. With `biased;` each poll begins with the first branch. In a simulation (`sim`) the
/// seed draws, a replay repeats what was drawn, and the report of a failure begins with the first branch wherever the failure
/// does not need another.
///
/// **Cancel safety.** The futures of the other branches are dropped. Whether something is lost by that is a matter of these
/// futures: see [the page of this crate](crate#cancel-safety). In a loop, `&mut future` keeps a future from one round to
/// the next.
///
/// **Budget.** A poll without a unit left of the [budget](crate::task::consume_budget) polls no branch, and the task comes back
/// in its next turn: the branches that take no unit do not go on in place of those that wait for one.
///
/// **Cost.** Some nanoseconds a poll to draw, beside the polls of the branches. Allocates nothing. The future is as large as
/// those of its branches, and three words.
///
/// # Panics
///
/// If all branches are disabled, and there is no `else`.
///
/// # Examples
///
/// ```
/// use colored::sync::mpsc;
/// use colored::time::{Duration, sleep};
///
/// # #[colored::main(workers = 1)]
/// # async fn main() {
/// let (numbers, mut received) = mpsc::channel(4);
/// let sender = colored::spawn_colored(1, async move {
///     for number in 1..=3 {
///         numbers.send(number).await.unwrap();
///     }
/// });
/// let mut sum = 0;
/// let sum = loop {
///     colored::select! {
///         Some(number) = received.recv() => sum += number,
///         () = sleep(Duration::from_secs(60)), if sum < 100 => panic!("nothing came for a minute"),
///         else => break sum,
///     }
/// #   if sum == 6 { break sum }
/// };
/// assert_eq!(sum, 6);
/// # sender.await.unwrap();
/// # }
/// ```
#[macro_export]
macro_rules! select {
    (biased; $($branches:tt)*) => {
        $crate::__select!(@read {$crate::__private::branch_0} {} [
                (0 B0) (1 B1) (2 B2) (3 B3) (4 B4) (5 B5) (6 B6) (7 B7) (8 B8) (9 B9) (10 B10) (11 B11) (12 B12) (13
                B13) (14 B14) (15 B15) (16 B16) (17 B17) (18 B18) (19 B19) (20 B20) (21 B21) (22 B22) (23 B23) (24
                B24) (25 B25) (26 B26) (27 B27) (28 B28) (29 B29) (30 B30) (31 B31) (32 B32) (33 B33) (34 B34) (35
                B35) (36 B36) (37 B37) (38 B38) (39 B39) (40 B40) (41 B41) (42 B42) (43 B43) (44 B44) (45 B45) (46
                B46) (47 B47) (48 B48) (49 B49) (50 B50) (51 B51) (52 B52) (53 B53) (54 B54) (55 B55) (56 B56) (57
                B57) (58 B58) (59 B59) (60 B60) (61 B61) (62 B62) (63 B63)
            ] $($branches)*)
    };
    () => {
        ::core::compile_error!("`select!` needs a branch, as in `output = future => expression`")
    };
    ($($branches:tt)*) => {
        $crate::__select!(
            @read {$crate::__private::any_branch} {} [
                (0 B0) (1 B1) (2 B2) (3 B3) (4 B4) (5 B5) (6 B6) (7 B7) (8 B8) (9 B9) (10 B10) (11 B11) (12 B12) (13
                B13) (14 B14) (15 B15) (16 B16) (17 B17) (18 B18) (19 B19) (20 B20) (21 B21) (22 B22) (23 B23) (24
                B24) (25 B25) (26 B26) (27 B27) (28 B28) (29 B29) (30 B30) (31 B31) (32 B32) (33 B33) (34 B34) (35
                B35) (36 B36) (37 B37) (38 B38) (39 B39) (40 B40) (41 B41) (42 B42) (43 B43) (44 B44) (45 B45) (46
                B46) (47 B47) (48 B48) (49 B49) (50 B50) (51 B51) (52 B52) (53 B53) (54 B54) (55 B55) (56 B56) (57
                B57) (58 B58) (59 B59) (60 B60) (61 B61) (62 B62) (63 B63)
            ] $($branches)*
        )
    };
}

/// `@read {start} {branches that are read} [numbers and names of those to come] the rest`, then `@run`.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    (@read $start:tt $read:tt $pool:tt) => {
        $crate::__select!(@run $start $read $crate::__private::no_branch_is_left())
    };
    (@read $start:tt $read:tt $pool:tt else => $else:expr $(,)?) => {
        $crate::__select!(@run $start $read $else)
    };
    (@read $start:tt $read:tt [] $($rest:tt)+) => {
        ::core::compile_error!("`select!` takes at most 64 branches")
    };
    (@read $start:tt {$($read:tt)*} [($i:tt $n:ident) $($pool:tt)*]
     $output:pat = $future:expr, if $condition:expr => $then:block, $($rest:tt)*) => {
        $crate::__select!(
            @read $start {$($read)* ($i $n $output, $future, $condition, $then)} [$($pool)*] $($rest)*
        )
    };
    (@read $start:tt {$($read:tt)*} [($i:tt $n:ident) $($pool:tt)*]
     $output:pat = $future:expr, if $condition:expr => $then:block $($rest:tt)*) => {
        $crate::__select!(
            @read $start {$($read)* ($i $n $output, $future, $condition, $then)} [$($pool)*] $($rest)*
        )
    };
    (@read $start:tt {$($read:tt)*} [($i:tt $n:ident) $($pool:tt)*]
     $output:pat = $future:expr, if $condition:expr => $then:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(
            @read $start {$($read)* ($i $n $output, $future, $condition, $then)} [$($pool)*]
            $($($rest)*)?
        )
    };
    (@read $start:tt {$($read:tt)*} [($i:tt $n:ident) $($pool:tt)*]
     $output:pat = $future:expr => $then:block, $($rest:tt)*) => {
        $crate::__select!(
            @read $start {$($read)* ($i $n $output, $future, true, $then)} [$($pool)*] $($rest)*
        )
    };
    (@read $start:tt {$($read:tt)*} [($i:tt $n:ident) $($pool:tt)*]
     $output:pat = $future:expr => $then:block $($rest:tt)*) => {
        $crate::__select!(
            @read $start {$($read)* ($i $n $output, $future, true, $then)} [$($pool)*] $($rest)*
        )
    };
    (@read $start:tt {$($read:tt)*} [($i:tt $n:ident) $($pool:tt)*]
     $output:pat = $future:expr => $then:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(
            @read $start {$($read)* ($i $n $output, $future, true, $then)} [$($pool)*]
            $($($rest)*)?
        )
    };
    (@run $start:tt {} $else:expr) => {
        $else
    };
    (@run {$start:path}
     {$(($i:tt $n:ident $output:pat, $future:expr, $condition:expr, $then:expr))+} $else:expr) => {{
        // What the futures have given, without a variable that the program's code could see.
        #[doc(hidden)]
        enum __ColoredSelected<$($n),+> {
            $($n($n),)+
            None,
        }
        #[allow(unused_mut)]
        let mut selected = {
            let mut disabled = 0_u64;
            $(
                if !$condition {
                    disabled |= 1 << $i;
                }
            )+
            // In a `let` of their own, so that a future may borrow a temporary value: it lives as long as this block.
            let futures = ($($future,)+);
            // One pin for all, which the closure moves: a pin for each would make the task larger. So would a tuple whose
            // fields are moved one by one, which stays in the task.
            let mut futures = ::core::pin::pin!($crate::__private::apply(futures, |futures| {
                ($(::core::future::IntoFuture::into_future(futures.$i),)+)
            }));
            let selected = ::core::future::poll_fn(move |cx| {
                ::core::task::ready!($crate::__private::poll_remaining(cx));
                let mut is_pending = false;
                let branches = [$($i),+].len() as u32;
                let start = $start(branches);
                for turn in 0..branches {
                    match (start + turn) % branches {
                        $($i => {
                            if disabled & (1 << $i) != 0 {
                                continue;
                            }
                            // SAFETY: it is a field of a tuple, which has no destructor of its own and is `Unpin` only if
                            // its fields are. This macro moves no field out of it, and no code of the program sees it.
                            let future = unsafe {
                                ::core::pin::Pin::map_unchecked_mut(futures.as_mut(), |futures| &mut futures.$i)
                            };
                            let polled = ::core::future::Future::poll(future, cx);
                            #[allow(unused_mut)]
                            let ::core::task::Poll::Ready(mut output) = polled else {
                                is_pending = true;
                                continue;
                            };
                            disabled |= 1 << $i;
                            let mut is_match = false;
                            // A guard sees whether the pattern matches. It is false, so nothing is moved into the pattern.
                            #[allow(unused_variables, unused_mut)]
                            let output = match output {
                                $output if {
                                    is_match = true;
                                    false
                                } => ::core::unreachable!(),
                                output => output,
                            };
                            if is_match {
                                return ::core::task::Poll::Ready(__ColoredSelected::$n(output));
                            }
                        })+
                        _ => ::core::unreachable!(),
                    }
                }
                match is_pending {
                    true => ::core::task::Poll::Pending,
                    false => ::core::task::Poll::Ready(__ColoredSelected::None),
                }
            })
            .await;
            selected
        };
        match selected {
            $(__ColoredSelected::$n($output) => $then,)+
            __ColoredSelected::None => $else,
            #[allow(unreachable_patterns)]
            _ => ::core::unreachable!(),
        }
    }};
}
